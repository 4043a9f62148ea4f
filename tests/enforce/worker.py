"""A worker that runs passes over one cluster and nothing else: started, stopped and killed by tests as a process.

It keeps its own database, in a folder or on a server, as an installation of its own would. Its processes are forked
from one that has imported everything; `Worker` starts them and reads what they have stored.
"""

import json
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib import import_module, reload
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.stores import Store, added, changed, store
from tests.waiting import PATIENCE_S, logged

_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(["tests.enforce.warm"])
NAME = "acted-on"
LEASE_S = 3
"""Seconds that the lease holds: whoever takes over waits as long."""
_REQUEST_S = 0.9
_DATABASE = "db.sqlite3"
_METRICS, _ANSWERS = "metrics.txt", "answers.json"


@dataclass(frozen=True)
class Done:
    """A command that has ended: its exit code (a signal's is negative), and what it wrote to either stream."""

    code: int
    said: str


class Worker:
    """One installation: its folder, its settings, and its process while it runs."""

    def __init__(self, folder: Path, server: str | None = None) -> None:
        """``server``: where it is to have its database; see ``tests.stores.store``."""
        self.folder, self._server = folder, server
        self.store: Store = store(folder / _DATABASE, server)
        self._process: BaseProcess | None = None
        self._logged = ExitStack()

    def set_up(self, *, kubeconfig: Path, tree: Path, **settings: Any) -> None:
        """Make the database, the tree and the cluster; ``settings`` are fields of the cluster's row."""
        self.folder.mkdir(parents=True, exist_ok=True)
        empty, _folder = _migrated(self._server)
        self.store.take(empty.store)
        self._manage("import_queues", NAME, str(tree), "--reason", "test")
        self._manage("add_cluster", NAME, "--hierarchy", NAME, "--kubeconfig", str(kubeconfig))
        self.write(**{"mode": "enforce", "untidy": True, "interval_ms": 200, **settings})

    def copy(self, template: "Worker", *, kubeconfig: Path) -> None:
        """Take over the database of another, for another cluster."""
        self.folder.mkdir(parents=True)
        self.store.take(template.store)
        self.write(kubeconfig=str(kubeconfig))

    def restore(self, file: Path, *, kubeconfig: Path) -> None:
        """Take over a backup of another, which acted on the same cluster."""
        self.folder.mkdir(parents=True)
        self.store.restore(file)
        self.write(kubeconfig=str(kubeconfig))

    def listen(self, namespace: str) -> None:
        """A tenant of this namespace is told of its preemptions."""
        tenant = {"id": 1, "name": "told", "namespaces": json.dumps([namespace]), "subtrees": "[]"}
        channel = {"id": 1, "tenant_id": 1, "name": "mail", "kind": "email", "address": "told@example.com"}
        channel |= {
            "sealed": "",
            "language": "en",
            "going": True,
            "preempted": True,
            "refused": False,
            "repeated": False,
            "loop": False,
            "digest": False,
            "enabled": True,
            "created_at": "2020-01-01",
        }
        for table, row in (("accounts_tenant", tenant), ("notifications_channel", channel)):
            self.store.execute(*added(table, row))

    def told(self, event: str) -> Counter[str]:
        """Of which pods (uids) tenants were told, and how often."""
        rows = self.rows(f"SELECT pods FROM notifications_notification WHERE event = '{event}'")
        return Counter(uid for row in rows for uid in json.loads(row["pods"]))

    def start(self, fault: str = "") -> None:
        """Run passes from now on; ``fault`` is where it kills or stops itself, see scheduler_admin.core.faults."""
        self._logged.enter_context(logged(f"worker in {self.folder}", self.log))
        self._process = self._begin(_run_passes, fault)

    def wait_killed(self) -> None:
        """Wait until it has died of a SIGKILL; fails when it ends in another way, or not at all."""
        assert self._process is not None
        self._process.join(PATIENCE_S)
        assert self._process.exitcode == -signal.SIGKILL

    def send(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        assert self._process is not None
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    @property
    def state(self) -> str:
        """The state of its process as the kernel has it: ``T`` is stopped; empty when it is gone."""
        assert self._process is not None
        try:
            return Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return ""

    def stop(self) -> None:
        """End it in order, if it runs."""
        self._logged.close()
        if self._process is not None and self._process.is_alive():
            self.send(signal.SIGCONT)
            self._process.terminate()
            self._process.join(PATIENCE_S)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """What a query of its database answers."""
        return self.store.rows(query)

    def preemptions(self) -> list[dict[str, Any]]:
        """Every decision to preempt, oldest first."""
        return self.rows("SELECT * FROM history_decision WHERE outcome = 'preempt' AND source = 'engine' ORDER BY id")

    def log(self) -> str:
        """The end of what it has written."""
        return self._written().decode(errors="replace")[-4000:]

    def manage(self, *arguments: str, fault: str = "") -> "Done":
        """Run a command of manage.py to its end; ``fault`` as in ``start``."""
        before = len(self._written())
        running = self._begin(_call_command, fault, *arguments)
        running.join(PATIENCE_S)
        assert running.exitcode is not None, self.log()
        return Done(running.exitcode, self._written()[before:].decode())

    def get(self, *paths: str) -> list[str]:
        """Return what the site answers to somebody who sees everything, at some addresses; while no pass runs."""
        running = self._begin(_get, *paths)
        running.join(PATIENCE_S)
        assert running.exitcode == 0, self.log()
        answers: list[str] = json.loads((self.folder / _ANSWERS).read_text())
        return answers

    def metrics(self) -> str:
        """Return what the process that was stopped last had counted, as Prometheus reads it."""
        return (self.folder / _METRICS).read_text()

    def _written(self) -> bytes:
        log = self.folder / "worker.log"
        return log.read_bytes() if log.exists() else b""

    def write(self, **fields: Any) -> None:
        """Change the cluster's row."""
        self.store.execute(*changed("clusters_cluster", fields))

    def _manage(self, *arguments: str) -> None:
        done = self.manage(*arguments)
        assert done.code == 0, done.said

    def _begin(self, work: Callable[..., None], *arguments: str) -> BaseProcess:
        process = _FORKED.Process(
            target=_work_in, args=(self.folder, self.store.address, work, *arguments), daemon=True
        )
        process.start()
        return process


@cache
def _migrated(server: str | None) -> tuple[Worker, TemporaryDirectory[str]]:
    """One whose database has no rows, which takes longer to make than most tests; and what its folder is kept by."""
    folder = TemporaryDirectory()
    empty = Worker(Path(folder.name), server)
    empty.store.migrate(empty._manage)
    return empty, folder


def _work_in(folder: Path, address: str, work: Callable[..., None], *arguments: str) -> None:
    """What a process does: it works with its database and writes to the folder's log."""
    os.chdir(folder)
    if not address.startswith("sqlite"):
        _connect(address)
    log = os.open("worker.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    work(*arguments)


def _connect(address: str) -> None:
    """To another database than the one that was named when everything was imported; nothing is connected yet."""
    from django.conf import settings  # noqa: PLC0415
    from django.db import connections  # noqa: PLC0415

    os.environ["DATABASE_URL"] = address
    settings.DATABASES["default"] = reload(import_module("scheduler_admin.settings")).DATABASES["default"]
    vars(connections).pop("settings", None)
    del connections["default"]


def _call_command(fault: str, *arguments: str) -> None:
    from django.conf import settings  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415 - settings are read now
    from django.db import connections  # noqa: PLC0415

    settings.FAULT_AT = fault
    call_command(*arguments)
    connections.close_all()  # what was written is in the file then, which others copy


def _run_passes(fault: str) -> None:
    """Run passes until SIGTERM."""
    from functools import partial  # noqa: PLC0415

    from django.conf import settings  # noqa: PLC0415
    from prometheus_client import generate_latest  # noqa: PLC0415

    from engine.cluster.acting.lease import ClusterLease  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.clusters.watching import watchers  # noqa: PLC0415
    from scheduler_admin.clusters.watching.ownership import release  # noqa: PLC0415
    from scheduler_admin.core.monitoring import meters  # noqa: PLC0415
    from scheduler_admin.worker.passes import run_pass  # noqa: PLC0415

    settings.FAULT_AT = fault
    vars(watchers)["ClusterLease"] = partial(ClusterLease, duration_s=LEASE_S)
    watchers.REQUEST_TIMEOUT_S = _REQUEST_S
    Cluster.objects.update(owner="", owned_until=None)  # the former process is known to be gone
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    while not ended.is_set():
        cluster = Cluster.objects.select_related("hierarchy__current").get()
        run_pass(cluster=cluster, watch=watchers.WATCHES.of(cluster))
        ended.wait(cluster.interval_ms / 1000)
    watchers.WATCHES.stop()
    release(owner=watchers.OWNER)
    Path(_METRICS).write_bytes(generate_latest(meters.REGISTRY))


def _get(*paths: str) -> None:
    """Write what somebody who sees everything gets from addresses of the site."""
    from django.conf import settings  # noqa: PLC0415
    from django.contrib.auth import get_user_model  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from scheduler_admin.accounts.models import User  # noqa: PLC0415

    settings.ALLOWED_HOSTS = ["testserver"]
    unbuilt = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": unbuilt}
    reader, _made = get_user_model().objects.get_or_create(username="reader", defaults={"role": User.Role.OPERATOR})
    client = Client(headers={"accept": "*/*"})
    client.force_login(reader)
    answers = [client.get(path) for path in paths]
    assert {answer.status_code for answer in answers} <= {200}
    Path(_ANSWERS).write_text(json.dumps([answer.content.decode() for answer in answers]))

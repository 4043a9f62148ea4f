"""A worker that runs passes over one cluster and nothing else: started, stopped and killed by tests as a process.

It keeps its own database in a folder, as an installation of its own would. ``python -m tests.enforce.worker`` is the
process; `Worker` starts it and reads what it has stored.
"""

import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from scheduler_admin.demo.environment import BASE

NAME = "acted-on"
LEASE_S = 3
"""Seconds that the lease holds: whoever takes over waits as long."""
_REQUEST_S = 0.9


class Worker:
    """One installation: its folder, its settings, and its process while it runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "db.sqlite3"
        self._process: subprocess.Popen[bytes] | None = None

    def set_up(self, *, kubeconfig: Path, tree: Path, **settings: Any) -> None:
        """Make the database, the tree and the cluster; ``settings`` are fields of the cluster's row."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._manage("migrate", "--verbosity", "0")
        self._manage("import_queues", NAME, str(tree), "--reason", "test")
        self._manage("add_cluster", NAME, "--hierarchy", NAME, "--kubeconfig", str(kubeconfig))
        self._write(**{"mode": "enforce", "untidy": True, "interval_ms": 200, **settings})

    def copy(self, template: "Worker", *, kubeconfig: Path) -> None:
        """Take over the database of another, for another cluster."""
        self.folder.mkdir(parents=True)
        shutil.copyfile(template.database, self.database)
        self._write(kubeconfig=str(kubeconfig))

    def listen(self, namespace: str) -> None:
        """A tenant of this namespace is told of its preemptions."""
        tenant = {"id": 1, "name": "told", "namespaces": json.dumps([namespace]), "subtrees": "[]"}
        channel = {"id": 1, "tenant_id": 1, "name": "mail", "kind": "email", "address": "told@example.com"}
        channel |= {
            "sealed": "",
            "language": "en",
            "going": 1,
            "preempted": 1,
            "refused": 0,
            "repeated": 0,
            "loop": 0,
            "digest": 0,
            "enabled": 1,
            "created_at": "2020-01-01",
        }
        for table, row in (("accounts_tenant", tenant), ("notifications_channel", channel)):
            names, places = ", ".join(row), ", ".join("?" * len(row))
            with closing(sqlite3.connect(self.database)) as connection, connection:
                connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(row.values()))

    def told(self, event: str) -> Counter[str]:
        """Of which pods (uids) tenants were told, and how often."""
        rows = self.rows(f"SELECT pods FROM notifications_notification WHERE event = '{event}'")
        return Counter(uid for row in rows for uid in json.loads(row["pods"]))

    def start(self, fault: str = "") -> None:
        """Run passes from now on; ``fault`` is where it kills or stops itself, see scheduler_admin.faults."""
        with (self.folder / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.enforce.worker"],
                env={**self._environment, "FAULT_AT": fault},
                cwd=BASE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait_killed(self, timeout_s: float = 60.0) -> None:
        """Wait until it has died of a SIGKILL; fails when it ends in another way, or not at all."""
        assert self._process is not None
        assert self._process.wait(timeout_s) == -signal.SIGKILL, self.log()

    def send(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        assert self._process is not None
        self._process.send_signal(number)

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
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
            self._process.wait(30)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """What a query of its database answers."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=20)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query)]

    def preemptions(self) -> list[dict[str, Any]]:
        """Every decision to preempt, oldest first."""
        return self.rows("SELECT * FROM history_decision WHERE outcome = 'preempt' AND source = 'engine' ORDER BY id")

    def log(self) -> str:
        """The end of what it has written."""
        return (self.folder / "worker.log").read_text(errors="replace")[-4000:]

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
            "SECRET_KEY": secrets.token_urlsafe(32),
            "INSECURE_HTTP": "1",
            "DATABASE_URL": f"sqlite:///{self.database}",
            "LOG_LEVEL": "WARNING",
        }

    def _write(self, **fields: Any) -> None:
        """Change the cluster's row."""
        names = ", ".join(f"{name} = ?" for name in fields)
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute(f"UPDATE clusters_cluster SET {names}", tuple(fields.values()))

    def _manage(self, *arguments: str) -> None:
        done = self.manage(*arguments)
        assert done.returncode == 0, done.stderr

    def manage(self, *arguments: str, fault: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a command of manage.py to its end; ``fault`` as in ``start``."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE,
            env={**self._environment, "FAULT_AT": fault},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


def main() -> None:
    """Run passes until SIGTERM."""
    import django  # noqa: PLC0415 - settings come from the environment, and are read now

    django.setup()
    from functools import partial  # noqa: PLC0415

    from engine.cluster.lease import ClusterLease  # noqa: PLC0415
    from scheduler_admin.clusters import watching  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.clusters.ownership import release  # noqa: PLC0415
    from scheduler_admin.history.passes import run_pass  # noqa: PLC0415

    watching.ClusterLease = partial(ClusterLease, duration_s=LEASE_S)  # type: ignore[misc,assignment]
    watching.REQUEST_TIMEOUT_S = _REQUEST_S
    Cluster.objects.update(owner="", owned_until=None)  # the former process is known to be gone
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    while not ended.is_set():
        cluster = Cluster.objects.select_related("hierarchy__current").get()
        run_pass(cluster=cluster, watch=watching.WATCHES.of(cluster))
        ended.wait(cluster.interval_ms / 1000)
    watching.WATCHES.stop()
    release(owner=watching.OWNER)


if __name__ == "__main__":
    main()

"""The whole product on this machine, as an operator would run it: own database, Redis, workers, web server."""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

from ruamel.yaml import YAML

from scheduler_admin.demo import processes
from scheduler_admin.demo.environment import BASE, Place
from scheduler_admin.demo.supervisor import Supervisor
from tests.ports import free_port
from tests.stores import Store, store
from tests.waiting import PATIENCE_S, logged, wait_for

_LOG_TAIL = 3_000
_PREPARED = """
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.demo import assets
from tests.ports import free_port

assets.collect()
user = User.objects.create_user(username="ci", password=None, role="auditor")
print(create_token(user=user, name="tests")[1])
"""


class Product:
    """Runs in a folder of its own; ``manage`` and ``api`` are what operators and CI use."""

    def __init__(self, folder: Path, kept: Store | None = None, settings: Mapping[str, str] | None = None) -> None:
        """``kept``: its database; unless given, a new one. ``settings``: further variables of its environment."""
        self.place = Place(folder)
        self.store = kept or store(self.place.database)
        self.port = free_port()
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
            "SECRET_KEY": secrets.token_urlsafe(32),
            "INSECURE_HTTP": "1",
            "DATABASE_URL": self.store.address,
            "REDIS_URL": f"redis+socket://{self.place.socket}",
            "STATIC_ROOT": str(folder / "static"),
            "SITE_URL": f"http://127.0.0.1:{self.port}",
            "LOG_LEVEL": "WARNING",
            **(settings or {}),
        }
        self.children = Supervisor(self.place.logs, self.environment)
        self._token = ""
        self._logged = ExitStack()

    def start(self, *names: str) -> None:
        """Migrate, then start Redis and these processes; unless said, the engine's worker, beat and web."""
        self._logged.enter_context(logged(f"product {self.port}", self.last_words))
        self.store.migrate(self.manage)
        self._token = re.search(r"sa_[\w-]+", self.manage("shell", "-c", _PREPARED))[0]
        self.children.start("redis", self.command("redis"))
        wait_for(self.place.socket.exists, "Redis")
        for name in names or ("engine", "beat", "web"):
            self.children.start(name, self.command(name))

    def command(self, name: str) -> list[str]:
        """How a process of the product is started."""
        return {
            "redis": processes.redis(self.place),
            "engine": processes.engine_worker(),
            "housekeeping": processes.housekeeping_worker(),
            "beat": processes.beat(self.place),
            "web": processes.web(self.port),
        }[name]

    def manage(self, *arguments: str) -> str:
        """Run ``manage.py`` and return what it printed; without checking everything before, which takes the longest."""
        unchecked = () if arguments[0] == "shell" else ("--skip-checks",)
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments, *unchecked],
            cwd=BASE,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def api(self, path: str) -> Any:
        """What the REST API answers, None while it is not there yet."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1{path}", headers={"Authorization": f"Bearer {self._token}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
        except OSError:
            pass  # not up yet
        return None

    def decisions(self, cluster: str) -> list[dict[str, Any]]:
        """Every decision of a cluster, oldest first."""
        found = self.api(f"/clusters/{cluster}/decisions?limit=200")
        return list(reversed(found["results"])) if found else []

    def preemptions(self, cluster: str) -> list[dict[str, Any]]:
        """Those that preempt."""
        return [one for one in self.decisions(cluster) if one["outcome"] == "preempt"]

    @cached_property
    def session(self) -> str:
        """The session key of somebody who may read everything."""
        code = (
            "from django.test import Client; from scheduler_admin.accounts.models import User as U; "
            "c = Client(); c.force_login(U.objects.get(username='ci')); print('key', c.cookies['sessionid'].value)"
        )
        return re.search(r"key (\S+)", self.manage("shell", "-c", code))[1]

    def page(self, path: str, key: str) -> str:
        """A page as whose session it is reads it. Raises OSError, HTTPError among it."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Cookie": f"sessionid={key}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read().decode())

    def sign_in(self, name: str, password: str) -> None:
        """Send the form of the page. Raises HTTPError for an answer that is none of success."""
        address = f"http://127.0.0.1:{self.port}/sign-in/"
        browser = build_opener(HTTPCookieProcessor())
        with browser.open(address, timeout=PATIENCE_S) as page:
            token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())[1]
        form = urlencode({"username": name, "password": password, "csrfmiddlewaretoken": token})
        browser.open(address, form.encode(), timeout=PATIENCE_S).close()

    def kill_engine(self) -> None:
        """Kill the engine's worker as a crash would, and start another."""
        worker = self.children._children["engine"]
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        self.children.start("engine", processes.engine_worker())

    @contextmanager
    def cluster(self, name: str, *, manifests: Path, tree: Path) -> Iterator["SimulatedCluster"]:
        """A simulated cluster that the product acts on."""
        cluster = SimulatedCluster(name, self.place.folder / name)
        cluster.folder.mkdir()
        self.children.start(f"simulator-{name}", cluster.command(manifests))
        wait_for(cluster.kubeconfig.exists, "The simulated cluster")
        self.manage("import_queues", name, str(tree), "--reason", "test")
        try:
            yield cluster
        finally:
            self.forget(name)
            self.end(f"simulator-{name}")

    def forget(self, name: str) -> None:
        """Nobody asks for a cluster's passes any more, and another that is the same, but for its name, may come."""
        self.store.execute("UPDATE clusters_cluster SET hierarchy_id = NULL, uid = '' WHERE name = %s", (name,))

    def end(self, name: str) -> None:
        """End one of its processes."""
        child = self.children._children.pop(name)
        child.kill()
        child.wait()

    def last_words(self) -> str:
        """What each of its processes does now, as far as it says so, and the end of its log."""
        words = []
        for name, child in self.children._children.items():
            log = self.place.logs / f"{name}.log"
            before = log.stat().st_size
            if child.poll() is None and name == "engine" and b"[queues]" in log.read_bytes():  # it listens by now
                child.send_signal(signal.SIGUSR1)  # Celery then writes down what each of its threads does
                with suppress(AssertionError):
                    wait_for(lambda log=log, before=before: log.stat().st_size > before, "Its stacks", 5)
            state = "runs" if child.poll() is None else f"ended with {child.poll()}"
            words.append(f"--- {name}, which {state}\n{log.read_text(errors='replace')[-_LOG_TAIL:]}")
        return "\n".join(words)

    def act_on(self, cluster: "SimulatedCluster") -> None:
        """Add the cluster, and let the engine act there as soon as it has been read."""
        self.manage("add_cluster", cluster.name, "--hierarchy", cluster.name, "--kubeconfig", str(cluster.kubeconfig))
        wait_for(lambda: (self.api(f"/clusters/{cluster.name}") or {}).get("last_pass"), "The first pass")
        self.manage("set_mode", cluster.name, "enforce", "--reason", "test")

    def stop(self) -> None:
        """End everything."""
        self._logged.close()
        self.children.stop()


class SimulatedCluster:
    """A simulated cluster with its kubeconfig and the log of what was asked of its API server."""

    context = "simulator"

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.kubeconfig = folder / "kubeconfig"
        self._audit_log = folder / "audit.jsonl"

    def command(self, manifests: Path) -> list[str]:
        """How it is started."""
        return [
            *(sys.executable, "-m", "simulator", "--manifests", str(manifests)),
            *("--kubeconfig", str(self.kubeconfig), "--audit-log", str(self._audit_log)),
        ]

    def audit(self) -> list[dict[str, Any]]:
        """Every request that the API server saw; the last line may be half written and is then not read."""
        return [json.loads(line) for line in self._audit_log.read_text().split("\n")[:-1]]

    def verbs(self) -> set[str]:
        """What others than the tests themselves asked its API server for."""
        return {one["verb"] for one in self.audit() if not one["user_agent"].startswith("Python-urllib")}

    def stop(self) -> None:
        """It ends with the product."""

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Send a request to its API server."""
        address = YAML(typ="safe").load(self.kubeconfig)["clusters"][0]["cluster"]["server"]
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{address}{path}", data=data, method=method, headers={"Content-Type": content_type}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def pods(self, namespace: str) -> list[dict[str, Any]]:
        """The pods of a namespace."""
        found: list[dict[str, Any]] = self.request("GET", f"/api/v1/namespaces/{namespace}/pods")["items"]
        return found

    def running(self, namespace: str) -> list[str]:
        """The names of a namespace's running pods that are not on their way out."""
        return [
            pod["metadata"]["name"]
            for pod in self.pods(namespace)
            if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
        ]

    def scale(self, namespace: str, name: str, replicas: int) -> None:
        """Scale a ReplicaSet."""
        path = f"/apis/apps/v1/namespaces/{namespace}/replicasets/{name}"
        self.request("PATCH", path, {"spec": {"replicas": replicas}}, "application/merge-patch+json")

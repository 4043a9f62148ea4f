"""A release on a real API server: installed, upgraded, taken away. There is no kubelet, so no pod runs."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import MERGE, Wire
from tests.deploy import helm
from tests.deploy.conftest import MINIMAL
from tests.deploy.helm import CHART, NAME, RELEASE, merged
from tests.waiting import wait_for

pytestmark = [pytest.mark.controlplane, pytest.mark.usefixtures("built_helm")]

SPACE = "chart-installed"
VALUES = merged(MINIMAL, {"rbac": {"enforce": True, "priorityClasses": False}})
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.fixture
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


def may(wire: Wire, verb: str, resource: str, sub: str = "", group: str = "") -> bool:
    """Whether the release's account may do it anywhere."""
    what = {"verb": verb, "resource": resource, "subresource": sub, "group": group}
    spec = {"user": f"system:serviceaccount:{SPACE}:{NAME}", "resourceAttributes": what}
    code, answer = wire.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
    assert code == 201, answer
    return bool(answer["status"]["allowed"])


def test_a_release_comes_changes_and_goes(plane: ControlPlane, wire: Wire) -> None:
    """Its account may what was asked for, what was scaled down for an upgrade comes back, and nothing is left."""
    release(plane, "install", RELEASE, str(CHART))
    wait_for(lambda: may(wire, "create", "pods", "eviction"), "its rights are known")
    assert may(wire, "watch", "nodes")
    assert not any(may(wire, verb, "secrets") for verb in ("get", "list"))
    assert not may(wire, "delete", "priorityclasses", group="scheduling.k8s.io")

    web = f"/apis/apps/v1/namespaces/{SPACE}/deployments/{NAME}-web"
    assert wire.send("PATCH", f"{web}/scale", {"spec": {"replicas": 0}}, MERGE)[0] == 200
    release(plane, "upgrade", RELEASE, str(CHART))
    assert wire.send("GET", web)[1]["spec"]["replicas"] == 2

    release(plane, "uninstall", RELEASE, values=None)
    assert [name for name in _names(wire) if name.startswith(NAME)] == []
    assert wire.send("GET", web)[0] == 404


def _names(wire: Wire) -> list[str]:
    found: dict[str, Any] = wire.send("GET", ROLES)[1]
    return [one["metadata"]["name"] for one in found["items"]]

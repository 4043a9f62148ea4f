"""The tiny kubelet itself, on which what the tests on a real control plane say of time rests."""

import json
import time
from collections.abc import Callable, Iterator

import pytest

from tests.controlplane.kubelet import Kubelet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import Wire
from tests.waiting import wait_for

pytestmark = pytest.mark.controlplane
PODS = "/api/v1/namespaces/default/pods"
MANY = 200
LONG_S = 3600


@pytest.fixture
def kubelet(plane: ControlPlane) -> Iterator[Kubelet]:
    with Kubelet(plane) as running:
        yield running


@pytest.fixture
def wire(plane: ControlPlane) -> Iterator[Wire]:
    wire = plane.wire()
    yield wire
    wire.send("DELETE", f"{PODS}?gracePeriodSeconds=0")
    wire.close()


def bound(wire: Wire, name: str, grace_s: int, **says: str) -> None:
    """A pod that is on its node already; it may say how long it runs, and takes to end."""
    spec = {"nodeName": "n1", "terminationGracePeriodSeconds": grace_s}
    notes = {f"simulator.scheduler-admin.io/{key.replace('_', '-')}": value for key, value in says.items()}
    pod = {
        "metadata": {"name": name, "annotations": notes},
        "spec": {**spec, "containers": [{"name": "main", "image": "pause"}]},
    }
    code, said = wire.send("POST", PODS, pod)
    assert code == 201, said


def phase(wire: Wire, name: str) -> str | None:
    code, pod = wire.send("GET", f"{PODS}/{name}")
    return pod["status"]["phase"] if code == 200 else None


def phases(wire: Wire) -> set[str]:
    return {pod["status"]["phase"] for pod in wire.send("GET", PODS)[1]["items"]}


def times_to_end(wire: Wire, watch: Wire, names: list[str]) -> dict[str, float]:
    """Ask all of them to end; how long each took from then until a watch saw it gone."""
    version = wire.send("GET", PODS)[1]["metadata"]["resourceVersion"]
    asked, gone = {}, {}
    for name in names:
        asked[name] = time.monotonic()
        assert wire.send("DELETE", f"{PODS}/{name}")[0] == 200
    for event in map(json.loads, watch.lines(f"{PODS}?watch=true&resourceVersion={version}&timeoutSeconds={LONG_S}")):
        if event["type"] == "DELETED":
            gone[event["object"]["metadata"]["name"]] = time.monotonic()
        if len(gone) == len(names):
            break
    return {name: gone[name] - asked[name] for name in gone}


def test_hundreds_of_pods_end_each_after_its_own_grace_period(
    plane: ControlPlane, kubelet: Kubelet, wire: Wire
) -> None:
    """Who gets freed room depends on it: none ends before its time, and all do, however many there are."""
    graces = {f"p{number}": 1 + number % 3 for number in range(MANY)}
    for name, grace_s in graces.items():
        bound(wire, name, grace_s)
    wait_for(lambda: phases(wire) == {"Running"}, "All running")
    watch = plane.wire()
    took = times_to_end(wire, watch, list(graces))
    watch.close()
    assert set(took) == set(graces)
    assert min(took[name] - grace_s for name, grace_s in graces.items()) >= 0


def test_a_pod_ends_when_its_processes_do(plane: ControlPlane, kubelet: Kubelet, wire: Wire) -> None:
    """Not when its grace period is over."""
    bound(wire, "quick", LONG_S, exits_after="1s")
    wait_for(lambda: phase(wire, "quick") == "Running", "It runs")
    watch = plane.wire()
    took = times_to_end(wire, watch, ["quick"])
    watch.close()
    assert 1 <= took["quick"] < LONG_S


def test_a_pod_that_runs_for_so_long_succeeds(kubelet: Kubelet, wire: Wire) -> None:
    bound(wire, "work", 30, runs_for="1s")
    wait_for(lambda: phase(wire, "work") == "Succeeded", "It succeeds")


def test_a_stuck_pod_ends_when_it_is_let(kubelet: Kubelet, wire: Wire) -> None:
    """Others end beside it."""
    for name in ("stuck", "other"):
        bound(wire, name, 1)
    kubelet.stick("default", "stuck")
    for name in ("stuck", "other"):
        wire.send("DELETE", f"{PODS}/{name}")
    wait_for(lambda: phase(wire, "other") is None, "The other is gone")
    wait_for(_seconds_have_passed(1.5), "What would be its time is over")
    assert phase(wire, "stuck") is not None
    kubelet.unstick("default", "stuck")
    wait_for(lambda: phase(wire, "stuck") is None, "It is gone")


def test_what_was_asked_before_the_kubelet_began_counts_from_then(plane: ControlPlane, wire: Wire) -> None:
    """As by a kubelet that was started anew: what is due by then ends, and no other."""
    for name, grace_s in (("due", 1), ("later", LONG_S)):
        bound(wire, name, grace_s)
        wire.send("DELETE", f"{PODS}/{name}")
    wait_for(_seconds_have_passed(2), "Nobody looks after the node")
    assert phase(wire, "due") is not None
    with Kubelet(plane):
        wait_for(lambda: phase(wire, "due") is None, "It is gone")
        assert phase(wire, "later") is not None


def _seconds_have_passed(seconds: float) -> Callable[[], bool]:
    over_s = time.monotonic() + seconds
    return lambda: time.monotonic() > over_s

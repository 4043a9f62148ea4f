"""Consumers are made and Allocations written on a cluster of either kind: what differs, a little at a time, by us."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from engine.cluster.acting.allocations import AGAIN_S, AllocationWriter
from engine.cluster.connecting.connection import Connection
from engine.cluster.timing import Clock
from engine.cluster.watching.watcher import ClusterWatcher
from engine.formats.arbitrator.allocations import NAME
from engine.model.objects import Allocation, AllocationCondition
from tests.cluster.doubles import ManualClock
from tests.cluster.test_kueue import closing, watching
from tests.controlplane import anycluster, arbitration
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane
from tests.waiting import wait_for

SINCE = "2026-11-23T10:00:00Z"


def wanted(cluster: AnyCluster, cpu: str = "1500m", over: str = "False", **fields: Any) -> dict[str, Allocation]:
    told = AllocationCondition("Overused", over, "Because", "It is so.", SINCE)
    one = Allocation(namespace=cluster.namespace, name=NAME, deserved={"cpu": cpu}, conditions=(told,))
    return {cluster.namespace: msgspec.structs.replace(one, **fields)}


class Writing:
    """A writer that no slow machine takes its time from, and what the watch has seen of what it wrote."""

    def __init__(self, watcher: ClusterWatcher, connection: Connection, clock: Clock | None = None) -> None:
        self.watcher = watcher
        self.writer = AllocationWriter(connection, clock or ManualClock())

    def write(
        self, wanted: Mapping[str, Allocation], consumers: Mapping[str, Any] | None = None, *, leads: bool = True
    ) -> int:
        there = list(self.watcher.state().allocations.values())
        return self.writer.write(consumers or {}, wanted, there, lambda: leads)

    def saw(self, wanted: Mapping[str, Allocation]) -> None:
        wait_for(lambda: list(self.watcher.state().allocations.values()) == list(wanted.values()), "it is seen")


@pytest.fixture
def writing(cluster: AnyCluster, connection: Connection) -> Iterator[Writing]:
    arbitration.install(cluster)
    with closing(watching(connection)) as watcher:
        wait_for(lambda: watcher.health().arbitrated, "the kinds are read")
        yield Writing(watcher, connection)


def test_an_allocation_is_written_once_and_again_where_it_says_something_else(
    writing: Writing, cluster: AnyCluster
) -> None:
    """By our name; what it no longer says goes."""
    first = wanted(cluster, hard={"requests.cpu": "3"})
    assert writing.write(first) == 1
    writing.saw(first)
    found = arbitration.allocation(cluster)
    assert found["spec"] == {"deserved": {"cpu": "1500m"}, "hard": {"requests.cpu": "3"}}
    assert found["status"]["conditions"][0]["lastTransitionTime"] == SINCE
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"scheduler-admin"}
    assert writing.write(first) == 0
    changed = wanted(cluster, over="True", deserved={"memory": "1Gi"})
    assert (writing.write(changed), writing.writer.trouble) == (1, "")
    writing.saw(changed)
    assert arbitration.allocation(cluster)["spec"] == {"deserved": {"memory": "1Gi"}}
    nothing = wanted(cluster, deserved={})
    assert (writing.write(nothing), writing.writer.trouble) == (1, "")
    writing.saw(nothing)


def test_what_somebody_else_writes_there_is_written_over(writing: Writing, cluster: AnyCluster) -> None:
    """What is deserved nobody else says."""
    first = wanted(cluster)
    writing.write(first)
    path = arbitration.path(cluster.namespace, "allocations", NAME)
    code, _ = cluster.raw("PATCH", path, {"spec": {"deserved": {"cpu": "99"}}}, "application/merge-patch+json")
    assert code == 200
    wait_for(
        lambda: [one.deserved["cpu"] for one in writing.watcher.state().allocations.values()] == ["99"], "it is seen"
    )
    assert writing.write(first) == 1
    writing.saw(first)


def test_consumers_are_made_where_there_are_none_and_never_touched(writing: Writing, cluster: AnyCluster) -> None:
    """Where one came in between, that is it."""
    spec = {"hard": {"requests.cpu": "3"}}
    for _ in range(2):
        assert writing.write({}, {cluster.namespace: spec}) == 1
    found = cluster.send("GET", arbitration.path(cluster.namespace, "consumers"))["items"]
    assert [(one["metadata"]["name"], one["spec"]) for one in found] == [(NAME, spec)]
    assert writing.writer.trouble == ""


def test_who_does_not_lead_writes_nothing(writing: Writing, cluster: AnyCluster) -> None:
    assert writing.write(wanted(cluster), {cluster.namespace: {}}, leads=False) == 0
    assert arbitration.allocation(cluster) is None


def test_a_namespace_that_is_gone_by_now_is_no_trouble(writing: Writing, cluster: AnyCluster) -> None:
    gone = Allocation(namespace="gone", name=NAME)
    writing.write({"gone": gone}, {"gone": {}})
    assert writing.writer.trouble == ""


def test_a_namespace_that_is_being_deleted_is_no_trouble_and_holds_up_nobody(
    writing: Writing, cluster: AnyCluster
) -> None:
    """Some hang for days, as what is in them waits for somebody. It is left alone meanwhile."""
    ends = f"a-{cluster.namespace}"
    cluster.create("namespaces", {"metadata": {"name": ends}})
    stays = {"name": "stays", "namespace": ends, "finalizers": ["example.com/stay"]}
    cluster.create("configmaps", {"metadata": stays})
    cluster.send("DELETE", f"/api/v1/namespaces/{ends}")
    every = {ends: Allocation(namespace=ends, name=NAME), **wanted(cluster)}
    assert writing.write(every, {ends: {}}) == 1
    assert writing.writer.trouble == ""
    released = {"metadata": {"finalizers": None}}
    cluster.raw("PATCH", f"/api/v1/namespaces/{ends}/configmaps/stays", released, "application/merge-patch+json")


class _Ticking(ManualClock):
    """Each look at it takes as long as a slow request."""

    def steady_s(self) -> float:
        self.now_s += 0.1
        return super().steady_s()


def test_what_there_is_no_time_for_has_its_turn_in_the_next_pass(writing: Writing, cluster: AnyCluster) -> None:
    """However many change all the time, each is written some day."""
    names = [cluster.namespace, *(f"{cluster.namespace}-{number}" for number in range(4))]
    for name in names[1:]:
        cluster.create("namespaces", {"metadata": {"name": name}})
    slow = Writing(writing.watcher, cluster.connection(), _Ticking())
    every = {name: Allocation(namespace=name, name=NAME) for name in names}
    counts = [slow.writer.write({}, every, [], lambda: True) for _ in range(4)]
    assert 0 < max(counts) < len(names)
    assert all(arbitration.allocation(cluster, name) for name in names)


@pytest.mark.controlplane
def test_without_the_rights_it_is_told_where_to_get_them_and_tried_again_later(plane: ControlPlane) -> None:
    """As a real API server refuses it: once for each namespace in half a minute."""
    with anycluster.real(plane) as cluster:
        arbitration.install(cluster)
        limited = Connection(cluster.account({"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}))
        clock = ManualClock()
        writer = AllocationWriter(limited, clock)
        since = plane.audited()
        for _ in range(2):
            assert writer.write({}, wanted(cluster), [], lambda: True) == 0
        assert (
            "Missing permission: patch allocations.kube-arbitrator.incubator.k8s.io. Apply deploy/consumers.yaml"
            in writer.trouble
        )
        tried = [one for one in plane.events(since) if one["verb"] == "patch" and "limited" in one["user"]["username"]]
        assert len(tried) == 1
        clock.now_s += AGAIN_S + 1
        writer.write({}, {}, [], lambda: True)
        assert writer.trouble == ""

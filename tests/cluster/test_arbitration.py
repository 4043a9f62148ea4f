"""Consumers and Allocations on a cluster of either kind: followed where they are served, and missed nowhere else."""

from collections.abc import Iterator

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.watching.watcher import ClusterWatcher
from engine.formats.arbitrator.consumers import VERSION
from tests.cluster.test_kueue import closing, watching
from tests.controlplane import anycluster, arbitration
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane
from tests.waiting import wait_for

PROPOSED = {
    "hard": {"requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "2", "limits.memory": "2Gi"},
    "reserved": {"limits.memory": "1Gi"},
}
"""As the proposal writes one."""


@pytest.fixture
def watcher(connection: Connection) -> Iterator[ClusterWatcher]:
    with closing(watching(connection)) as watcher:
        yield watcher


def test_consumers_are_followed_from_when_their_kind_is_served(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    """Before that nothing is missing."""
    assert (watcher.health().errors, watcher.health().missing) == ((), {})
    arbitration.install(cluster)
    arbitration.add_consumer(cluster, **PROPOSED)
    (one,) = wait_for(lambda: list(watcher.state().consumers.values()), "it is known")
    assert (one.namespace, one.name) == (cluster.namespace, "defaults")
    cluster.send("DELETE", arbitration.path(cluster.namespace, "consumers", "defaults"))
    wait_for(lambda: not watcher.state().consumers, "it is gone")


def test_what_was_told_last_is_read(watcher: ClusterWatcher, cluster: AnyCluster) -> None:
    arbitration.install(cluster)
    spec = {"deserved": {"cpu": "1500m"}, "hard": {"requests.cpu": 2}}
    body = {"apiVersion": VERSION, "kind": "Allocation", "metadata": {"name": "defaults"}, "spec": spec}
    made = cluster.send("POST", arbitration.path(cluster.namespace, "allocations"), body)
    since = "2026-11-23T10:00:00Z"
    told = {"type": "Overused", "status": "True", "reason": "Told", "message": "give", "lastTransitionTime": since}
    path = arbitration.path(cluster.namespace, "allocations", "defaults/status")
    cluster.send("PUT", path, {**made, "status": {"conditions": [told]}})
    (one,) = wait_for(
        lambda: [one for one in watcher.state().allocations.values() if one.conditions], "its condition is known"
    )
    assert (one.deserved, one.hard, one.reserved) == ({"cpu": "1500m"}, {"requests.cpu": "2"}, {})
    assert [tuple(each) for each in one.conditions] == [("Overused", "True", "Told", "give", since)]


@pytest.mark.controlplane
def test_the_kinds_take_what_the_proposal_writes_and_no_nonsense(plane: ControlPlane) -> None:
    """By the schema that deploy/consumers.yaml gives them, as a real API server judges it; nothing is pruned."""
    with anycluster.real(plane) as cluster:
        arbitration.install(cluster)
        made = arbitration.add_consumer(cluster, **PROPOSED, weight=2, parent="bigdata")
        assert made["spec"] == {**PROPOSED, "weight": 2, "parent": "bigdata"}
        for nonsense in ({"hard": {"cpu": "many"}}, {"reserved": {"cpu": "-1"}}, {"weight": -1}, {"hard": {"cpu": []}}):
            body = {"apiVersion": VERSION, "kind": "Consumer", "metadata": {"name": "odd"}, "spec": nonsense}
            code, _ = cluster.raw("POST", arbitration.path(cluster.namespace, "consumers"), body)
            assert code == 422, nonsense

"""Volcano's Queues and PodGroups on a cluster of either kind: followed where they are served, missed nowhere else."""

import json
from collections.abc import Iterator

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.objects import GroupKind
from engine.model.queue_tree import ROOT_ONLY
from tests.cluster.test_kueue import closing, watching
from tests.controlplane import volcano
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import wait_for


@pytest.fixture
def watcher(connection: Connection) -> Iterator[ClusterWatcher]:
    with closing(watching(connection)) as watcher:
        yield watcher


def test_its_queues_and_groups_are_followed_from_when_it_is_installed(
    watcher: ClusterWatcher, cluster: AnyCluster
) -> None:
    """Before that nothing is missing; and as long as it is not known how it is set, nothing is decided by them."""
    assert (watcher.health().errors, watcher.health().missing) == ((), {})
    volcano.install(cluster)
    volcano.add(cluster, "Queue", "train", {"weight": 3, "reclaimable": False, "deserved": {"cpu": "4"}})
    group = {"queue": "train", "minMember": 2, "priorityClassName": "high"}
    volcano.add(cluster, "PodGroup", "job", group, cluster.namespace)
    queue = wait_for(lambda: watcher.state().volcano_queues.get("train"), "the queue is known")
    assert (queue.weight, queue.reclaimable, queue.deserved) == (3, False, {"cpu": 4000})
    found = wait_for(lambda: watcher.state().pod_groups.get((cluster.namespace, "job")), "the group is known")
    assert (found.queue, found.min_member, found.priority_class, found.enqueued) == ("train", 2, "high", False)
    assert watcher.state().volcano_session() is None


def test_gangs_of_volcano_and_yunikorn_are_known_once_their_pods_are_seen(
    watcher: ClusterWatcher, cluster: AnyCluster
) -> None:
    """With the pods that must run at once, whichever of the two it is."""
    volcano.install(cluster)
    volcano.add(cluster, "PodGroup", "train", {"queue": "default", "minMember": 2}, cluster.namespace)
    parts = [{"name": "executor", "minMember": 2, "minResource": {"cpu": "1"}}]
    of_yunikorn = {
        "internal.yunikorn.apache.org/placeholder": "true",
        "yunikorn.apache.org/task-group-name": "executor",
        "yunikorn.apache.org/task-groups": json.dumps(parts),
    }
    label, of_volcano = {"yunikorn.apache.org/app-id": "spark-1"}, {"scheduling.k8s.io/group-name": "train"}
    cluster.add_pod("train-0", annotations=of_volcano, schedulerName="volcano")
    cluster.add_pod("tg-0", annotations=of_yunikorn, labels=label, schedulerName="yunikorn")

    def gangs() -> set[tuple[GroupKind, str, int]]:
        groups = watcher.state().snapshot(ROOT_ONLY, now_ms=0).groups.values()
        return {(group.kind, group.name, group.needed) for group in groups}

    expected = {(GroupKind.VOLCANO, "train", 2), (GroupKind.YUNIKORN, "spark-1", 2)}
    wait_for(lambda: gangs() == expected, "both are known")

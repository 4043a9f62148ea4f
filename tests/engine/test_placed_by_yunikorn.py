"""Where YuniKorn schedules, its pods alone are in queues, and an application is in the queue of its first pod."""

from typing import Any

import pytest

from engine.formats.kubernetes.decode import decode_pod
from engine.formats.kubernetes.writing.pods import write_pod
from engine.model.objects import Pod
from engine.model.queue_tree import Queue
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning import journal
from engine.planning.journal import PassInputs
from engine.planning.masking import mask_names
from engine.tree.orphans import Orphans, orphans
from tests.builders import NOW, node, pod, queue, tree

TREE = tree({"prod": queue("4"), "test": queue()})


def of_yunikorn(name: str, *, queue: str = "", **settings: object) -> Pod:
    """A pod that YuniKorn places."""
    return pod(name, queue=queue, node="n1", scheduler="yunikorn", **settings)


def state(*pods: Pod, scheduler: str = "yunikorn") -> ClusterState:
    """A cluster where it runs."""
    made = ClusterState()
    made.scheduler = scheduler
    made.nodes["n1"] = node("n1", 8)
    made.pods.update({one.uid: one for one in pods})
    return made


def queues(at: Snapshot) -> dict[str, str | None]:
    """Pod -> queue."""
    return {one.name: one.queue for one in at.pods}


def frozen(*pods: Pod, scheduler: str = "yunikorn") -> Snapshot:
    """The cluster at a moment."""
    return state(*pods, scheduler=scheduler).snapshot(TREE, now_ms=NOW)


def test_a_pod_of_another_scheduler_is_in_no_queue_and_takes_room_all_the_same() -> None:
    """Though it names one: to YuniKorn it is foreign."""
    at = frozen(of_yunikorn("own", queue="prod"), pod("foreign", queue="prod", node="n1", cpu=3))
    assert queues(at) == {"foreign": None, "own": "root.prod"}
    assert at.usage(TREE)["root.prod"] == {"cpu": 1000, "pods": 1}
    assert at.free(at.nodes[0])["cpu"] == 4000


def test_where_yunikorn_does_not_run_it_is_in_the_queue_that_it_names() -> None:
    """Then the queues are anybody's."""
    assert queues(frozen(pod("one", queue="prod", node="n1"), scheduler="")) == {"one": "root.prod"}


def test_all_pods_of_an_application_are_in_the_queue_of_its_first() -> None:
    """Whatever the later ones name."""
    first = of_yunikorn("z-driver", queue="prod", app="spark", created_ms=1)
    later = of_yunikorn("a-executor", queue="test", app="spark", created_ms=2)
    at = state(first, later)
    assert queues(at.snapshot(TREE, now_ms=NOW)) == {"a-executor": "root.prod", "z-driver": "root.prod"}
    assert at.queue_of(later, TREE) == "root.prod"
    placed = at.placed(later.uid, TREE)
    assert placed is not None
    assert placed.queue == "root.prod"


def test_a_change_orphans_the_pods_of_an_application_by_its_first_pod() -> None:
    """And none of another scheduler, which are in no queue as it is."""
    there = state(
        of_yunikorn("driver", queue="test", app="spark", created_ms=1),
        of_yunikorn("executor", queue="prod", app="spark", created_ms=2),
        of_yunikorn("web", queue="prod", app="web"),
        pod("foreign", queue="test", node="n1"),
    )
    without = tree({"prod": queue("4")})
    assert orphans(there, TREE, without) == (Orphans(queue="root.test", running=2),)


def test_pods_that_name_no_application_are_of_one_for_each_namespace() -> None:
    """So the first of them decides for all."""
    first, later = of_yunikorn("a", queue="prod", created_ms=1), of_yunikorn("b", queue="test", created_ms=2)
    at = frozen(first, later, of_yunikorn("c", queue="test", namespace="other"))
    assert {one.application for one in at.pods} == {"yunikorn-ns-autogen", "yunikorn-other-autogen"}
    assert queues(at) == {"a": "root.prod", "b": "root.prod", "c": "root.test"}


def test_a_moment_that_is_read_back_is_placed_as_it_was() -> None:
    """It is kept whose the queues were."""
    now = state(of_yunikorn("own", queue="prod"), pod("foreign", queue="prod", node="n1"))
    moment = PassInputs(now_ms=NOW, scheduler="yunikorn")
    again, _moment = journal.read([journal.encode_keyframe(now, moment)])
    assert queues(moment.snapshot(again, TREE)) == {"foreign": None, "own": "root.prod"}


@pytest.mark.parametrize(
    ("labels", "annotations", "queue", "application"),
    [
        ({"yunikorn.apache.org/queue": "a", "yunikorn.apache.org/app-id": "x"}, {}, "a", "x"),
        ({"queue": "b", "applicationId": "y"}, {}, "b", "y"),
        ({"spark-app-selector": "spark-1"}, {}, "", "spark-1"),
        (
            {"queue": "b", "applicationId": "y", "spark-app-selector": "s"},
            {"yunikorn.apache.org/queue": "c", "yunikorn.apache.org/app-id": "z"},
            "c",
            "z",
        ),
        ({"yunikorn.apache.org/queue": "a"}, {"yunikorn.apache.org/queue": "c"}, "a", ""),
        ({"applicationId": "ns-uniqueautogen"}, {}, "", "ns-uid-1"),
    ],
)
def test_queue_and_application_are_read_where_yunikorn_reads_them(
    labels: dict[str, str], annotations: dict[str, str], queue: str, application: str
) -> None:
    """Its own label, then the annotation, then the older labels; and they come back from a manifest."""
    meta = {"name": "one", "namespace": "ns", "uid": "uid-1", "labels": labels, "annotations": annotations}
    read = decode_pod({"metadata": meta, "spec": {"schedulerName": "yunikorn"}})
    assert (read.queue_label, read.application_label) == (queue, application)
    again = decode_pod(write_pod(read))
    assert (again.queue_label, again.application_label) == (queue, application)


@pytest.mark.parametrize(
    ("settings", "queue"),
    [
        ({}, None),
        ({"labels": {"kueue.x-k8s.io/cluster-queue-name": "prod"}}, "root.prod"),
        ({"labels": {"kueue.x-k8s.io/queue-name": "local"}}, "root.prod"),
        ({"workload": "job-web"}, "root.prod"),
    ],
)
def test_where_kueue_gives_quota_only_pods_that_it_manages_are_in_queues(
    settings: dict[str, Any], queue: str | None
) -> None:
    """Others of a namespace with a LocalQueue count towards no quota."""
    claimed = tree({"prod": Queue(path="", guaranteed={"cpu": 4000}, namespaces=("ns",))})
    there = state(pod("one", node="n1", **settings), scheduler="kueue")
    assert queues(there.snapshot(claimed, now_ms=NOW)) == {"one": queue}


def test_what_labels_do_not_say_any_more_comes_back_from_a_manifest() -> None:
    """As where names were masked: our own annotation counts before all labels."""
    labels = {"yunikorn.apache.org/app-id": "x", "scheduler-admin.io/queue": "y"}
    one = pod("one", labels=labels, queue="root.prod", application_label="masked")
    again = decode_pod(write_pod(one))
    assert (again.queue_label, again.application_label) == ("root.prod", "masked")


def test_a_masked_cluster_of_kueue_is_placed_as_it_was() -> None:
    """Its labels are no names of anybody's."""
    labels = {"kueue.x-k8s.io/cluster-queue-name": "prod"}
    there = state(pod("one", node="n1", labels=labels), pod("stray", node="n1"), scheduler="kueue")
    moment = PassInputs(now_ms=NOW, scheduler="kueue")
    hidden = mask_names(there, moment, TREE)
    placed = hidden.moment.snapshot(hidden.state, hidden.tree)
    assert sorted(one.queue is not None for one in placed.pods) == [False, True]

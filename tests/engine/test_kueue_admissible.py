"""What Kueue does not even consider preempts nobody, whatever quota there is."""

from typing import Any

import msgspec
import pytest

from engine.model.objects import (
    ClusterQueue,
    Flavor,
    FlavorQuota,
    LocalQueue,
    PodSet,
    Preemption,
    Requirement,
    ResourceGroup,
    quota_cluster,
)
from engine.model.queue_tree import Take
from engine.model.quota import QuotaCluster, Workload
from engine.policies.cohort import Inadmissible, Mode, decide, inadmissible

NOW = 1_000_000
RED = (Requirement("team", "In", ("red",)),)


def workload(name: str, cores: int, **settings: Any) -> Workload:
    """One of so many pods of a core each, in LocalQueue lq of namespace ns."""
    sets = (PodSet(name="main", count=cores, requests={"cpu": 1000}),)
    return Workload(uid=name, namespace="ns", name=name, local_queue="lq", pod_sets=sets, **settings)


def holding(name: str, cores: int, **settings: Any) -> Workload:
    """The same with quota."""
    usage = {("default", "cpu"): cores * 1000}
    return workload(name, cores, queue="cq", holds=True, usage=usage, reserved_ms=0, **settings)


def cluster(
    *workloads: Workload, held: bool = False, labels: dict[str, str] | None = None, **queue: Any
) -> QuotaCluster:
    """A ClusterQueue of four cores whose workloads preempt lower priorities."""
    settings = {
        "quotas": {("default", "cpu"): FlavorQuota(4000)},
        "groups": (ResourceGroup(("cpu",), ("default",)),),
        "preemption": Preemption(within=Take.LOWER_PRIORITY),
        **queue,
    }
    return quota_cluster(
        [Flavor(name="default")],
        [ClusterQueue(name="cq", **settings)],
        [],
        [LocalQueue(namespace="ns", name="lq", queue="cq", held=held)],
        workloads,
        now_ms=NOW,
        namespaces={"ns": labels or {}},
    )


def ask_of(at: QuotaCluster) -> Workload:
    """The workload called ``ask``."""
    return next(one for one in at.workloads if one.name == "ask")


def why(at: QuotaCluster) -> Inadmissible | None:
    """Why ``ask`` is not considered."""
    return inadmissible(at, ask_of(at))


def test_what_nothing_keeps_out_is_considered() -> None:
    assert why(cluster(workload("ask", 2))) is None


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (cluster(workload("ask", 2), active=False), Inadmissible.QUEUE_HELD),
        (cluster(workload("ask", 2), held=True), Inadmissible.LOCAL_QUEUE_HELD),
        (cluster(workload("ask", 2), namespaces=RED), Inadmissible.NAMESPACE),
        (cluster(workload("ask", 2), namespaces=None), Inadmissible.NAMESPACE),
        (cluster(workload("ask", 2, waits_until_ms=NOW + 1)), Inadmissible.BACK_OFF),
        (cluster(workload("ask", 2, requeued=False)), Inadmissible.BACK_OFF),
    ],
)
def test_each_gate_keeps_it_out(at: QuotaCluster, expected: Inadmissible) -> None:
    assert why(at) is expected


def test_a_gate_that_has_opened_keeps_nobody_out() -> None:
    """The labels match, the wait is over."""
    assert why(cluster(workload("ask", 2), namespaces=RED, labels={"team": "red"})) is None
    assert why(cluster(workload("ask", 2, waits_until_ms=NOW))) is None


def test_where_namespaces_are_not_known_none_is_kept_out_by_its_labels() -> None:
    """But for a queue that admits none at all."""
    at = cluster(workload("ask", 2), namespaces=RED)
    assert why(msgspec.structs.replace(at, namespaces=None)) is None


def test_a_slice_takes_over_what_the_one_before_it_holds() -> None:
    """It asks for one core more than that, and preempts for that core alone."""
    ask = workload("ask", 3, priority=1, queue="cq", replaces="ns/before")
    at = cluster(holding("before", 2, priority=1), holding("low", 2), ask)
    verdict = decide(at, ask)
    assert [one.workload.name for one in verdict.search.targets] == ["low"]
    assert not decide(at, msgspec.structs.replace(ask, replaces="")).search.targets


def test_a_closed_gate_of_its_preemption_lets_it_take_what_is_free_and_nobody_else_s() -> None:
    """Three of four cores are held by a lower priority."""
    low = holding("low", 3, priority=-1)
    free, more = (workload("ask", cores, priority=1, gated=True) for cores in (1, 2))
    found = decide(cluster(low, free), ask_of(cluster(low, free)))
    assert (found.mode, found.gated) == (Mode.FIT, False)
    kept = decide(cluster(low, more), ask_of(cluster(low, more)))
    assert (kept.gated, kept.search.targets) == (True, ())
    opened = msgspec.structs.replace(ask_of(cluster(low, more)), gated=False)
    assert [one.workload.name for one in decide(cluster(low, more), opened).search.targets] == ["low"]

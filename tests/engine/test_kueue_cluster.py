"""Kueue's objects are read as quota: both versions, what holds quota and what does not."""

from typing import Any

import pytest

from engine.formats.kueue.cluster import quota_cluster
from engine.model.quota import FlavorQuota, Take

Manifest = dict[str, Any]


def manifest(kind: str, name: str, spec: Manifest, version: str = "v1beta2", **more: Any) -> Manifest:
    """An object of Kueue's in a namespace."""
    meta = {"name": name, "namespace": "n", "uid": name}
    return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": meta, "spec": spec, **more}


def groups(**quota: str) -> list[Manifest]:
    """One group of one flavor with a quota of cpu."""
    flavor = {"name": "default", "resources": [{"name": "cpu", **quota}]}
    return [{"coveredResources": ["cpu"], "flavors": [flavor]}]


FLAVOR = manifest("ResourceFlavor", "default", {"nodeLabels": {"kind": "cheap"}})
LOCAL = manifest("LocalQueue", "lq", {"clusterQueue": "a"})


def workload(name: str, conditions: list[Manifest], active: bool = True, **status: Any) -> Manifest:
    """Two pods of half a core each, admitted where a condition says so."""
    requests = {"resources": {"requests": {"cpu": "500m"}}, "name": "c"}
    pod_set = {"name": "main", "count": 2, "template": {"spec": {"containers": [requests]}}}
    assigned = {"name": "main", "count": 2, "flavors": {"cpu": "default"}, "resourceUsage": {"cpu": "1"}}
    admission = {"clusterQueue": "a", "podSetAssignments": [assigned]}
    spec = {"queueName": "lq", "priority": 3, "podSets": [pod_set], "active": active}
    return manifest("Workload", name, spec, status={"conditions": conditions, "admission": admission, **status})


def true(kind: str, reason: str = "") -> Manifest:
    """A condition since ten seconds after 1970."""
    return {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": "1970-01-01T00:00:10Z"}


RESERVED = true("QuotaReserved")


def test_both_versions_name_the_cohort_their_own_way() -> None:
    """v1beta1 says ``cohort``, v1beta2 ``cohortName``; a Cohort has a ``parentName`` in both."""
    new = manifest("ClusterQueue", "a", {"cohortName": "x", "resourceGroups": groups(nominalQuota="4")})
    old = manifest("ClusterQueue", "b", {"cohort": "x", "resourceGroups": groups(nominalQuota="4")}, "v1beta1")
    above = manifest("Cohort", "x", {"parentName": "top", "fairSharing": {"weight": "1500m"}})
    found = quota_cluster([new, old, above, FLAVOR], now_ms=0)
    assert [one.cohort for one in found.queues.values()] == ["x", "x"]
    assert (found.cohorts["x"].parent, found.cohorts["x"].weight * 2) == ("top", 3)


def test_quotas_limits_and_rules_are_read_with_what_kueue_fills_in() -> None:
    """No preemption unless it is said; the next flavor before preempting, but not before borrowing."""
    limits = groups(nominalQuota="4", borrowingLimit="500m", lendingLimit="1")
    found = quota_cluster([manifest("ClusterQueue", "a", {"resourceGroups": limits}), FLAVOR], now_ms=0).queues["a"]
    assert found.quotas == {("default", "cpu"): FlavorQuota(4000, 500, 1000)}
    assert (found.preemption.within, found.preemption.borrow.allowed) == (Take.NEVER, False)
    assert (found.fungibility.next_before_preempting, found.fungibility.next_before_borrowing) == (True, False)


def test_a_queue_that_is_held_or_names_a_flavor_that_is_not_there_is_not_active() -> None:
    """Kueue decides nothing for it."""
    held = manifest("ClusterQueue", "a", {"resourceGroups": groups(nominalQuota="4"), "stopPolicy": "Hold"})
    lost = manifest("ClusterQueue", "b", {"resourceGroups": groups(nominalQuota="4")})
    assert not quota_cluster([held, FLAVOR], now_ms=0).queues["a"].active
    assert not quota_cluster([lost], now_ms=0).queues["b"].active


def test_quota_is_held_by_what_has_it_reserved_and_is_neither_finished_nor_switched_off() -> None:
    """Also by what is on its way out; a new turn is given by some reasons of an eviction alone."""
    given = [
        workload("running", [RESERVED]),
        workload("waiting", [{**RESERVED, "status": "False"}]),
        workload("finished", [RESERVED, true("Finished")]),
        workload("off", [RESERVED], active=False),
        workload("leaving", [RESERVED, true("Evicted", "Preempted")]),
        workload("unready", [RESERVED, true("Evicted", "PodsReadyTimeout")]),
    ]
    found = {one.name: one for one in quota_cluster([*given, LOCAL], now_ms=0).workloads}
    assert {name: one.holds for name, one in found.items()} == {
        "running": True, "waiting": False, "leaving": True, "unready": True,
    }  # fmt: skip
    assert {one.queue for one in found.values()} == {"a"}
    assert found["running"].usage == {("default", "cpu"): 1000}
    assert found["running"].reserved_ms == 10_000
    assert [found[name].evicted for name in ("leaving", "unready", "running")] == [True, True, False]
    assert [found[name].requeued_ms for name in ("leaving", "unready")] == [None, 10_000]


def test_pods_that_are_done_give_their_quota_back() -> None:
    """One of two is not needed again."""
    given = workload("half", [RESERVED], reclaimablePods=[{"name": "main", "count": 1}])
    (found,) = quota_cluster([given, LOCAL], now_ms=0).workloads
    assert found.usage == {("default", "cpu"): 500}


def test_a_workload_that_waits_asks_for_what_kueue_counted_it_for() -> None:
    """With what a LimitRange and a RuntimeClass add, for the pods that are needed still; else as it is written."""
    counted = [{"name": "main", "resources": {"cpu": "2", "memory": "1Gi", "pods": "1"}}]
    tried = workload("tried", [], resourceRequests=counted, reclaimablePods=[{"name": "main", "count": 1}])
    new = workload("new", [])
    found = {one.name: one.pod_sets[0] for one in quota_cluster([tried, new, LOCAL], now_ms=0).workloads}
    assert (found["tried"].count, found["tried"].requests) == (1, {"cpu": 2000, "memory": 2**30})
    assert (found["new"].count, found["new"].requests) == (2, {"cpu": 500})


@pytest.mark.parametrize(
    ("states", "gated"),
    [([], True), ([("a", "Closed")], True), ([("a", "Open")], True), ([("a", "Open"), ("b", "Open")], False)],
)
def test_a_gate_of_preemption_is_closed_until_it_is_said_to_be_open(states: list[Any], gated: bool) -> None:
    said = [{"name": name, "position": position} for name, position in states]
    given = workload("waiting", [], preemptionGates=said)
    given["spec"]["preemptionGates"] = [{"name": "a"}, {"name": "b"}]
    (found,) = quota_cluster([given, LOCAL], now_ms=0).workloads
    assert found.gated is gated


def test_a_pod_set_asks_for_what_its_pods_do() -> None:
    """With how many of them it could do, and what its pods select."""
    given = workload("waiting", [])
    one = given["spec"]["podSets"][0] | {"minCount": 1, "topologyRequest": {"podSetGroupName": "together"}}
    given["spec"]["podSets"] = [one]
    (found,) = quota_cluster([given, LOCAL], now_ms=0).workloads
    (pod_set,) = found.pod_sets
    assert (pod_set.count, pod_set.least, pod_set.group, pod_set.requests) == (2, 1, "together", {"cpu": 500})

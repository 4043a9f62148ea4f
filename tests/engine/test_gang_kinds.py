"""YuniKorn's applications with task groups, and Volcano's PodGroups, are gangs as PodGroups of Kubernetes are."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest

from engine.analysis.pending_reasons import pending_reasons_of
from engine.audit import audit, failed_checks
from engine.explain.group_kinds import about_group
from engine.formats.kubernetes.decode import cluster_state
from engine.formats.kubernetes.writing.manifests import manifests
from engine.model.decision import Decision, Outcome, Reason
from engine.model.objects import GroupKind
from engine.model.pending_reasons import TierName
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning.journal import PassInputs
from engine.planning.masking import mask_names
from engine.planning.scheduling_pass import plan
from engine.policies import policy
from tests.builders import NOW, node, pod, queue, tree

Manifest = dict[str, Any]
LONG_AGO = "1970-01-01T00:00:00Z"
TASK_GROUPS = [
    {"name": "driver", "minMember": 1, "minResource": {"cpu": "1"}},
    {"name": "executor", "minMember": 2, "minResource": {"cpu": "1", "memory": "1Gi"}},
]
TREE = tree({"wanting": queue({"cpu": 4}), "giving": queue()})
FULL = [node("n1", 2), node("n2", 2)]
RUNNING = [pod(f"old-{number}", queue="giving", node=f"n{1 + number // 2}") for number in range(4)]


def manifest(name: str, *, scheduler: str, labels: Manifest | None = None, **annotations: str) -> Manifest:
    """A pending pod of queue ``wanting`` that its scheduler found unschedulable."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": LONG_AGO}
    meta = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "creationTimestamp": LONG_AGO,
        "labels": {"queue": "wanting", **(labels or {})},
        "annotations": {key.replace("__", "/").replace("_", "."): value for key, value in annotations.items()},
    }
    spec = {"schedulerName": scheduler, "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": spec,
        "status": {"phase": "Pending", "conditions": [condition]},
    }


def of_application(name: str, group: str, *, style: str = "", placeholder: bool = True, **more: str) -> Manifest:
    """A pod of application ``spark-1``, as YuniKorn makes its placeholders, or as the application makes its pods."""
    found = manifest(name, scheduler="yunikorn", labels={"yunikorn.apache.org/app-id": "spark-1"})
    annotations = {
        "yunikorn.apache.org/task-group-name": group,
        "yunikorn.apache.org/task-groups": json.dumps(TASK_GROUPS),
        **({"yunikorn.apache.org/schedulingPolicyParameters": style} if style else {}),
        **({"internal.yunikorn.apache.org/placeholder": "true"} if placeholder else {}),
    }
    found["metadata"]["annotations"] = annotations | more
    return found


def application(style: str = "") -> list[Manifest]:
    """An application that waits: its first pod, and a placeholder for each pod that must run at once."""
    return [
        of_application("driver", "driver", style=style, placeholder=False),
        of_application("tg-spark-1-driver-1", "driver", style=style),
        of_application("tg-spark-1-executor-1", "executor", style=style),
        of_application("tg-spark-1-executor-2", "executor", style=style),
    ]


def pod_group(*, needed: int = 3, **spec: Any) -> Manifest:
    """A PodGroup of Volcano."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "ns", "uid": "uid-train", "creationTimestamp": LONG_AGO},
        "spec": {"minMember": needed, "queue": "default", **spec},
        "status": {"phase": "Inqueue"},
    }


def workers(count: int = 3, scheduler: str = "volcano") -> list[Manifest]:
    """Pods of that PodGroup."""
    named = {"scheduling_k8s_io__group-name": "train"}
    pods = [manifest(f"train-{number}", scheduler=scheduler, **named) for number in range(count)]
    for one in pods:
        owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train", "controller": True}
        one["metadata"]["ownerReferences"] = [owner]
    return pods


def read(objects: Iterable[Manifest]) -> ClusterState:
    """The cluster that manifests describe, with two full nodes of which all pods may go."""
    found = cluster_state(objects)
    assert not found.unread
    state = found.state
    state.nodes |= {one.name: one for one in FULL}
    state.pods.update((one.uid, one) for one in RUNNING)
    return state


def frozen(objects: Iterable[Manifest]) -> Snapshot:
    return read(objects).snapshot(TREE, now_ms=NOW)


def decisions(at: Snapshot, policy_name: str = "fence", dialect: str = "design") -> Iterator[Decision]:
    """What is decided for each pending pod."""
    decide = policy(policy_name, dialect)
    yield from (decide(at, TREE, ask) for ask in sorted(at.asks, key=lambda ask: ask.name))


def decided(at: Snapshot, name: str) -> Decision:
    return next(one for one in decisions(at) if one.ask.name == name)


# YuniKorn


def test_an_application_of_yunikorn_is_one_gang_of_all_its_task_groups() -> None:
    at = frozen(application())
    decision = decided(at, "tg-spark-1-driver-1")
    assert decision.group
    assert (decision.outcome, len(decision.victims), len(decision.nodes)) == (Outcome.PREEMPT, 3, 3)
    assert (decision.group.of_kind, decision.group.name, decision.group.needed) == (GroupKind.YUNIKORN, "spark-1", 3)
    assert not failed_checks(audit(at, TREE, decision))


def test_no_pods_are_evicted_for_a_part_of_an_application() -> None:
    """Room for two of the three placeholders can be made, and YuniKorn starts nothing with these."""
    state = read(application())
    high = {one.uid: msgspec.structs.replace(one, priority=100) for one in RUNNING[:2]}
    state.pods.update(high)
    decision = decided(state.snapshot(TREE, now_ms=NOW), "tg-spark-1-driver-1")
    assert (decision.outcome, decision.reason) == (Outcome.NO_CANDIDATE, Reason.NO_ROOM)


def test_a_pod_of_the_application_waits_for_its_placeholder() -> None:
    decision = decided(frozen(application()), "driver")
    assert (decision.outcome, decision.reason) == (Outcome.NOT_ELIGIBLE, Reason.PLACEHOLDER)
    assert decision.detail.startswith("ns/tg-spark-1-")


def test_later_a_pod_takes_the_place_of_a_placeholder_of_its_task_group() -> None:
    """YuniKorn swaps them, so no room is made. Once no placeholder of the task group is left, the pod needs room."""
    placeholder = of_application("tg-spark-1-executor-1", "executor")
    placeholder["spec"]["nodeName"] = "n1"
    executor = of_application("executor-1", "executor", placeholder=False)
    driver = of_application("driver", "driver", placeholder=False)
    at = frozen([placeholder, executor, driver])
    assert not at.groups
    assert decided(at, "executor-1").reason is Reason.PLACEHOLDER
    assert decided(at, "driver").outcome is Outcome.PREEMPT


def test_why_it_waits_is_why_its_placeholders_wait() -> None:
    at = frozen(application()[:3])
    reasons = [pending_reasons_of(at, TREE, ask, "fence").tiers for ask in at.asks]
    assert reasons[0] == reasons[1] == reasons[2]
    assert [(tier.name, tier.passes) for tier in reasons[0]] == [(TierName.GROUP, False)]


def test_a_pod_whose_placeholder_has_a_node_passes_all_checks() -> None:
    placeholder = of_application("tg-spark-1-executor-1", "executor")
    placeholder["spec"]["nodeName"] = "n1"
    at = frozen([placeholder, of_application("executor-1", "executor", placeholder=False)])
    found = pending_reasons_of(at, TREE, at.asks[0], "fence")
    assert [(tier.name, tier.passes) for tier in found.tiers] == [(TierName.GROUP_NODES, True)]


def test_without_placeholders_its_pods_start_one_by_one() -> None:
    """After the placeholders timed out, YuniKorn starts what fits (style Soft)."""
    pods = [of_application(f"executor-{number}", "executor", placeholder=False) for number in range(2)]
    assert [(one.outcome, bool(one.group)) for one in decisions(frozen(pods))] == [(Outcome.PREEMPT, False)] * 2


@pytest.mark.parametrize(
    ("labels", "annotations", "is_one"),
    [
        ({}, {"internal.yunikorn.apache.org/placeholder": "true"}, True),
        ({}, {"yunikorn.apache.org/placeholder": "1"}, True),
        ({"placeholder": "T"}, {}, True),
        ({}, {"internal.yunikorn.apache.org/placeholder": "false"}, False),
        ({}, {"internal.yunikorn.apache.org/placeholder": "yes"}, False),
        ({}, {}, False),
    ],
)
def test_a_placeholder_is_known_in_every_version(labels: Manifest, annotations: Manifest, is_one: bool) -> None:
    one = of_application("one", "driver", placeholder=False, **annotations)
    one["metadata"]["labels"] |= labels
    assert bool(read([one]).pods["uid-one"].scheduling_group) is is_one


@pytest.mark.parametrize(
    "groups",
    ["", "{", "[]", '[{"name": "a"}]', '[{"name": "", "minMember": 1}]', '[{"name": "a", "minMember": -1}]', "[1]"],
)
def test_task_groups_that_yunikorn_rejects_are_none(groups: str) -> None:
    one = of_application("one", "driver", **{"yunikorn.apache.org/task-groups": groups})
    at = frozen([one])
    assert not at.groups
    assert decided(at, "one").outcome is Outcome.PREEMPT


@pytest.mark.parametrize(
    ("style", "hard"),
    [
        ("", False),
        ("gangSchedulingStyle=Hard", True),
        ("placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard", True),
        ("gangSchedulingStyle=Soft", False),
        ("gangSchedulingStyle=hard", False),
    ],
)
def test_what_happens_if_placeholders_time_out_is_told(style: str, hard: bool) -> None:
    group = decided(frozen(application(style)), "tg-spark-1-driver-1").group
    assert group
    assert group.hard is hard
    about = [str(message) for message in about_group(group)]
    assert "driver (1), executor (2)" in about[0]
    assert ("fails" in about[1]) is hard


def test_a_gang_with_too_few_placeholders_waits() -> None:
    decision = decided(frozen(application()[:3]), "tg-spark-1-driver-1")
    assert (decision.reason, decision.detail) == (Reason.TOO_FEW_MEMBERS, "2")


# Volcano


def test_a_pod_group_of_volcano_is_a_gang() -> None:
    at = frozen([pod_group(), *workers()])
    decision = decided(at, "train-0")
    assert decision.group
    assert (decision.outcome, len(decision.nodes)) == (Outcome.PREEMPT, 3)
    assert (decision.group.of_kind, decision.group.key, decision.group.uid) == (
        GroupKind.VOLCANO,
        "ns/train",
        "uid-train",
    )
    assert not failed_checks(audit(at, TREE, decision))
    assert [one.reason for one in decisions(at)][1:] == [Reason.DECIDED_WITH] * 2


def test_the_order_of_a_pass_serves_it_once() -> None:
    at = frozen([pod_group(), *workers()])
    evicting = [one.decision for one in plan(at, TREE, policy("fence", "design")) if one.decision.evicts]
    assert [len(one.victims) for one in evicting] == [3]


def test_a_pod_of_kube_scheduler_is_in_no_group_of_volcano() -> None:
    """kube-scheduler does not read the annotation, so it starts the pods one by one."""
    assert not any(one.group for one in decisions(frozen([pod_group(), *workers(scheduler="default-scheduler")])))


def test_a_scheduler_of_another_name_may_be_volcano() -> None:
    assert decided(frozen([pod_group(), *workers(scheduler="our-volcano")]), "train-0").group


def test_a_pod_group_that_does_not_exist_leaves_its_pods_alone() -> None:
    assert not any(one.group for one in decisions(frozen(workers())))


@pytest.mark.parametrize("needed", [0, 1])
def test_one_that_needs_one_pod_is_no_gang(needed: int) -> None:
    assert not any(one.group for one in decisions(frozen([pod_group(needed=needed), *workers()])))


def test_pods_that_succeeded_count_as_members_that_run() -> None:
    """Source: ReadyTaskNum of Volcano (pkg/scheduler/api, job_info.go)."""
    group = pod_group(needed=4)
    group["status"] |= {"succeeded": 1}
    decision = decided(frozen([group, *workers()]), "train-0")
    assert decision.group
    assert (decision.group.needed, decision.outcome) == (3, Outcome.PREEMPT)


@pytest.mark.parametrize(
    ("spec", "unread"),
    [
        ({"networkTopology": {"mode": "hard", "highestTierAllowed": 1}}, "networkTopology"),
        ({"subGroupPolicy": [{"name": "a", "minSubGroups": 2}]}, "subGroupPolicy"),
        ({"needed": 2, "minTaskMember": {"master": 1, "worker": 1}}, "minTaskMember"),
        ({"minTaskMember": {"master": 1, "worker": 2}}, ""),  # all of its pods are needed anyway
        ({"needed": 2, "minTaskMember": {"master": 1, "worker": 2}}, ""),  # Volcano ignores more than minMember
        ({"subGroupPolicy": [{"name": "a"}]}, ""),
    ],
)
def test_rules_that_are_not_read_are_told(spec: Manifest, unread: str) -> None:
    decision = decided(frozen([pod_group(**spec), *workers()]), "train-0")
    if unread:
        assert (decision.reason, decision.detail) == (Reason.UNREAD_RULES, unread)
    else:
        assert decision.outcome is Outcome.PREEMPT


def test_its_priority_is_that_of_its_class_or_of_its_pods() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 70}
    pods = workers()
    for one in pods:
        one["spec"]["priority"] = 5
    key = ("ns", "volcano:train")
    assert frozen([high, pod_group(priorityClassName="high"), *pods]).groups[key].priority == 70
    assert frozen([pod_group(), *pods]).groups[key].priority == 5


# All of them


def test_groups_of_one_name_and_different_kinds_are_different_groups() -> None:
    of_kubernetes = {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "ns"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
    }
    other = manifest("other", scheduler="default-scheduler")
    other["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    at = frozen([of_kubernetes, pod_group(), other, *workers()])
    assert {group.kind: group.needed for group in at.groups.values()} == {
        GroupKind.POD_GROUP: 2,
        GroupKind.VOLCANO: 3,
    }
    assert decided(at, "other").reason is Reason.TOO_FEW_MEMBERS
    assert decided(at, "train-0").outcome is Outcome.PREEMPT


@pytest.mark.parametrize("objects", [application(), [pod_group(), *workers()]])
def test_kube_scheduler_does_not_know_them(objects: list[Manifest]) -> None:
    """Its rules see single pods, whose own priority counts."""
    at = frozen(objects)
    assert at.groups
    for decision in decisions(at, "priority", "kube-scheduler-1.37"):
        assert not decision.group
        assert decision.reason not in (Reason.NO_GROUP, Reason.DECIDED_WITH)


@pytest.mark.parametrize("objects", [application("gangSchedulingStyle=Hard"), [pod_group(), *workers()]])
def test_they_are_written_and_read_as_they_were(objects: list[Manifest]) -> None:
    state = read(objects)
    again = cluster_state(list(manifests(state))).state
    assert again.pod_groups == state.pod_groups
    assert again.snapshot(TREE, now_ms=NOW).groups == state.snapshot(TREE, now_ms=NOW).groups


@pytest.mark.parametrize("objects", [application(), [pod_group(), *workers()]])
def test_they_are_masked(objects: list[Manifest]) -> None:
    """Neither the names of the groups nor those of task groups are left, and the decisions are the same."""
    state, tree_of_queues = read(objects), TREE
    masked = mask_names(state, PassInputs(now_ms=NOW), tree_of_queues)
    text = msgspec.json.encode(list(manifests(masked.state))).decode()
    assert not any(name in text for name in ("spark-1", "executor", "train"))
    before, after = (
        outcomes(one.snapshot(shape, now_ms=NOW), shape)
        for one, shape in ((state, tree_of_queues), (masked.state, masked.tree))
    )
    assert before == after


def outcomes(at: Snapshot, shape: QueueTree) -> list[tuple[Outcome, Reason, int]]:
    """How each decision ends, whatever the names."""
    decide = policy("fence", "design")
    found = [decide(at, shape, ask) for ask in at.asks]
    return sorted((one.outcome, one.reason, len(one.victims)) for one in found)

"""Groups of pods are read from every version of the API that was served with them."""

from typing import Any

import msgspec
import pytest

from engine.explain.group_kinds import about_group
from engine.formats.kubernetes.decode import cluster_state
from engine.formats.kubernetes.placeholders import unread_group
from engine.formats.kubernetes.writing.manifests import manifests
from engine.model.decision import GroupFacts
from engine.model.objects import DisruptionMode, SchedulingGroup
from engine.model.queue_tree import ROOT_ONLY
from engine.model.snapshot import ClusterState


def group(spec: dict[str, Any], *, api: str = "scheduling.k8s.io/v1beta1", **more: Any) -> SchedulingGroup | None:
    """The one group of a cluster, if it was read as one."""
    meta = {"name": "workers", "namespace": "ml"}
    found = {"apiVersion": api, "kind": "PodGroup", "metadata": meta, "spec": spec, **more}
    return cluster_state([found]).state.scheduling_groups.get(("ml", "workers"))


@pytest.mark.parametrize(
    ("api", "mode", "expected"),
    [
        ("scheduling.k8s.io/v1beta1", {"all": {}}, DisruptionMode.ALL),
        ("scheduling.k8s.io/v1beta1", {"single": {}}, DisruptionMode.SINGLE),
        ("scheduling.k8s.io/v1beta1", None, DisruptionMode.SINGLE),
        ("scheduling.k8s.io/v1alpha3", {"all": {}}, DisruptionMode.ALL),
        ("scheduling.k8s.io/v1alpha2", "PodGroup", DisruptionMode.ALL),
        ("scheduling.k8s.io/v1alpha2", "Pod", DisruptionMode.SINGLE),
    ],
)
def test_whether_its_pods_go_together(api: str, mode: Any, expected: DisruptionMode) -> None:
    found = group({"disruptionMode": mode}, api=api)
    assert found is not None
    assert found.disruption_mode is expected


@pytest.mark.parametrize(
    ("policy", "count", "needed"), [({"gang": {"minCount": 4}}, 4, 4), ({"basic": {}}, None, 1), (None, None, 1)]
)
def test_how_many_of_its_pods_must_run_together(policy: Any, count: int | None, needed: int) -> None:
    found = group({"schedulingPolicy": policy})
    assert found is not None
    assert (found.min_count, found.needed) == (count, needed)


def test_its_priority() -> None:
    found = group({"priority": 500, "priorityClassName": "batch"})
    assert found is not None
    assert (found.priority, found.priority_class) == (500, "batch")


@pytest.mark.parametrize(
    "spec",
    [
        {"parentCompositePodGroupName": "tree"},
        {"schedulingConstraints": {"topology": [{"key": "zone"}]}},
        {"resourceClaims": [{"name": "gpus"}]},
    ],
)
def test_that_it_has_rules_that_are_not_evaluated(spec: dict[str, Any]) -> None:
    found = group(spec)
    assert found is not None
    assert found.unread_rules == tuple(spec)


@pytest.mark.parametrize(
    ("conditions", "scheduled", "message"),
    [
        ([], None, ""),
        ([{"type": "PodGroupInitiallyScheduled", "status": "True", "message": "placed"}], True, ""),
        (
            [{"type": "PodGroupInitiallyScheduled", "status": "False", "message": "minCount (4) …"}],
            False,
            "minCount (4) …",
        ),
        ([{"type": "DisruptionTarget", "status": "True"}], None, ""),
    ],
)
def test_what_the_scheduler_says_of_it(conditions: list[dict[str, str]], scheduled: bool | None, message: str) -> None:
    found = group({}, status={"conditions": conditions})
    assert found is not None
    assert (found.scheduled, found.unschedulable_message) == (scheduled, message)


@pytest.mark.parametrize(
    "conditions", [[], [{"type": "PodGroupInitiallyScheduled", "status": "False", "message": "m"}]]
)
def test_its_manifest_is_read_as_it_was(conditions: list[dict[str, str]]) -> None:
    found = group({"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 5}, status={"conditions": conditions})
    assert found is not None
    state = ClusterState()
    for one in (found, msgspec.structs.replace(found, unread=True)):
        state.scheduling_groups["ml", "workers"] = one
        assert cluster_state(manifests(state)).state.scheduling_groups == {("ml", "workers"): one}


@pytest.mark.parametrize(
    "spec",
    [
        {"workloadRef": {"workloadName": "training", "templateName": "workers"}},
        {"podGroupTemplateRef": {"workload": {"workloadName": "training", "podGroupTemplateName": "workers"}}},
    ],
)
def test_the_workload_that_it_was_made_for(spec: dict[str, Any]) -> None:
    found = group(spec)
    assert found is not None
    assert found.workload == "training"


def composite(name: str, policy: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A CompositePodGroup, as 1.37 serves it."""
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "CompositePodGroup",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"workloadRef": {"workloadName": "w"}, "schedulingPolicy": policy, **spec},
    }


def test_the_composite_groups_that_it_is_part_of_are_told_and_their_rules_are_not_read() -> None:
    member = {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "PodGroup",
        "metadata": {"name": "workers", "namespace": "ml"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "parentCompositePodGroupName": "replica-0"},
    }
    above = composite("root", {"basic": {}}, priority=7)
    gang = {"gang": {"minGroupCount": 2}}
    nearest = composite("replica-0", gang, parentCompositePodGroupName="root", disruptionMode={"all": {}})
    state = cluster_state([member, above, nearest]).state
    assert cluster_state(list(manifests(state))).state.composite_groups == state.composite_groups
    found = state.snapshot(ROOT_ONLY, now_ms=0).groups["ml", "workers"]
    assert found.unread_rules == ("parentCompositePodGroupName",)
    assert [str(message) for message in about_group(GroupFacts.of(found))] == [
        "The group is part of the composite group replica-0, which needs 2 of its groups at once.",
        "The group is part of the composite group root, whose groups may start one after the other.",
    ]
    assert [(one.priority, one.disruption_mode) for one in found.composites] == [
        (0, DisruptionMode.ALL),
        (7, DisruptionMode.SINGLE),
    ]


def test_composite_groups_in_a_circle_are_told_up_to_the_deepest_level() -> None:
    member = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "workers", "namespace": "ml"},
        "spec": {"parentCompositePodGroupName": "a"},
    }
    a, b = (
        composite(name, {"basic": {}}, parentCompositePodGroupName=parent) for name, parent in (("a", "b"), ("b", "a"))
    )
    state = cluster_state([member, a, b]).state
    found = state.snapshot(ROOT_ONLY, now_ms=0).groups["ml", "workers"]
    assert [one.name for one in found.composites] == ["a", "b", "a", "b"]


def test_one_that_can_not_be_read_is_kept_as_it_was_and_marked() -> None:
    """One that was never read has the highest priority, so that none of its pods is a victim."""
    data = msgspec.json.encode({"metadata": {"name": "workers", "namespace": "ml"}, "spec": "odd"})
    known = group({"priority": 5})
    assert unread_group(data, known) == msgspec.structs.replace(known, unread=True)  # type: ignore[type-var]
    never = unread_group(data, None)
    assert (never.key, never.unread, never.priority) == ("ml/workers", True, 2**31 - 1)
    odd = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", **msgspec.json.decode(data)}
    found = cluster_state([odd])
    assert (found.state.scheduling_groups, len(found.unread)) == ({("ml", "workers"): never}, 1)


def test_a_group_of_volcano_is_another_kind() -> None:
    assert group({}, api="scheduling.volcano.sh/v1beta1") is None

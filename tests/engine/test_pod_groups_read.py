"""Groups of pods are read from every version of the API that was served with them."""

from typing import Any

import pytest

from engine.formats.kubernetes.decode import cluster_state
from engine.model.objects import DisruptionMode, SchedulingGroup


def group(spec: dict[str, Any], *, api: str = "scheduling.k8s.io/v1beta1") -> SchedulingGroup | None:
    """The one group of a cluster, if it was read as one."""
    found = {"apiVersion": api, "kind": "PodGroup", "metadata": {"name": "workers", "namespace": "ml"}, "spec": spec}
    return cluster_state([found]).state.scheduling_groups.get(("ml", "workers"))


@pytest.mark.parametrize(
    ("api", "mode", "expected"),
    [
        ("scheduling.k8s.io/v1beta1", {"all": {}}, DisruptionMode.ALL),
        ("scheduling.k8s.io/v1beta1", {"single": {}}, DisruptionMode.SINGLE),
        ("scheduling.k8s.io/v1beta1", None, DisruptionMode.SINGLE),
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


def test_a_group_of_volcano_is_another_kind() -> None:
    assert group({}, api="scheduling.volcano.sh/v1beta1") is None

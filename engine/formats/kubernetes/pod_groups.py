"""Conversion of the PodGroups of scheduling.k8s.io, in every version that was served with them so far."""

from collections.abc import Mapping
from sys import intern
from typing import Any

from engine.formats.kubernetes.convert import LONGEST_MESSAGE, to_ms
from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import Condition, ObjectMeta, Presence, Wire
from engine.formats.untrusted_text import kept_text
from engine.model.objects.pod_groups import CompositeGroup, DisruptionMode, SchedulingGroup

API_GROUP = "scheduling.k8s.io"
SCHEDULED = "PodGroupInitiallyScheduled"
"""The condition in which kube-scheduler says whether it could place a group."""
KIND = f"PodGroup.{API_GROUP}"
"""The kind with its API group: Volcano has PodGroups too."""


class GangObject(Wire, frozen=True):
    min_count: int | None = None


class SchedulingPolicyObject(Wire, frozen=True):
    gang: GangObject | None = None
    basic: Presence | None = None


class DisruptionModes(Wire, frozen=True):
    """The modes of v1beta1, of which one is present."""

    all: Presence | None = None
    single: Presence | None = None


class WorkloadReference(Wire, frozen=True):
    workload_name: str | None = None


class TemplateReference(Wire, frozen=True):
    """The reference to a Workload as v1alpha2 has it."""

    workload: WorkloadReference | None = None


class SchedulingGroupSpec(Wire, frozen=True):
    scheduling_policy: SchedulingPolicyObject | None = None
    disruption_mode: DisruptionModes | str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    scheduling_constraints: Any = None
    resource_claims: tuple[Presence, ...] | None = None
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    pod_group_template_ref: TemplateReference | None = None


class SchedulingGroupStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class SchedulingGroupObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: SchedulingGroupSpec | None = None
    status: SchedulingGroupStatus | None = None


class CompositeGangObject(Wire, frozen=True):
    min_group_count: int | None = None


class CompositePolicyObject(Wire, frozen=True):
    gang: CompositeGangObject | None = None


class CompositeGroupSpec(Wire, frozen=True):
    scheduling_policy: CompositePolicyObject | None = None
    disruption_mode: DisruptionModes | None = None
    priority: int | None = None
    parent_composite_pod_group_name: str | None = None


class CompositeGroupObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: CompositeGroupSpec | None = None


def to_scheduling_group(group: SchedulingGroupObject) -> SchedulingGroup:
    """Convert a PodGroup of scheduling.k8s.io. Raise ValueError for a missing name."""
    meta, spec = group.metadata, group.spec or SchedulingGroupSpec()
    if not meta.name:
        raise ValueError("it has no metadata.name")
    gang = spec.scheduling_policy.gang if spec.scheduling_policy else None
    scheduled = _scheduled(group.status)
    return SchedulingGroup(
        namespace=intern(meta.namespace or "default"),
        name=intern(meta.name),
        uid=meta.uid or "",
        created_ms=0 if meta.creation_timestamp is None else to_ms(meta.creation_timestamp),
        min_count=None if gang is None else gang.min_count or 1,
        disruption_mode=_disruption_mode(spec.disruption_mode),
        priority=spec.priority or 0,
        priority_class=intern(spec.priority_class_name or ""),
        unread_rules=_unread_rules(spec),
        scheduled=None if scheduled is None else scheduled.status == "True",
        unschedulable_message=_message(scheduled),
        parent=spec.parent_composite_pod_group_name or "",
        workload=_workload(spec),
    )


def to_composite_group(group: CompositeGroupObject) -> CompositeGroup:
    """Convert a CompositePodGroup of scheduling.k8s.io. Raise ValueError for a missing name."""
    meta, spec = group.metadata, group.spec or CompositeGroupSpec()
    if not meta.name:
        raise ValueError("it has no metadata.name")
    gang = spec.scheduling_policy.gang if spec.scheduling_policy else None
    return CompositeGroup(
        namespace=intern(meta.namespace or "default"),
        name=intern(meta.name),
        parent=spec.parent_composite_pod_group_name or "",
        min_groups=None if gang is None else gang.min_group_count or 1,
        disruption_mode=_disruption_mode(spec.disruption_mode),
        priority=spec.priority or 0,
    )


def _workload(spec: SchedulingGroupSpec) -> str:
    template = spec.pod_group_template_ref
    reference = spec.workload_ref or (template.workload if template else None)
    return (reference.workload_name or "") if reference else ""


def _scheduled(status: SchedulingGroupStatus | None) -> Condition | None:
    conditions = status.conditions or () if status else ()
    return next((one for one in conditions if one.type == SCHEDULED), None)


def _message(scheduled: Condition | None) -> str:
    if scheduled is None or scheduled.status == "True":
        return ""
    return kept_text(scheduled.message, LONGEST_MESSAGE)


def _disruption_mode(mode: DisruptionModes | str | None) -> DisruptionMode:
    """Return the mode: v1beta1 has an object in which one is present, v1alpha2 had the words Pod and PodGroup."""
    together = mode == "PodGroup" if isinstance(mode, str) else mode is not None and mode.all is not None
    return DisruptionMode.ALL if together else DisruptionMode.SINGLE


def _unread_rules(spec: SchedulingGroupSpec) -> tuple[str, ...]:
    rules = {
        "parentCompositePodGroupName": spec.parent_composite_pod_group_name,
        "schedulingConstraints": spec.scheduling_constraints,
        "resourceClaims": spec.resource_claims,
    }
    return tuple(name for name, value in rules.items() if value)


SCHEDULING_GROUP_READER = Reader(KIND, SchedulingGroupObject, to_scheduling_group)
COMPOSITE_GROUP_READER = Reader("CompositePodGroup", CompositeGroupObject, to_composite_group)


def is_scheduling_group(obj: Mapping[str, Any]) -> bool:
    """Return whether an object of the kind PodGroup is of scheduling.k8s.io, and not Volcano's."""
    return str(obj.get("apiVersion")).startswith(f"{API_GROUP}/")

"""Conversion of Volcano's PodGroups."""

from collections.abc import Mapping
from typing import Any

from engine.formats.kubernetes.convert import to_ms
from engine.formats.kubernetes.reader import Reader
from engine.formats.volcano import wire
from engine.model.objects import PodGroup

_GROUP = "scheduling.volcano.sh"
API_VERSION = f"{_GROUP}/v1beta1"
DEFAULT_QUEUE = "default"


def to_group(group: wire.PodGroupObject) -> PodGroup:
    """Convert a PodGroup from its wire form."""
    meta, spec, status = group.metadata, group.spec, group.status or wire.PodGroupStatus()
    return PodGroup(
        namespace=meta.namespace or "default",
        name=meta.name or "",
        queue=spec.queue or DEFAULT_QUEUE,
        uid=meta.uid or "",
        min_member=spec.min_member or 0,
        min_task_members=sum((spec.min_task_member or {}).values()),
        succeeded=status.succeeded or 0,
        priority_class=spec.priority_class_name or "",
        created_ms=to_ms(meta.creation_timestamp) if meta.creation_timestamp else 0,
        enqueued=status.phase not in (None, "", "Pending"),
        unread_rules=_unread_rules(spec),
    )


def _unread_rules(spec: wire.PodGroupFields) -> tuple[str, ...]:
    policies = spec.sub_group_policy or ()
    rules = {
        "networkTopology": spec.network_topology,
        "subGroupPolicy": any(policy.min_sub_groups or policy.network_topology for policy in policies),
    }
    return tuple(name for name, value in rules.items() if value)


def is_volcano_group(obj: Mapping[str, Any]) -> bool:
    """Return whether an object of the kind PodGroup is Volcano's: other schedulers have that kind too."""
    return str(obj.get("apiVersion")).startswith(f"{_GROUP}/")


GROUP_READER = Reader("PodGroup", wire.PodGroupObject, to_group)

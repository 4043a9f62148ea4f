"""Volcano's objects in their wire form, reduced to the fields that affect shares.

Source: volcano.sh/apis, scheduling/v1beta1; for the configuration, Volcano's pkg/scheduler/conf.
"""

from typing import Any

from engine.formats.kubernetes.wire import ObjectMeta, Quantities, Wire


class Guarantee(Wire, frozen=True):
    resource: Quantities | None = None


class QueueFields(Wire, frozen=True):
    parent: str | None = None
    weight: int | None = None
    priority: int | None = None
    capability: Quantities | None = None
    guarantee: Guarantee | None = None
    deserved: Quantities | None = None
    reclaimable: bool | None = None


class QueueStatus(Wire, frozen=True):
    state: str | None = None


class QueueObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: QueueFields = QueueFields()
    status: QueueStatus | None = None


class SubGroupPolicy(Wire, frozen=True):
    min_sub_groups: int | None = None
    network_topology: Any = None


class PodGroupFields(Wire, frozen=True):
    queue: str | None = None
    min_member: int | None = None
    min_task_member: dict[str, int] | None = None
    priority_class_name: str | None = None
    network_topology: Any = None
    sub_group_policy: tuple[SubGroupPolicy, ...] | None = None


class PodGroupStatus(Wire, frozen=True):
    phase: str | None = None
    succeeded: int | None = None


class PodGroupObject(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupFields = PodGroupFields()
    status: PodGroupStatus | None = None


class PluginFields(Wire, frozen=True):
    """Fields of a plugin in the configuration, which is YAML with these same field names."""

    name: str = ""
    enable_hierarchy: bool | None = None
    arguments: dict[str, Any] | None = None


class TierObject(Wire, frozen=True):
    plugins: tuple[PluginFields, ...] | None = None


class Configuration(Wire, frozen=True):
    tiers: tuple[TierObject, ...] | None = None

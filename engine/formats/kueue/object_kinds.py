"""The kinds of objects in which a cluster keeps Kueue's queue tree."""

from engine.formats.kueue.preemption_rules import REMOVABLE_FIELD, rule_fields
from engine.formats.kueue.queue_names import CLUSTER_QUEUE, COHORT, GROUP, LOCAL_QUEUE, parent_field
from engine.formats.tree_objects import Family, TreeObject
from engine.formats.yaml.object_list import Object


def _decided(obj: TreeObject) -> tuple[str, ...]:
    if obj.kind == LOCAL_QUEUE:
        return ("clusterQueue",)
    return ("resourceGroups", parent_field(Object(obj.body)), *sorted(rule_fields(obj.kind)))


KUEUE = Family(
    group=GROUP,
    versions=("v1beta2", "v1beta1", "v1alpha1"),
    resources={COHORT: "cohorts", CLUSTER_QUEUE: "clusterqueues", LOCAL_QUEUE: "localqueues"},
    anchor=CLUSTER_QUEUE,
    decided=_decided,
    inside=REMOVABLE_FIELD,
)

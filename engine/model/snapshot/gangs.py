"""The groups of a snapshot, of whichever kind: those that kube-scheduler knows, and those of Volcano and YuniKorn.

Of Volcano's PodGroups and YuniKorn's applications only those are groups that pods wait for: pods that run are evicted
one by one, as these schedulers know no other way.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.roster import Roster
from engine.model.objects.kubernetes import YUNIKORN_SCHEDULER, Pod, PriorityClass
from engine.model.objects.pod_groups import (
    CompositeGroup,
    GroupKind,
    SchedulingGroup,
    group_reference,
    referenced_group,
)
from engine.model.objects.volcano import PodGroup
from engine.model.snapshot.eviction_units import units_of
from engine.model.snapshot.queue_assignment import application_of
from engine.model.snapshot.snapshot import Snapshot

Groups = dict[tuple[str, str], SchedulingGroup]
"""Groups by namespace and reference."""
_DEEPEST = 4
"""How many levels of composite groups the API server allows."""


def with_composites(groups: Groups, composites: Mapping[tuple[str, str], CompositeGroup]) -> Groups:
    """Return the groups with the composite groups that they are part of."""
    found = dict(groups)
    for key, group in groups.items():
        if group.parent:
            above = tuple(_ancestors(group, composites))
            found[key] = msgspec.structs.replace(group, composites=above)
    return found


def _ancestors(
    group: SchedulingGroup, composites: Mapping[tuple[str, str], CompositeGroup]
) -> Iterator[CompositeGroup]:
    parent = group.parent
    for _ in range(_DEEPEST):
        found = composites.get((group.namespace, parent))
        if found is None:
            return
        yield found
        parent = found.parent


def waited_for(
    roster: Roster, pod_groups: Mapping[tuple[str, str], PodGroup], classes: Mapping[str, PriorityClass]
) -> Groups:
    """Return the groups of Volcano and YuniKorn with a pod that wants a node."""
    groups: Groups = {}
    for (namespace, reference), members in _members_of_waiting(roster).items():
        kind, name = referenced_group(reference)
        pod_group = pod_groups.get((namespace, name))
        group = _application(namespace, name, members) if kind is GroupKind.YUNIKORN else None
        if kind is GroupKind.VOLCANO and pod_group is not None:
            group = _of_volcano(pod_group, members, classes)
        if group is not None:
            groups[namespace, reference] = group
    return groups


def _members_of_waiting(roster: Roster) -> dict[tuple[str, str], list[Pod]]:
    """Return the pods, bound or not, of each group of another scheduler that has a pod without a node."""
    wanted = {
        (pod.namespace, pod.scheduling_group)
        for pod in roster.elsewhere
        if pod.node is None and referenced_group(pod.scheduling_group)[0] is not GroupKind.POD_GROUP
    }
    if not wanted:
        return {}
    coded = roster.coded(pod_fields.scheduling_group)
    flagged = np.zeros(len(coded.each), np.bool_)
    flagged[[coded.numbers[key] for key in wanted]] = True
    found: dict[tuple[str, str], list[Pod]] = {key: [] for key in sorted(wanted)}
    for pod in roster.at(np.flatnonzero(flagged[coded.of])):
        found[pod.namespace, pod.scheduling_group].append(pod)
    return found


def _application(namespace: str, name: str, placeholders: Sequence[Pod]) -> SchedulingGroup | None:
    """Return an application of which a placeholder waits for a node; None: it is no gang any more.

    YuniKorn lets none of its other pods start before every placeholder has a node. The oldest one states how many
    there are of each task group.
    """
    first = min(placeholders, key=lambda pod: (pod.created_ms, pod.name))
    if not first.task_groups or not any(_wants_node(pod) for pod in placeholders):
        return None
    return SchedulingGroup(
        kind=GroupKind.YUNIKORN,
        namespace=namespace,
        name=name,
        created_ms=first.created_ms,
        min_count=sum(group.min_member for group in first.task_groups),
        priority=min(pod.priority for pod in placeholders),
        priority_class=first.priority_class,
        task_groups=first.task_groups,
        hard=first.hard_gang,
    )


def _of_volcano(group: PodGroup, members: Sequence[Pod], classes: Mapping[str, PriorityClass]) -> SchedulingGroup:
    """Return a PodGroup of Volcano; one that needs fewer than two pods at once lets them start one by one.

    Source: JobInfo.IsReady, CheckTaskReady and ReadyTaskNum of Volcano (pkg/scheduler/api, job_info.go).
    """
    needed = group.min_member - group.succeeded
    own = classes.get(group.priority_class)
    return SchedulingGroup(
        kind=GroupKind.VOLCANO,
        namespace=group.namespace,
        name=group.name,
        uid=group.uid,
        created_ms=group.created_ms,
        min_count=needed if needed > 1 else None,
        priority=min(pod.priority for pod in members) if own is None else own.value,
        priority_class=group.priority_class,
        unread_rules=_unread_rules(group, len(members)),
    )


def _unread_rules(group: PodGroup, members: int) -> tuple[str, ...]:
    """Return the rules of a PodGroup that matter and are not evaluated.

    The minimum of each task does not matter if it demands more pods than the whole group does, which Volcano ignores,
    nor if all pods of the group are needed anyway.
    """
    by_task = 0 < group.min_task_members <= group.min_member < members + group.succeeded
    return (*group.unread_rules, "minTaskMember") if by_task else group.unread_rules


def _wants_node(pod: Pod) -> bool:
    return pod.node is None and not pod.terminating


def placeholder_for(snapshot: Snapshot, pod: Pod) -> Pod | None:
    """Return the placeholder that keeps a pending pod waiting, or whose place the pod takes; None: there is none.

    YuniKorn starts no pod of an application while placeholders of it wait for a node. Later a pod takes the place of a
    placeholder of its task group, and needs no room of its own.

    Source: Application.Schedule of yunikorn-k8shim, and Application.canReplace of yunikorn-core.
    """
    reference = group_reference(GroupKind.YUNIKORN, application_of(pod, YUNIKORN_SCHEDULER))
    if pod.scheduler != YUNIKORN_SCHEDULER or pod.scheduling_group == reference:
        return None
    waiting = snapshot.once("waiting placeholders", None, lambda: _waiting_placeholders(snapshot))
    found = waiting.get((pod.namespace, reference))
    if found is not None or not pod.task_group:
        return found
    return next(_replaceable(snapshot, pod, reference), None)


def _waiting_placeholders(snapshot: Snapshot) -> dict[tuple[str, str], Pod]:
    """Return one of the placeholders without a node of each application, by namespace and reference."""
    pods = (pod for pod in snapshot.unbound if pod.task_groups and _wants_node(pod))
    return {(pod.namespace, pod.scheduling_group): pod for pod in pods}


def _replaceable(snapshot: Snapshot, pod: Pod, reference: str) -> Iterator[Pod]:
    """Yield the placeholders with a node that are of the task group of a pod."""
    columns, units = snapshot.columns, units_of(snapshot)
    for row in units.named(pod.namespace, reference).tolist():
        other = columns.pods[row]
        if other.task_group == pod.task_group and not other.terminating:
            yield other

"""Judge the tiers of a pending pod where groups of pods are decided as a whole."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np

from engine.feasibility import unsupported_rules
from engine.model.objects import Pod, SchedulingGroup
from engine.model.pending_reasons import Need, Tier, TierName
from engine.model.quantities import PODS
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import names_pod_group, pod_group_of, units_of
from engine.policies.common import nearest_node
from engine.policies.common.policy_types import MAKES_ROOM, PolicyTiers
from engine.policies.priority import pending_tiers
from engine.policies.priority.groups.attempt import GroupAttempt, waiting_members
from engine.policies.priority.groups.decision import decide_with_groups
from engine.policies.priority.parameters import Parameters


def judge(snapshot: Snapshot, ask: Pod) -> tuple[Tier, ...]:
    """Return every tier of a pending pod: its group's, or its own if it is in none."""
    if not names_pod_group(ask):
        return pending_tiers.judge(snapshot, ask, units_of(snapshot))
    group = pod_group_of(snapshot, ask)
    if group is None:
        return (Tier(name=TierName.GROUP, passes=False, shut=ask.scheduling_group),)
    attempt = GroupAttempt(_without_reservations(snapshot.asking(ask), group), group)
    rules = (*group.unread_rules, *(rule for pod in attempt.waiting for rule in unsupported_rules(snapshot, pod)))
    if rules or group.unread or any(pod.unread for pod in attempt.waiting):
        return ()
    return (_existing(attempt), *_gates(attempt), _priority(attempt), _nodes(attempt))


def _without_reservations(snapshot: Snapshot, group: SchedulingGroup) -> Snapshot:
    for pod in waiting_members(snapshot, group):
        snapshot = snapshot.without_reservation(pod.uid)
    return snapshot


def _existing(attempt: GroupAttempt) -> Tier:
    need = Need(resource=PODS, required=attempt.group.needed, available=attempt.existing)
    odd = attempt.odd_member
    if odd is not None and not need.missing:
        return Tier(name=TierName.GROUP, passes=False, needs=(need,), shut=odd.name)
    return Tier.of(TierName.GROUP, [need])


def _gates(attempt: GroupAttempt) -> Iterator[Tier]:
    if (gated := attempt.gated_member) is not None:
        yield Tier(name=TierName.GROUP_GATES, passes=False, shut=gated.name)


def _priority(attempt: GroupAttempt) -> Tier:
    never = next((pod for pod in attempt.waiting if pod.never_preempts), None)
    pods = 0 if never else int(np.count_nonzero(attempt.lower))
    return Tier.of(
        TierName.PRIORITY,
        [Need(resource=PODS, required=1, available=pods)],
        shut=(never.priority_class or "Never") if never else "",
        held=nearest_node.held(attempt.columns, attempt.waiting[0], attempt.lower) if pods else {},
    )


def _nodes(attempt: GroupAttempt) -> Tier:
    free = attempt.place()
    made = free if free.enough else attempt.place(attempt.departing)
    need = Need(
        resource=PODS,
        required=max(attempt.group.needed, len(attempt.bound) + 1),
        available=free.scheduled,
        evictable=max(0, made.scheduled - free.scheduled),
    )
    return Tier(name=TierName.GROUP_NODES, passes=made.enough, needs=(need,))


def tiers_by(parameters: Mapping[str, Any]) -> PolicyTiers:
    """Return the tiers for a revision's parameters. Raises msgspec.ValidationError."""
    own = msgspec.convert(dict(parameters), Parameters)

    def judged(snapshot: Snapshot, _tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return judge(snapshot, ask)

    return PolicyTiers(judge=judged, gets_room=partial(_gets_room, parameters=own), ranks=True, quick=False)


def _gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod, *, parameters: Parameters) -> bool:
    """Return whether the pod, or its group, gets room by a decision."""
    group = pod_group_of(snapshot, ask)
    if group is not None:
        snapshot = snapshot.asking(ask)
        ask = waiting_members(snapshot, group)[0]
    return decide_with_groups(snapshot, tree, ask, parameters).outcome in MAKES_ROOM

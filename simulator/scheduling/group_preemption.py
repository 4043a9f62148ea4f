"""The preemption of a group of pods, which the engine decides as kube-scheduler 1.37 does, with its messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import msgspec

from engine.model.decision import Decision, Outcome, PodFacts, PodReason, Reason
from engine.model.objects import Pod, SchedulingGroup
from engine.model.snapshot import Snapshot
from engine.policies.priority.groups import decide_group
from simulator.scheduling import wording
from simulator.scheduling.occupancy import with_name_as_uid


@dataclass(frozen=True, slots=True)
class GroupPreemption:
    """The nodes to make room on for the members of a group, and the victims."""

    nodes: Mapping[str, str] = field(default_factory=dict)
    """Key of a member -> its node."""
    victims: tuple[PodFacts, ...] = ()
    """The pods to evict; those that are terminating already are left out."""
    message: str = ""
    """What is added to the message why the group is not bound."""
    is_going_on: bool = False
    """Whether pods are evicted for the group now, or were and are still terminating."""


def find_group_preemption(snapshot: Snapshot, group: SchedulingGroup, members: Sequence[Pod]) -> GroupPreemption:
    """Return what a group preempts whose waiting members do not fit."""
    pending = {pod.key: with_name_as_uid(pod) for pod in members}
    others = (pod for pod in snapshot.pods if pod.key not in pending)
    pods = sorted((*others, *pending.values()), key=attrgetter("namespace", "name"))
    decision = decide_group(msgspec.structs.replace(snapshot, pods=tuple(pods)), group)
    message = _message(decision)
    if decision.outcome is not Outcome.PREEMPT:
        return GroupPreemption(message=message, is_going_on=decision.reason is Reason.WAITING_FOR_VICTIMS)
    victims = tuple(victim.pod for victim in decision.victims if victim.reason is not PodReason.TERMINATING)
    return GroupPreemption(decision.nodes, victims, message, is_going_on=True)


def _message(decision: Decision) -> str:
    group = decision.group
    if decision.outcome is Outcome.PREEMPT:
        return wording.group_preempts(len(decision.victims))
    match decision.reason:
        case Reason.WAITING_FOR_VICTIMS:
            return wording.GROUP_WAITS_FOR_VICTIMS
        case Reason.NEVER:
            return wording.no_group_preemption(wording.NEVER)
        case Reason.NO_CANDIDATES:
            return wording.NO_GROUP_VICTIMS
        case Reason.NO_ROOM if group:
            return wording.no_group_preemption(wording.too_few(group.needed, group.scheduled, group.untried))
    return ""

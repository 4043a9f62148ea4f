"""By which rules an ask is judged: those of the policy and dialect that it waits under, its delay over."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from engine.decision import Decision, Outcome
from engine.policies import Decide, cohort, fence, policy, priority, yunikorn
from engine.queues import QueueTree
from engine.snapshot import Pod, Snapshot
from engine.waiting import fence_tiers, priority_tiers, quota_tiers, yunikorn_tiers
from engine.waiting.results import Tier

_ROOM = (Outcome.FITS, Outcome.PREEMPT)


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """One way to judge."""

    judge: Callable[[Snapshot, QueueTree, Pod], tuple[Tier, ...]]
    """Every tier, without remedies."""
    gets_room: Callable[[Snapshot, QueueTree, Pod], bool]
    """Whether there is room, or is made."""


def _design(parameters: Mapping[str, Any]) -> Rules:
    last_resort = msgspec.convert(dict(parameters), fence.Parameters).last_resort

    def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return fence_tiers.judge(snapshot, tree, ask, last_resort=last_resort)

    return Rules(judge=judge, gets_room=_room_by(_at_once(fence.DIALECT, parameters)))


def _yunikorn(parameters: Mapping[str, Any]) -> Rules:
    decide = _at_once(yunikorn.DIALECT, parameters)

    def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return yunikorn_tiers.judge(snapshot, tree, ask, decide)

    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        return yunikorn_tiers.room(snapshot, tree, ask, decide).node is not None

    return Rules(judge=judge, gets_room=gets_room)


def _priority(parameters: Mapping[str, Any]) -> Rules:
    decide = policy(priority.POLICY, priority.DIALECT, parameters)

    def judge(snapshot: Snapshot, _tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return priority_tiers.judge(snapshot, ask)

    return Rules(judge=judge, gets_room=_room_by(decide))


def _cohort(parameters: Mapping[str, Any]) -> Rules:
    return _quota(cohort.ByQuota(msgspec.convert(dict(parameters), cohort.Parameters)))


def _fair_share(parameters: Mapping[str, Any]) -> Rules:
    return _quota(cohort.ByQuota(msgspec.convert(dict(parameters), cohort.FairParameters)))


def _quota(by: cohort.ByQuota) -> Rules:
    def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return quota_tiers.judge(snapshot, tree, ask, by)

    return Rules(judge=judge, gets_room=_room_by(by))


def _at_once(dialect: str, parameters: Mapping[str, Any]) -> Decide:
    return policy(fence.POLICY, dialect, {**parameters, "check_delay": False})


def _room_by(decide: Decide) -> Callable[[Snapshot, QueueTree, Pod], bool]:
    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        found: Decision = decide(snapshot, tree, ask)
        return found.outcome in _ROOM

    return gets_room


RULES: dict[tuple[str, str], Callable[[Mapping[str, Any]], Rules]] = {
    (fence.POLICY, fence.DIALECT): _design,
    (fence.POLICY, yunikorn.DIALECT): _yunikorn,
    (priority.POLICY, priority.DIALECT): _priority,
    (cohort.POLICY, cohort.DIALECT): _cohort,
    (cohort.FAIR_SHARE, cohort.DIALECT): _fair_share,
}
"""Policy and dialect -> the rules with a revision's parameters; msgspec.ValidationError for those that it lacks."""

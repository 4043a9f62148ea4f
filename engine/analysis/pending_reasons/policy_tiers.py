"""By which rules an ask is judged: those of the policy and dialect that it waits under, its delay over."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from engine.analysis.pending_reasons import deserved_tiers, fence_tiers, priority_tiers, quota_tiers, yunikorn_tiers
from engine.analysis.pending_reasons.reasons import Tier
from engine.model.decision import Decision, Outcome, Reason
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import Decide, cohort, deserved, fence, policy, priority, yunikorn

_ROOM = (Outcome.FITS, Outcome.PREEMPT)


class PolicyTiers(msgspec.Struct, frozen=True, kw_only=True):
    """One way to judge."""

    judge: Callable[[Snapshot, QueueTree, Pod], Iterable[Tier]]
    """Every tier, without remedies, perhaps each only when it is asked for."""
    gets_room: Callable[[Snapshot, QueueTree, Pod], bool]
    """Whether there is room, or is made, everybody's grace over."""
    ranks: bool = True
    """Whether a higher priority may get room."""
    quick: bool = True
    """Whether nodes are looked at so fast that the least amount which does there is found by trying many."""


def _design(parameters: Mapping[str, Any]) -> PolicyTiers:
    last_resort = msgspec.convert(dict(parameters), fence.Parameters).last_resort

    def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return fence_tiers.judge(snapshot, tree, ask, last_resort=last_resort)

    return PolicyTiers(judge=judge, gets_room=_room_by(_at_once(fence.DIALECT, parameters)))


def _yunikorn(parameters: Mapping[str, Any]) -> PolicyTiers:
    decide = _at_once(yunikorn.DIALECT, parameters)

    def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return yunikorn_tiers.judge(snapshot, tree, ask, decide)

    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        return yunikorn_tiers.room(snapshot, tree, ask, decide).node is not None

    return PolicyTiers(judge=judge, gets_room=gets_room)


def _priority(parameters: Mapping[str, Any]) -> PolicyTiers:
    decide = policy(priority.POLICY, priority.DIALECT, parameters)

    def judge(snapshot: Snapshot, _tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return priority_tiers.judge(snapshot, ask)

    return PolicyTiers(judge=judge, gets_room=_room_by(decide))


def _cohort(parameters: Mapping[str, Any]) -> PolicyTiers:
    return _quota(cohort.ByQuota(msgspec.convert(dict(parameters), cohort.Parameters)))


def _fair_share(parameters: Mapping[str, Any]) -> PolicyTiers:
    return _quota(cohort.ByQuota(msgspec.convert(dict(parameters), cohort.FairParameters)))


def _quota(by: cohort.ByQuota) -> PolicyTiers:
    def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return quota_tiers.judge(snapshot, tree, ask, by)

    return PolicyTiers(judge=judge, gets_room=_room_by(by))


def _deserved(parameters: Mapping[str, Any]) -> PolicyTiers:
    by = msgspec.convert(dict(parameters), deserved.Parameters)

    def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> Iterable[Tier]:
        return deserved_tiers.judge(snapshot.asking(ask), tree, ask, by)

    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        tried = msgspec.structs.replace(ask, unschedulable_ms=ask.unschedulable_ms or 0)
        found = deserved.decide(snapshot.asking(tried), tree, tried, by)
        return found.outcome in _ROOM or found.reason is Reason.GRACE

    return PolicyTiers(judge=judge, gets_room=gets_room, ranks=bool(by.high_priority), quick=False)


def _at_once(dialect: str, parameters: Mapping[str, Any]) -> Decide:
    return policy(fence.POLICY, dialect, {**parameters, "check_delay": False})


def _room_by(decide: Decide) -> Callable[[Snapshot, QueueTree, Pod], bool]:
    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        found: Decision = decide(snapshot, tree, ask)
        return found.outcome in _ROOM

    return gets_room


RULES: dict[tuple[str, str], Callable[[Mapping[str, Any]], PolicyTiers]] = {
    (fence.POLICY, fence.DIALECT): _design,
    (fence.POLICY, yunikorn.DIALECT): _yunikorn,
    (priority.POLICY, priority.DIALECT): _priority,
    (cohort.POLICY, cohort.DIALECT): _cohort,
    (cohort.FAIR_SHARE, cohort.DIALECT): _fair_share,
    (deserved.POLICY, deserved.DIALECT): _deserved,
}
"""Policy and dialect -> the rules with a revision's parameters; msgspec.ValidationError for those that it lacks."""

"""Explain why a pod is pending, tier by tier: quota, guarantee, fence, priority and node fit.

Each tier says what is missing and the nearest remedies. Every tier is judged by itself, so a pending pod gets room
exactly if all tiers let it pass, once its delay is over. A remedy is reported only if it works when the policy and
dialect of the pending pod judge the changed case.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.analysis.pending_reasons.pending_case import PendingCase
from engine.analysis.pending_reasons.remedies import combined, remedies
from engine.analysis.pending_reasons.workloads import pending_workload_reasons
from engine.model.change import Change
from engine.model.objects import Pod
from engine.model.pending_reasons import (
    BORROWS,
    FLAVORS,
    NODES,
    WORKLOADS,
    Ahead,
    Need,
    PendingReasons,
    Reached,
    Remedy,
    Tier,
    TierName,
)
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import UnknownPolicyError, find, known_dialects

__all__ = [
    "BORROWS",
    "FLAVORS",
    "NODES",
    "WORKLOADS",
    "Ahead",
    "Change",
    "Need",
    "PendingReasons",
    "Reached",
    "Remedy",
    "Tier",
    "TierName",
    "ahead",
    "explains",
    "pending_reasons_of",
    "pending_workload_reasons",
]


def explains(policy: str, dialect: str) -> bool:
    """Return whether tiers explain why pods are pending under a policy."""
    try:
        return find(policy, dialect).pending_tiers is not None
    except UnknownPolicyError:
        return False


def pending_reasons_of(
    snapshot: Snapshot,
    tree: QueueTree,
    pod: Pod,
    policy: str,
    dialect: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> PendingReasons:
    """Return why ``pod``, a pending pod of the snapshot, waits under a policy with a revision's parameters.

    Without a dialect the policy's first is meant. Raises UnknownPolicyError for a policy that does
    not judge, msgspec.ValidationError for parameters that it does not have.
    """
    tiers_by = find(policy, dialect or known_dialects()[policy][0]).pending_tiers
    if tiers_by is None:
        raise UnknownPolicyError(policy, dialect)
    rules = tiers_by(parameters or {})
    case = PendingCase(snapshot=snapshot, tree=tree, ask=pod, rules=rules)
    tiers = tuple(
        tier if tier.passes else msgspec.structs.replace(tier, remedies=remedies(case, tier)) for tier in case.tiers()
    )
    return PendingReasons(tiers=tiers, ahead=ahead(snapshot, pod), together=_together(case, tiers))


def _together(case: PendingCase, tiers: tuple[Tier, ...]) -> bool:
    refusing = [tier for tier in tiers if not tier.passes and tier.name is not TierName.GRACE]
    if not refusing or not all(tier.remedies for tier in refusing):
        return False
    for remedy in combined(tier.remedies[0] for tier in refusing):
        case = case.with_remedy(remedy)
    return case.gets_room()


def ahead(snapshot: Snapshot, pod: Pod) -> Ahead:
    """Return how many pending pods a pass considers earlier, without those for which room is already being made."""
    reserved = {held.ask_uid for held in snapshot.reservations}
    before = [other for other in snapshot.asks if other.turn < pod.turn and other.uid not in reserved]
    return Ahead(cluster=len(before), queue=sum(other.queue == pod.queue for other in before))

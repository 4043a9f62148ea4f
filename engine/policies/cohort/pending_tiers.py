"""Judge the tiers of policies ``cohort`` and ``fair-share``, by quota alone and without looking at nodes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from engine.model.objects import Pod
from engine.model.pending_reasons import BORROWS, Need, Tier, TierName
from engine.model.quantities import PODS, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.quota import FlavorResource, Workload
from engine.model.snapshot import Snapshot
from engine.policies.cohort.flavor_assignment import Mode
from engine.policies.cohort.parameters import FairParameters, Parameters
from engine.policies.cohort.pod_decision import QuotaPolicy
from engine.policies.cohort.trace import WorkloadDecision
from engine.policies.common.policy_types import PolicyTiers, TiersBy, room_by


def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod, by: QuotaPolicy) -> tuple[Tier, ...]:
    """Return every tier; only the last one if the quota has room, none if the pod itself is not decided."""
    decided = by.workload_decision(snapshot, tree, ask)
    if decided is None:
        return ()
    if decided.verdict.mode is Mode.FIT:
        return (Tier(name=TierName.AVAILABLE, passes=True, needs=tuple(_left(decided, ()))),)
    most, disabled = Tier.of(TierName.POTENTIAL, _most(decided)), tree.disabled_by(decided.ask.queue)
    fences = [_shut(disabled)] if disabled else []
    if decided.verdict.mode is Mode.NO_FIT and most.passes:  # then no candidate is considered
        return (
            most,
            *fences,
            Tier(name=TierName.AVAILABLE, passes=False, needs=tuple(_left(decided, ())), shut=BORROWS),
        )
    going = [target.workload for target in decided.verdict.search.targets]
    left = Tier(name=TierName.AVAILABLE, passes=bool(going), needs=tuple(_left(decided, going or decided.might_go)))
    return most, *fences, _priority(decided, ask), left


def _shut(disabled: str) -> Tier:
    return Tier.of(TierName.FENCE, [Need(resource=PODS, required=1, available=0)], shut=disabled)


def _most(decided: WorkloadDecision) -> Iterator[Need]:
    """Yield what the queue could have if no other queue used any quota."""
    potential = decided.nodes.potential[decided.node]
    for of, amount in sorted(decided.asked.items()):
        yield Need(where=decided.ask.queue, resource=of[1], required=amount, available=potential.get(of, 0))


def _left(decided: WorkloadDecision, going: Sequence[Workload]) -> Iterator[Need]:
    """Yield what the queue could have now, and what evicting those workloads would free."""
    for of, amount in sorted(decided.asked.items()):
        yield Need(
            where=decided.ask.queue,
            resource=of[1],
            required=amount,
            available=decided.usage.available(decided.node, of),
            evictable=_held(going, of),
        )


def _priority(decided: WorkloadDecision, ask: Pod) -> Tier:
    pods = 0 if ask.never_preempts else decided.candidates
    held: Amounts = {of[1]: amount for of in decided.short if (amount := _held(decided.might_go, of))}
    return Tier.of(
        TierName.PRIORITY,
        [Need(resource=PODS, required=1, available=pods)],
        shut=(ask.priority_class or "Never") if ask.never_preempts else "",
        held=held if pods else {},
    )


def _held(workloads: Sequence[Workload], of: FlavorResource) -> int:
    return sum(one.usage.get(of, 0) for one in workloads)


def tiers_by(kind: type[Parameters | FairParameters]) -> TiersBy:
    """Return the function that makes the tiers for a revision's parameters of one type."""

    def by(parameters: Mapping[str, Any]) -> PolicyTiers:
        quota = QuotaPolicy(msgspec.convert(dict(parameters), kind))

        def judged(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
            return judge(snapshot, tree, ask, quota)

        return PolicyTiers(judge=judged, gets_room=room_by(quota), ranks=True, quick=True)

    return by

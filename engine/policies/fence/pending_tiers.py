"""Judge the tiers of policy ``fence``, dialect ``design``; a pod passes all of them if and only if it gets room."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import Reason
from engine.model.objects import Pod
from engine.model.pending_reasons import NODES, Need, Reached, Tier, TierName
from engine.model.quantities import PODS, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common import nearest_node
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.eligibility import GUARDS, UNDECIDABLE
from engine.policies.common.groups.pending_tiers import decide_for, gang_tiers, placed_tiers
from engine.policies.common.policy_types import MAKES_ROOM, PolicyTiers, room_by
from engine.policies.fence.candidates import BoundPodKinds, GuaranteeClaim
from engine.policies.fence.groups.decision import decide_with_groups
from engine.policies.fence.node_candidates import NodeCandidates, node_candidates_of
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.selection import Selection, select
from engine.policies.fence.trace import trace_of
from engine.policies.fence.victims.preemptable_amounts import BudgetAllowances, PreemptableAmounts
from engine.policies.fence.victims.victim_selection import NodeCandidateOrder

_ANY_PRIORITY = 2**31 - 1


def judge_with_groups(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> tuple[Tier, ...]:
    """Return the tiers as ``judge`` does, or those of the pod's gang.

    Return none where the pod gets room by the eviction of a whole group, of which the tiers know nothing.
    """
    if not snapshot.groups and not ask.task_group:
        return judge(snapshot, tree, ask, last_resort=parameters.last_resort)
    decision = decide_for(partial(decide_with_groups, parameters=parameters), snapshot, tree, ask)
    if decision.group:
        return gang_tiers(decision)
    if decision.reason is Reason.PLACEHOLDER:
        return placed_tiers()
    tiers = judge(snapshot, tree, ask, last_resort=parameters.last_resort)
    passes = all(tier.passes for tier in tiers)
    return tiers if passes or decision.outcome not in MAKES_ROOM else ()


def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod, *, last_resort: str) -> tuple[Tier, ...]:
    """Return every tier; only the last one if a node has room, none if the pod or the usage cannot be judged."""
    attempt = PreemptionAttempt(snapshot.without_reservation(ask.uid), tree, ask)
    if any(guard(attempt) is not None for guard in (*UNDECIDABLE.values(), GUARDS[Reason.UNREAD])):
        return ()
    for leaving_counted in (False, True):
        node = attempt.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            return (nearest_node.fits(attempt, node, soon=leaving_counted),)
    selection = _selection(attempt, last_resort)
    may_go = candidates(attempt, selection.node_candidates)
    return (
        Tier.of(TierName.QUOTA, _quota(attempt, may_go)),
        *([_guarantee(attempt)] if ask.required_node is None else []),  # a DaemonSet pod claims no guarantee
        _fence(selection),
        _priority(selection, may_go),
        _node(selection),
    )


def _selection(attempt: PreemptionAttempt, last_resort: str) -> Selection:
    """Return the policy's selection; if it finds no victims, include pods that opted out, where permitted."""
    resort = last_resort == "any" or (last_resort == "daemonset" and attempt.ask.required_node is not None)
    found = None
    for opted_out in (False, True) if resort else (False,):
        claim = GuaranteeClaim(
            ask=attempt.ask,
            leaf=attempt.leaf,
            fence=attempt.tree.fence(attempt.leaf),
            entitling=attempt.entitling if attempt.ask.required_node is None else {},
            opted_out=opted_out,
        )
        found = select(attempt, claim, node_candidates_of(attempt, claim))
        if found.best is not None:
            break
    assert found is not None
    return found


def candidates(attempt: PreemptionAttempt, node_candidates: NodeCandidates) -> Flags:
    """Return a mask, by pod index, of the pods that may be evicted for the pending pod."""
    of_row = (
        (node_candidates.reasons < 0)[attempt.pod_index.kinds.of]
        if len(attempt.pod_index.kinds.of)
        else node_candidates.reasons < 0
    )
    may_go: Flags = of_row & ~attempt.columns.terminating & ~attempt.restraints.refused
    return may_go


def _quota(attempt: PreemptionAttempt, may_go: Flags) -> Iterator[Need]:
    """Yield a need for every max from the leaf upward; below a queue further up, evictions on one node may help."""
    for path in attempt.tree.lineage(attempt.leaf):
        for resource, limit in sorted(attempt.tree[path].max.items()):
            wanted = attempt.ask.requests.get(resource, 0)
            if wanted <= 0:
                continue
            available = limit - attempt.used(path, resource)
            evictable = 0
            if available < wanted and path != attempt.leaf:
                evictable = _most_on_a_node(attempt, may_go, path, resource)
            yield Need(where=path, resource=resource, required=wanted, available=available, evictable=evictable)


def _most_on_a_node(attempt: PreemptionAttempt, may_go: Flags, path: str, resource: str) -> int:
    inside = may_go & attempt.pod_index.queues.below(path)[attempt.pod_index.row_queue]
    held = attempt.columns.sums(np.where(inside, attempt.columns.requests(resource), 0))
    return int(held.max(initial=0))


def _guarantee(attempt: PreemptionAttempt) -> Tier:
    """Judge invariant 4: at least one guarantee must be claimed, and something must be left of every claimed one.

    Source: rule 4 of YuniKorn's design document "Preemption".
    """
    claimed = [
        Need(
            where=path,
            resource=resource,
            required=1,
            available=attempt.tree[path].guaranteed[resource] - attempt.used(path, resource),
        )
        for resource, path in attempt.entitling.items()
    ]
    if claimed:
        return Tier.of(TierName.GUARANTEE, claimed)
    leaf = attempt.leaf
    asked = sorted(resource for resource, amount in attempt.ask.requests.items() if amount > 0)
    none = [Need(where=leaf, resource=name, required=1, available=-attempt.used(leaf, name)) for name in asked]
    return Tier.of(TierName.GUARANTEE, none, shut=leaf)


def _fence(selection: Selection) -> Tier:
    """Judge which pods could be evicted if priorities did not matter.

    Source: rule 7 of YuniKorn's design document "Preemption", and its section on fences.
    """
    attempt, pod_index = selection.attempt, selection.attempt.pod_index
    highest = msgspec.structs.replace(attempt.ask, priority=_ANY_PRIORITY)
    pod_kinds = BoundPodKinds(
        pod_index, msgspec.structs.replace(selection.claim, ask=highest), selection.node_candidates.preemptable_amounts
    )
    within = np.asarray(pod_kinds.reasons < 0, np.bool_)
    reach = within[pod_index.kinds.of] if len(within) else within
    disabled = attempt.tree.disabled_by(attempt.leaf) or ""
    pods = np.bincount(pod_index.row_queue[reach & ~attempt.columns.terminating], minlength=pod_index.nobody + 1)
    if disabled:
        pods[:] = 0
    return Tier.of(
        TierName.FENCE,
        [Need(where=selection.claim.fence or "", resource=PODS, required=1, available=int(pods.sum()))],
        shut=disabled,
        reached=tuple(
            Reached(queue=pod_index.paths[number], pods=int(pods[number]), spare=_spare(selection, int(number)))
            for number in np.flatnonzero(pods)
        ),
    )


def _spare(selection: Selection, queue: int) -> Amounts:
    """Return how much of each requested resource may be taken from a queue without breaking a guarantee."""
    attempt, pod_index = selection.attempt, selection.attempt.pod_index
    found: Amounts = {}
    for resource, wanted in sorted(attempt.ask.requests.items()):
        spare = int(attempt.usage.of(attempt.usage.for_victims, resource)[queue])
        if (preemptable_amounts := selection.node_candidates.preemptable_amounts.get(resource)) is not None:
            spare = min(spare, *(int(preemptable_amounts[above]) for above in pod_index.ancestors[:, queue]))
        if wanted > 0 and resource != PODS and spare > 0:
            found[resource] = spare
    return found


def _priority(selection: Selection, may_go: Flags) -> Tier:
    ask, columns = selection.attempt.ask, selection.attempt.columns
    pods = 0 if ask.never_preempts else int(np.count_nonzero(may_go))
    return Tier.of(
        TierName.PRIORITY,
        [Need(resource=PODS, required=1, available=pods)],
        shut=(ask.priority_class or "Never") if ask.never_preempts else "",
        held=nearest_node.held(columns, ask, may_go) if pods else {},
    )


def _node(selection: Selection) -> Tier:
    """Judge the node that the policy chooses, or else the nearest one after all permitted evictions."""
    attempt, columns = selection.attempt, selection.attempt.columns
    leaving = columns.terminating
    if selection.best is not None:
        gone = columns.only(selection.victims)
        place: int | None = selection.best
    else:
        gone = most_gone(selection)
        open_to = attempt.scope & ~attempt.usage.reserved & ~columns.not_ready
        place = nearest_node.nearest(attempt.snapshot, attempt.ask, attempt.feasibility, gone | leaving, open_to)
    first = Need(resource=NODES, required=1, available=selection.useful)
    if place is None:
        needs: tuple[Need, ...] = ()
    else:
        needs = nearest_node.needs(
            columns, attempt.feasibility, attempt.ask, place, gone=leaving, evicted=gone & ~leaving
        )
    if selection.useful:
        return Tier.of(TierName.NODE, [first, *needs])
    trace = trace_of(selection)
    limited = next((verdict for verdict in trace.nodes if verdict.limit), None)
    return Tier.of(
        TierName.NODE,
        [first, *needs],
        refusing=trace.node_counts,
        limited=limited.node if limited else "",
        limit=(limited.limit or None) if limited else None,
    )


def most_gone(selection: Selection) -> Flags:
    """Return a mask, by pod index, of all pods that may be evicted together, on each node by itself (invariant 2).

    The pods are taken in the policy's order.
    """
    attempt, pod_index = selection.attempt, selection.attempt.pod_index
    may_go = candidates(attempt, selection.node_candidates)
    counts = np.bincount(attempt.columns.node[may_go], minlength=len(attempt.columns.nodes))
    places = np.flatnonzero(counts)
    order = NodeCandidateOrder(pod_index, attempt.leaf, places, may_go, counts[places])
    amounts = PreemptableAmounts(pod_index, order.rows, order.kinds, selection.node_candidates.preemptable_amounts)
    gone = np.zeros(len(attempt.columns.pods), np.bool_)
    allowance = BudgetAllowances(attempt.columns, order.rows, attempt.restraints.limits)
    at: Rows = np.arange(len(places))
    for position in range(int(counts.max(initial=0))):
        at = at[order.count[at] > position]
        index = order.start[at] + position
        index = index[amounts.allows(index) & allowance.allows(index)]
        amounts.take(index)
        allowance.take(index)
        gone[order.rows[index]] = True
    return gone


def tiers_by(parameters: Mapping[str, Any]) -> PolicyTiers:
    """Return the tiers for a revision's parameters, as if every delay were over. Raises msgspec.ValidationError."""
    own = msgspec.convert({**parameters, "check_delay": False}, Parameters)

    def judged(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return judge_with_groups(snapshot, tree, ask, own)

    decide = partial(decide_for, partial(decide_with_groups, parameters=own))
    return PolicyTiers(judge=judged, gets_room=room_by(decide), ranks=True, quick=True)

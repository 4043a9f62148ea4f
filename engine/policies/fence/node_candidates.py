"""The victims that policy ``fence`` would choose on every node, computed for all nodes at once.

Source: the section on the preemption logic of YuniKorn's design document "Preemption": victims are grouped by node, and
none are on several nodes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.feasibility import FITS
from engine.model.columns.departures import PassDepartures, changed_flags
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.decision import NodeReason
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.candidates import BoundPodKinds, GuaranteeClaim, candidate_flags, exclusion_guards
from engine.policies.fence.victims.known_nodes import SelectedVictims, select_on_nodes
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue, find_preemptable_amounts

WHY = tuple(NodeReason)
"""The reasons why a node has no victims, by number."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeCandidates:
    """The candidates, victims and costs on every node for pending pods of one shape."""

    columns: Columns
    scope: Flags
    """Place of a node -> whether the pending pod is meant for it."""
    reserved: Flags
    """Place of a node -> whether it was reserved when this was found."""
    excess: dict[tuple[str, str], int]
    safeguards: tuple[object, ...]
    preemptable_amounts: AmountsByQueue
    reasons: Numbers
    """Kind -> the index in ``exclusion_guards`` of the reason why its pods are no candidates, -1 for candidates."""
    excluded: Numbers
    """The number of bound pods that no guard by kind excludes, followed by the number excluded for each reason."""
    counts: Rows
    """Place -> its number of candidates."""
    refusing: Rows
    """Place -> the number of the check that refuses the pending pod whichever candidates are evicted, or FITS."""
    why: Rows
    """Place -> the index in ``WHY`` of the reason why the node has no victims, apart from reservations."""
    victims: SelectedVictims

    @cached_property
    def with_victims(self) -> Flags:
        """Return for each node (by place) whether it has victims, unless it was reserved since."""
        with_victims = np.zeros(len(self.columns.nodes), np.bool_)
        with_victims[self.victims.costs.places] = True
        return with_victims

    @cached_property
    def _why_counts(self) -> Rows:
        return np.bincount(self.why[self.scope & ~self.with_victims], minlength=len(WHY))

    def count_reasons(self, reserved: Flags) -> Rows:
        """Return how many nodes of the scope have no victims, by number of the reason, without reserved nodes."""
        others = np.flatnonzero(reserved & self.scope & ~self.with_victims)
        return self._why_counts - np.bincount(self.why[others], minlength=len(WHY))

    def reason(self, place: int) -> NodeReason:
        """Return why a node (by place) has no victims, apart from reservations."""
        return WHY[int(self.why[place])]

    def holds_for(self, attempt: PreemptionAttempt) -> bool:
        """Return whether these results are still valid for an attempt at a later moment.

        They are if the moments differ only in newly reserved nodes and pods there that are terminating since.
        """
        reserved, columns = attempt.usage.reserved, attempt.columns
        if (self.reserved & ~reserved).any() or attempt.excess() != self.excess:
            return False
        if attempt.restraints.key != self.safeguards:
            return False
        terminating = columns.since(self.columns)
        if terminating is None or not reserved[columns.node[terminating]].all():
            return False
        now = find_preemptable_amounts(attempt.pod_index, attempt.usage, attempt.leaf, attempt.ask)
        return _amounts_equivalent(attempt, self.preemptable_amounts, now)


def node_candidates_of(attempt: PreemptionAttempt, claim: GuaranteeClaim) -> NodeCandidates:
    """Return the node candidates for a pending pod, from the cache of its shape if they are still valid."""
    cache = attempt.shape.cache
    key = (NodeCandidates, claim.opted_out, attempt.restraints.restrains)
    latest: NodeCandidates | None = cache.get(key)
    if latest is None or not latest.holds_for(attempt):
        latest = cache[key] = find_node_candidates(attempt, claim)
    return latest


def find_node_candidates(
    attempt: PreemptionAttempt,
    claim: GuaranteeClaim,
    amounts: AmountsByQueue | None = None,
    may_go: Flags | None = None,
) -> NodeCandidates:
    """Find the candidates on every node, select the victims among them, and compute what these cost.

    ``amounts``: what may be preempted from the queues, if that is not what may be for the pending pod alone.
    ``may_go``: by row, whether a pod may be evicted, if that is known.
    """
    pod_index = attempt.pod_index
    if amounts is None:
        amounts = find_preemptable_amounts(pod_index, attempt.usage, attempt.leaf, attempt.ask)
    reasons = BoundPodKinds(pod_index, claim, amounts).reasons
    may_go = candidate_flags(attempt, reasons) if may_go is None else may_go
    departing = _departing(attempt, may_go)
    refusing = attempt.feasibility.refusing(departing, surely=attempt.leaving)
    useful = attempt.scope & (departing.counts > 0) & ~blocked_nodes(attempt, refusing)
    return NodeCandidates(
        columns=attempt.columns,
        scope=attempt.scope,
        reserved=attempt.usage.reserved,
        excess=attempt.excess(),
        safeguards=attempt.restraints.key,
        preemptable_amounts=amounts,
        reasons=reasons,
        excluded=count_by_reason(pod_index.counts, reasons),
        counts=departing.counts,
        refusing=refusing,
        why=_why_no_victims(attempt, departing.counts, refusing),
        victims=select_on_nodes(attempt, amounts, may_go, departing.counts, useful),
    )


def _departing(attempt: PreemptionAttempt, may_go: Flags) -> PassDepartures:
    """Return all candidates as departed, updated from those of the previous call of the pass."""
    kept: dict[str, tuple[Flags, PassDepartures]] = attempt.snapshot.once("fence departing", attempt.tree, dict)
    flags, before = kept.get("latest", (None, None))
    found = PassDepartures(
        attempt.columns,
        lambda: np.flatnonzero(may_go),
        also=attempt.leaving,
        before=before,
        changed=None if flags is None else changed_flags(flags, may_go, None),
    )
    kept["latest"] = may_go, found
    return found


def count_by_reason(counts: Rows, reasons: Numbers) -> Numbers:
    """Return the number of pods without a reason, followed by the number for each reason. ``counts``: by kind."""
    by_reason = np.bincount(reasons + 1, counts, len(exclusion_guards()) + 1)
    exact: Numbers = by_reason.astype(np.int64)  # floats are exact for these counts
    return exact


def _why_no_victims(attempt: PreemptionAttempt, counts: Rows, refusing: Rows) -> Rows:
    why = np.where(counts > 0, WHY.index(NodeReason.NOT_ENOUGH), WHY.index(NodeReason.NO_CANDIDATES))
    for number, check in enumerate(attempt.feasibility.checks):
        if check.reason is not NodeReason.INSUFFICIENT:
            why[refusing == number] = WHY.index(check.reason)
    why[attempt.columns.not_ready] = WHY.index(NodeReason.NOT_READY)
    return why


def _amounts_equivalent(attempt: PreemptionAttempt, before: AmountsByQueue, now: AmountsByQueue) -> bool:
    """Return whether the preemptable amounts differ only where they exceed what any node could take from a queue."""
    for resource, amounts in now.items():
        changed = np.asarray(amounts != before[resource], np.bool_)
        if np.any(changed & attempt.pod_index.exceeds_on_a_node(resource, np.minimum(amounts, before[resource]))):
            return False
    return True


def blocked_nodes(attempt: PreemptionAttempt, refusing: Rows) -> Flags:
    """Return for each node (by place) whether a guard forbids evictions there.

    ``refusing``: place -> the number of the check that refuses the pending pod whichever candidates are evicted.
    """
    blocked = np.zeros(len(attempt.columns.nodes), np.bool_)
    for guard in GUARDS.values():
        blocked |= guard(attempt, refusing)
    return blocked


def _reserved(attempt: PreemptionAttempt, _refusing: Rows) -> Flags:
    # Source: the section on the preemption logic of YuniKorn's design document "Preemption", by which a chosen node
    # stays reserved.
    return attempt.usage.reserved


def _not_ready(attempt: PreemptionAttempt, _refusing: Rows) -> Flags:
    return attempt.columns.not_ready


def _refused(_attempt: PreemptionAttempt, refusing: Rows) -> Flags:
    """Return for each node (by place) whether the pending pod can't run there whichever candidates are evicted."""
    return np.asarray(refusing != FITS, np.bool_)


GUARDS: dict[str, Callable[[PreemptionAttempt, Rows], Flags]] = {
    "reserved": _reserved,
    "not-ready": _not_ready,
    "refused": _refused,
}
"""Name of a guard -> function that returns for each node (by place) whether evictions there are forbidden."""

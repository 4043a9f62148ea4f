"""The choice of victims on each node under policy ``fence``: for all nodes at once, one pod of each at a time.

Source: the groups of victims by node in the section on the preemption logic of YuniKorn's design document "Preemption".
The order and the reprieve are this product's own.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.offsets import ranges, running_sums
from engine.model.columns.node_columns import Columns, Flags, Rows
from engine.model.decision import PodReason
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.pod_index import PodIndex
from engine.policies.fence.victims.constraints import Constraints
from engine.policies.fence.victims.other_sets import search
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue, BudgetAllowances, PreemptableAmounts

_WAITS, _TAKEN, _PUT_BACK, _NO_HELP, _TOO_MUCH, _OVER_BUDGET, _NEAR = range(7)
"""The possible outcomes for a candidate."""
_FEW = 4
"""If less than one node in this many is looked at, the rows of their pods are listed instead of searched."""


class NodeCandidateOrder:
    """The candidates of some nodes (places), node by node, the most expendable first."""

    def __init__(self, pod_index: PodIndex, leaf: str, places: Rows, may_go: Flags, count: Rows) -> None:
        """Sort the candidates. ``may_go``: by row, which pods are; ``count``: their number at each place."""
        self.places, self.count = places, count
        self.start: Rows = running_sums(count)
        """Start offset of each node's candidates; the last entry is the total."""
        order, here = pod_index.order, _rows_on(pod_index.columns, places)
        here = here[may_go[order.rows[here]]]  # pods of a node are at the same rows in this order, in another sequence
        self.rows: Rows = order.rows[here]
        self.kinds: Rows = order.kind[here]
        """Position in this order -> the kind of the pod there."""
        again = self._with_nearer_pods(pod_index, leaf)
        self.rows[again] = nearest_first(pod_index, leaf, self.rows[again])
        self.kinds[again] = pod_index.kinds.of[self.rows[again]]

    def _with_nearer_pods(self, pod_index: PodIndex, leaf: str) -> Rows:
        """Return the positions of the candidates on nodes where not all are at the distance that most pods have."""
        of_kinds = pod_index.queues.distance(leaf)[pod_index.queue]
        usual = np.bincount(of_kinds, pod_index.counts).argmax() if len(of_kinds) else 0
        nearer = np.flatnonzero((of_kinds != usual)[self.kinds])
        nodes = np.unique(np.searchsorted(self.start, nearer, side="right") - 1)
        return ranges(self.start[nodes], self.start[nodes + 1])

    def on(self, index: int) -> slice:
        """Return the slice of ``rows`` with the candidates of a node. ``index``: its index in ``places``."""
        return slice(int(self.start[index]), int(self.start[index + 1]))


def _rows_on(columns: Columns, places: Rows) -> Rows:
    """Return the rows of all pods on some nodes, node by node."""
    if _FEW * len(places) < len(columns.nodes):
        return ranges(columns.first[places], columns.first[places + 1])
    here = np.zeros(len(columns.nodes), np.bool_)
    here[places] = True
    return np.flatnonzero(here[columns.node])


def nearest_first(pod_index: PodIndex, leaf: str, rows: Rows) -> Rows:
    """Sort candidates, node by node, so that among equally expendable pods those of the nearest queue come first."""
    distances = pod_index.queues.distance(leaf)[pod_index.row_queue[rows]]
    keys = pod_index.order.stretch[rows] * (int(distances.max(initial=0)) + 1) + distances
    return rows[np.argsort(keys, kind="stable")]


class VictimSelection:
    """The victims on each of some nodes, while they are selected. ``select_victims`` has the steps in their order."""

    def __init__(
        self, attempt: PreemptionAttempt, order: NodeCandidateOrder, preemptable_amounts: AmountsByQueue
    ) -> None:
        self.attempt, self.order, self.preemptable_amounts = attempt, order, preemptable_amounts
        self._outcomes = np.zeros(len(order.rows), np.int8)
        self._taken: list[tuple[Rows, Rows]] = []
        """Round by round, the nodes (indexes into ``places``) with a victim, and the victim's position in the rows."""
        self._constraints = Constraints(attempt, order.places)
        self.searched: Rows = np.zeros(0, np.intp)
        """The nodes (by place) where the greedy choice failed and other sets were tried."""
        self.gave_up = False
        """Whether on some node no set was found and not all sets were tried."""

    def take(self) -> Flags:
        """Take victims in order, as invariants, budgets and the pending pod's affinity allow, until it fits.

        Return for each node (by index in ``places``) whether the greedy choice failed to make enough room.
        """
        order = self.order
        amounts = PreemptableAmounts(self.attempt.pod_index, order.rows, order.kinds, self.preemptable_amounts)
        allowance = BudgetAllowances(self.attempt.columns, order.rows, self.attempt.restraints.limits)
        stuck = np.zeros(len(order.places), np.bool_)
        at = np.arange(len(order.places))
        at = at[self._constraints.exceeded(at)]
        position = 0
        while len(at):
            more = order.count[at] > position
            stuck[at[~more]] = True
            at = at[more]
            index = order.start[at] + position
            rows = order.rows[index]
            helps, near = self._constraints.helps(at, rows), self._constraints.wanted_near(at, rows)
            preemptable = amounts.allows(index)
            taken, may_not, why = helps & preemptable & ~near, [~helps, ~preemptable], [_NO_HELP, _TOO_MUCH]
            if allowance.binds:
                allowed = allowance.allows(index)
                taken &= allowed
                may_not, why = [*may_not, ~allowed], [*why, _OVER_BUDGET]
            self._outcomes[index] = np.select([taken, *may_not], [_TAKEN, *why], _NEAR)
            self._taken.append((at[taken], index[taken]))
            self._constraints.evict(at[taken], rows[taken])
            amounts.take(index[taken])
            allowance.take(index[taken])
            at = at[~taken | self._constraints.exceeded(at)]
            position += 1
        return stuck

    def put_back(self, stuck: Flags) -> None:
        """Reprieve victims, the most valuable first, if the others make enough room. ``stuck``: nodes to leave out."""
        for at, index in reversed(self._taken):
            rows = self.order.rows[index]
            needed = self._constraints.exceeded_with(at, rows)
            self._constraints.evict(at[~needed], rows[~needed], -1)
            self._outcomes[index[~needed & ~stuck[at]]] = _PUT_BACK

    def try_other_sets(self, index: int) -> None:
        """Try other sets of victims on a node. ``index``: its index in ``places``."""
        on_node = self.order.on(index)
        rows = self.order.rows[on_node]
        sets = search(self.attempt, self.preemptable_amounts, int(self.order.places[index]), rows)
        found = sets.victims()
        self.gave_up |= found is None and sets.gave_up
        self._outcomes[on_node] = _WAITS
        if found is not None:
            taken, put_back = found
            outcomes = np.where(np.isin(rows, taken), _TAKEN, np.where(np.isin(rows, put_back), _PUT_BACK, _WAITS))
            self._outcomes[on_node] = outcomes

    @property
    def victims(self) -> Rows:
        """Return the rows of the victims, node by node."""
        victims: Rows = self.order.rows[np.flatnonzero(self._outcomes == _TAKEN)]
        return victims

    @property
    def outcomes(self) -> "CandidateOutcomes":
        """Return the outcomes of all candidates, in a compact form that may be cached."""
        return CandidateOutcomes(self.order, self._outcomes)


def select_victims(
    attempt: PreemptionAttempt, order: NodeCandidateOrder, preemptable_amounts: AmountsByQueue
) -> VictimSelection:
    """Select the victims on each of some nodes.

    Victims are taken greedily, the most expendable first, and then reprieved, the most valuable first. The greedy
    choice fails if its victims leave their queue too little for a pod that would have made enough room, or if a pod
    that the pending pod's affinity needs is in the way. Then other sets are tried. Every set is minimal: if any victim
    is put back, the pending pod no longer fits.
    """
    selection = VictimSelection(attempt, order, preemptable_amounts)
    stuck = selection.take()
    for guard in GUARDS.values():
        guard(selection, stuck)
    selection.searched = order.places[stuck]
    for index in np.flatnonzero(stuck).tolist():
        selection.try_other_sets(index)
    return selection


class CandidateOutcomes:
    """The outcomes of each node's candidates, the most expendable first, small enough to cache for many shapes."""

    def __init__(self, order: NodeCandidateOrder, outcomes: NDArray[np.int8]) -> None:
        self._places, self._start, self._outcomes = order.places, order.start, outcomes
        self._rows = order.rows.astype(np.uint32)
        self.elsewhere: CandidateOutcomes | None = None
        """The outcomes on all other nodes."""

    def on(self, place: int) -> tuple[list[int], list[tuple[int, PodReason]]]:
        """Return the victims (rows) on a node, and the kept candidates with reasons, in the order of the selection."""
        index = int(np.searchsorted(self._places, place))
        if self.elsewhere is not None and (index == len(self._places) or self._places[index] != place):
            return self.elsewhere.on(place)
        on_node = slice(*self._start[index : index + 2].tolist())
        outcomes = list(zip(self._rows[on_node].tolist(), self._outcomes[on_node].tolist(), strict=True))
        passed = [(row, _PASSED[outcome]) for row, outcome in outcomes if outcome in _PASSED]
        put_back = [(row, PodReason.NOT_NEEDED) for row, outcome in reversed(outcomes) if outcome == _PUT_BACK]
        waited = [(row, PodReason.NOT_NEEDED) for row, outcome in outcomes if outcome == _WAITS]
        return [row for row, outcome in outcomes if outcome == _TAKEN], [*passed, *put_back, *waited]


_PASSED = {
    _NO_HELP: PodReason.NO_HELP,
    _TOO_MUCH: PodReason.GUARANTEE,
    _OVER_BUDGET: PodReason.OVER_BUDGET,
    _NEAR: PodReason.WANTED_NEAR,
}

GUARDS: dict[str, Callable[[VictimSelection, Flags], None]] = {"minimal": VictimSelection.put_back}
"""Name of a guard -> function that prevents needless evictions. Its flags mark nodes where the greedy choice failed."""

"""The choice of victims on each node under policy ``fence``: for all nodes at once, one pod of each at a time."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.offsets import running_sums
from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import PodReason
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.pod_index import PodIndex
from engine.policies.fence.constraints import Constraints
from engine.policies.fence.other_sets import search
from engine.policies.fence.preemptable_amounts import AmountsByQueue, BudgetAllowances, PreemptableAmounts

_WAITS, _TAKEN, _PUT_BACK, _NO_HELP, _TOO_MUCH, _OVER_BUDGET, _NEAR = range(7)
"""The possible outcomes for a candidate."""


class NodeCandidateOrder:
    """The candidates of some nodes (places), node by node, the most expendable first."""

    def __init__(self, pod_index: PodIndex, leaf: str, places: Rows, rows: Rows, count: Rows) -> None:
        """Sort the candidates. ``rows``: in the order of the pod index; ``count``: the number at each place."""
        self.places, self.count = places, count
        self.rows = nearest_first(pod_index, leaf, rows)
        self.start: Rows = running_sums(count)
        """Start offset of each node's candidates; the last entry is the total."""

    def on(self, index: int) -> slice:
        """Return the slice of ``rows`` with the candidates of a node. ``index``: its index in ``places``."""
        return slice(int(self.start[index]), int(self.start[index + 1]))


def nearest_first(pod_index: PodIndex, leaf: str, rows: Rows) -> Rows:
    """Sort candidates, node by node, so that among equally expendable pods those of the nearest queue come first."""
    steps = pod_index.distance(leaf)[pod_index.row_queue[rows]]
    turn = pod_index.order.stretch[rows] * (int(steps.max(initial=0)) + 1) + steps
    if np.all(turn[1:] >= turn[:-1]):
        return rows
    return rows[np.argsort(turn, kind="stable")]


class VictimSelection:
    """The victims on each of some nodes.

    Victims are chosen greedily, the most expendable first, and then reprieved, the most valuable first. The greedy
    choice fails if its victims leave their queue too little for a pod that would have made enough room, or if a pod
    that the pending pod's affinity needs is in the way. Then other sets are tried. Every set is minimal: if any victim
    is put back, the pending pod no longer fits.
    """

    def __init__(
        self, attempt: PreemptionAttempt, turns: NodeCandidateOrder, preemptable_amounts: AmountsByQueue
    ) -> None:
        self.attempt, self.turns, self.preemptable_amounts = attempt, turns, preemptable_amounts
        self._became = np.zeros(len(turns.rows), np.int8)
        self._taken: list[tuple[Rows, Rows]] = []
        """Round by round, the nodes (indexes into ``places``) with a victim, and the victim's position in the rows."""
        self._room = Constraints(attempt, turns.places)
        self.gave_up = False
        """Whether on some node no set was found and not all sets were tried."""
        stuck = self._take()
        for guard in GUARDS.values():
            guard(self, stuck)
        for index in np.flatnonzero(stuck):
            self._search(int(index))
        self.victims: Rows = np.flatnonzero(self._became == _TAKEN)
        """The positions of the victims among the rows of ``turns``."""

    def _take(self) -> Flags:
        """Choose victims in order, as invariants, budgets and the pending pod's affinity allow, until it fits.

        Return for each node (by index in ``places``) whether the greedy choice failed to make enough room.
        """
        turns, spare = self.turns, PreemptableAmounts(self.attempt.pod_index, self.turns.rows, self.preemptable_amounts)
        allowance = BudgetAllowances(self.attempt.columns, turns.rows, self.attempt.restraints.limits)
        stuck = np.zeros(len(turns.places), np.bool_)
        at = np.arange(len(turns.places))
        at = at[self._room.shut(at)]
        turn = 0
        while len(at):
            more = turns.count[at] > turn
            stuck[at[~more]] = True
            at = at[more]
            index = turns.start[at] + turn
            rows = turns.rows[index]
            helps, lawful, near = self._room.helps(at, rows), spare.allows(index), self._room.wanted_near(at, rows)
            taken, may_not, why = helps & lawful & ~near, [~helps, ~lawful], [_NO_HELP, _TOO_MUCH]
            if allowance.binds:
                allowed = allowance.allows(index)
                taken &= allowed
                may_not, why = [*may_not, ~allowed], [*why, _OVER_BUDGET]
            self._became[index] = np.select([taken, *may_not], [_TAKEN, *why], _NEAR)
            self._taken.append((at[taken], index[taken]))
            self._room.give(at[taken], rows[taken])
            spare.take(index[taken])
            allowance.take(index[taken])
            at = at[~taken | self._room.shut(at)]
            turn += 1
        return stuck

    def put_back(self, stuck: Flags) -> None:
        """Reprieve victims, the most valuable first, if the others make enough room. ``stuck``: nodes to leave out."""
        for at, index in reversed(self._taken):
            rows = self.turns.rows[index]
            self._room.give(at, rows, -1)
            needed = self._room.shut(at)
            self._room.give(at[needed], rows[needed])
            self._became[index[~needed & ~stuck[at]]] = _PUT_BACK

    def _search(self, index: int) -> None:
        """Try other sets of victims on a node. ``index``: its index in ``places``."""
        here = self.turns.on(index)
        rows = self.turns.rows[here]
        over = search(self.attempt, self.preemptable_amounts, int(self.turns.places[index]), rows)
        found = over.victims()
        self.gave_up |= found is None and over.gave_up
        self._became[here] = _WAITS
        if found is not None:
            taken, put_back = found
            self._became[here] = np.where(np.isin(rows, taken), _TAKEN, np.where(np.isin(rows, put_back), _PUT_BACK, 0))

    @property
    def became(self) -> "CandidateOutcomes":
        """Return the outcomes of all candidates, in a compact form that may be cached."""
        return CandidateOutcomes(self.turns, self._became)


class CandidateOutcomes:
    """The outcomes of each node's candidates, the most expendable first, small enough to cache for many shapes."""

    def __init__(self, turns: NodeCandidateOrder, became: NDArray[np.int8]) -> None:
        self._places, self._start, self._became = turns.places, turns.start, became
        self._rows = turns.rows.astype(np.uint32)

    def on(self, place: int) -> tuple[list[int], list[tuple[int, PodReason]]]:
        """Return the victims (rows) on a node, and the kept candidates with reasons, in the order of the selection."""
        index = int(np.searchsorted(self._places, place))
        here = slice(*self._start[index : index + 2].tolist())
        told = list(zip(self._rows[here].tolist(), self._became[here].tolist(), strict=True))
        passed = [(row, _PASSED[became]) for row, became in told if became in _PASSED]
        put_back = [(row, PodReason.NOT_NEEDED) for row, became in reversed(told) if became == _PUT_BACK]
        waited = [(row, PodReason.NOT_NEEDED) for row, became in told if became == _WAITS]
        return [row for row, became in told if became == _TAKEN], [*passed, *put_back, *waited]


_PASSED = {
    _NO_HELP: PodReason.NO_HELP,
    _TOO_MUCH: PodReason.GUARANTEE,
    _OVER_BUDGET: PodReason.OVER_BUDGET,
    _NEAR: PodReason.WANTED_NEAR,
}

GUARDS: dict[str, Callable[[VictimSelection, Flags], None]] = {"minimal": VictimSelection.put_back}
"""Name of a guard -> function that prevents needless evictions. Its flags mark nodes where the greedy choice failed."""

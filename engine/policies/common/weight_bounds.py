"""Calculate lower bounds on the cost of sets of candidates, for all nodes at once, so that most need no search."""

from collections.abc import Sequence

import numpy as np

from engine.feasibility.checks import AmountCheck
from engine.model.collections.offsets import running_sums
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows

MOST = 2**62
"""Larger than any value that is compared."""


class Bounds:
    """Lower bounds per node, from the limits that determine how much must be evicted.

    ``leaving``: pods that leave in any case.
    """

    def __init__(
        self, columns: Columns, limits: Sequence[AmountCheck], candidates: Flags, leaving: DepartingPods | None
    ) -> None:
        self.columns, self._candidates = columns, candidates
        self.highest: Numbers = np.full(len(columns.nodes), -(2**31))
        """By node index: a lower bound of the highest priority in a sufficient set."""
        self.count: Numbers = np.ones(len(columns.nodes), np.int64)
        """By node index: a lower bound of the number of victims."""
        self._short: list[tuple[Numbers, Rows, Numbers]] = []
        for limit in limits:
            need = limit.held - limit.cap + (np.maximum(limit.more(), 0) if limit.added else 0)
            if leaving is not None:
                need = need - leaving.of(limit.weight)
            if (need > 0).any():
                self._narrow(np.where(candidates, limit.weight, 0), need)

    def _narrow(self, weight: Numbers, need: Numbers) -> None:
        columns, begins, ends = self.columns, self.columns.first[:-1], self.columns.first[1:]
        upto = running_sums(weight)
        short = np.flatnonzero((need > 0) & (upto[ends] - upto[begins] >= need))
        if not len(short):
            return
        need = need[short]
        self._short.append((weight, short, need))
        # Take pods from the least important upward until they are enough; the last one taken is the most important.
        last = (np.searchsorted(upto, upto[ends[short]] - need, side="right") - 1).astype(np.intp)
        self.highest[short] = np.maximum(self.highest[short], columns.priority[last])
        filled = np.flatnonzero(ends > begins)  # nodes without pods are not short
        largest = np.maximum.reduceat(weight, begins[filled])[np.searchsorted(filled, short)]
        self.count[short] = np.maximum(self.count[short], -(-need // largest))

    def some(self, flags: Flags) -> Numbers:
        """Return, by node index, 1 where the candidates without the flag (by pod index) are not enough, else 0."""
        some = np.zeros(len(self.columns.nodes), np.int64)
        for weight, short, need in self._short:
            some[short] |= self.columns.sums(np.where(flags, 0, weight))[short] < need
        return some

    def fewest(self, numbers: Numbers, among: Flags) -> Numbers:
        """Return, by node index, the sum of the ``count`` least numbers (by pod index) of candidates with the flag."""
        rows = np.flatnonzero(self._candidates & among)
        node = self.columns.node[rows]
        rows = rows[np.lexsort((numbers[rows], node))]
        upto, ends = running_sums(numbers[rows]), np.searchsorted(node, np.arange(len(self.columns.nodes) + 1))
        sums: Numbers = upto[np.minimum(ends[:-1] + self.count, ends[1:])] - upto[ends[:-1]]
        return sums

    def least(self, numbers: Numbers, among: Flags) -> Numbers:
        """Return, by node index, the least number (by pod index) of a candidate with the flag."""
        least = np.full(len(self.columns.nodes), MOST)
        rows = np.flatnonzero(self._candidates & among)
        np.minimum.at(least, self.columns.node[rows], numbers[rows])
        return least

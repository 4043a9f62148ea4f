"""Pods that leave: what goes with them, on every node at once."""

from functools import cached_property

import numpy as np

from engine.model.collections.offsets import running
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows

_MANY = 8
"""Where more than this part of all are others, sums are counted anew."""


class Leaving:
    """Pods that leave, each node looked at as if only its own did: by row, or as rows that are sorted node by node.

    ``also``: others that leave with them.
    """

    def __init__(self, columns: Columns, leaving: Flags | Rows, *, also: "Leaving | None" = None) -> None:
        self.columns, self._also = columns, also
        self.asked: dict[int, tuple[Numbers, Numbers]] = {}
        """By the weight's id: the weight, and its sums."""
        by_row = leaving.dtype == np.bool_
        self._rows = np.flatnonzero(leaving) if by_row else leaving.astype(np.intp, copy=False)
        self.counts: Numbers = np.bincount(columns.node[self._rows], minlength=len(columns.nodes))
        """Place -> how many leave, without those others."""
        self._first = running(self.counts)
        self._since = columns.first[1:] - self.counts
        some = np.flatnonzero(self.counts)
        self._last = by_row and bool(np.array_equal(self._rows[self._first[some]], self._since[some]))
        """Whether on every node it is the last ones that leave; then running sums tell what they hold."""

    def of(self, weight: Numbers, upto: Numbers | None = None) -> Numbers:
        """Place -> the sum of the weights of those that leave; ``upto``: its running sum, if that is known."""
        if id(weight) not in self.asked:
            self.asked[id(weight)] = weight, self._sums(weight, upto)
        sums = self.asked[id(weight)][1]
        return sums if self._also is None else sums + self._also.of(weight, upto)

    def _sums(self, weight: Numbers, upto: Numbers | None) -> Numbers:
        if not self._last or upto is None:
            some = np.flatnonzero(self.counts)
            sums = np.zeros(len(self.counts), weight.dtype)
            if len(some):
                sums[some] = np.add.reduceat(weight[self._rows], self._first[some])
            return sums
        held: Numbers = upto[self.columns.first[1:]] - upto[self._since]
        return held


class Going(Leaving):
    """Pods that leave by row, others than a moment ago: of sums only what makes the difference is counted."""

    def __init__(self, columns: Columns, leaving: Flags, *, also: Leaving | None, before: "Going | None") -> None:
        self.columns, self._also, self.flags = columns, also, leaving
        self.asked = {}
        self._earlier: dict[int, tuple[Numbers, Numbers]] = {}
        changed = None if before is None else np.flatnonzero(leaving != before.flags)
        if before is None or changed is None or _MANY * len(changed) > len(leaving):
            self.counts = self._anew.counts
        else:
            self._changed, self._earlier = changed, before.asked
            self._times = np.where(leaving[changed], 1, -1)
            self.counts = self._moved(before.counts, self._times)

    @cached_property
    def _anew(self) -> Leaving:
        return Leaving(self.columns, np.flatnonzero(self.flags))

    def _sums(self, weight: Numbers, upto: Numbers | None) -> Numbers:
        if id(weight) not in self._earlier:
            return self._anew.of(weight, upto)
        return self._moved(self._earlier[id(weight)][1], weight[self._changed] * self._times)

    def _moved(self, sums: Numbers, by: Numbers) -> Numbers:
        moved = sums.copy()
        np.add.at(moved, self.columns.node[self._changed], by)
        return moved

"""Pods that leave: what goes with them, on every node at once."""

import numpy as np

from engine.snapshot.columns import Columns, Flags, Numbers, Rows, running


class Leaving:
    """Pods that leave, each node looked at as if only its own did: by row, or as rows that are sorted node by node.

    ``also``: others that leave with them.
    """

    def __init__(self, columns: Columns, leaving: Flags | Rows, *, also: "Leaving | None" = None) -> None:
        self.columns, self._also = columns, also
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
        sums = self._sums(weight, upto)
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

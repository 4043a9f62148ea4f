"""Computes what the pods that leave their nodes hold, for every node at once."""

from collections.abc import Callable

import numpy as np

from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows

_MANY = 8
"""If more than one in this many rows changed, sums are computed again instead of updated."""


class DepartingPods:
    """The pods that leave each node, where each node is considered as if only its own pods left.

    ``leaving`` is either a flag per row, or row numbers that are sorted by node. ``also``: other pods that leave with
    them.
    """

    def __init__(self, columns: Columns, leaving: Flags | Rows, *, also: "DepartingPods | None" = None) -> None:
        self.columns, self._also = columns, also
        self.asked: dict[int, tuple[Numbers, Numbers]] = {}
        """Id of a weight array -> the array itself, and its sums by node index."""
        by_row = leaving.dtype == np.bool_
        self.rows: Rows = np.flatnonzero(leaving) if by_row else leaving.astype(np.intp, copy=False)
        """The pods that leave, without those of ``also``, node by node."""
        self.first: Rows = np.searchsorted(self.rows, columns.first)
        """Node index -> the index in ``rows`` at which the node's pods begin; and the number of rows at the end."""
        self.counts: Numbers = np.diff(self.first)
        """Node index -> how many pods leave, without those of ``also``."""
        self._since = columns.first[1:] - self.counts
        some = np.flatnonzero(self.counts)
        self._last = by_row and bool(np.array_equal(self.rows[self.first[some]], self._since[some]))
        """Whether the leaving pods are the last rows of every node; then running sums give what they hold."""

    def of(self, weight: Numbers, upto: Numbers | None = None) -> Numbers:
        """Return, by node index, the sum of the weights of the pods that leave.

        ``upto``: the running sum of ``weight``, if it is known.
        """
        if id(weight) not in self.asked:
            self.asked[id(weight)] = weight, self._sums(weight, upto)
        sums = self.asked[id(weight)][1]
        return sums if self._also is None else sums + self._also.of(weight, upto)

    def _sums(self, weight: Numbers, upto: Numbers | None) -> Numbers:
        if not self._last or upto is None:
            some = np.flatnonzero(self.counts)
            sums = np.zeros(len(self.counts), np.result_type(weight, np.int64))
            if len(some):
                sums[some] = np.add.reduceat(weight[self.rows], self.first[some])
            return sums
        held: Numbers = upto[self.columns.first[1:]] - upto[self._since]
        return held


class PassDepartures(DepartingPods):
    """Departing pods whose sums are those of an earlier moment of the pass plus the difference.

    So they have no ``rows`` and no ``first``, unless there was no earlier moment.
    """

    def __init__(
        self,
        columns: Columns,
        rows: Callable[[], Rows],
        *,
        also: DepartingPods | None = None,
        before: "PassDepartures | None" = None,
        changed: tuple[Rows, Numbers] | None = None,
    ) -> None:
        """Let the pods of ``rows``, sorted by node, leave.

        ``changed``: the rows that differ from those of ``before``, each with 1 if it leaves now and -1 if it left then.
        """
        self.columns, self._also, self._leaving = columns, also, rows
        self.asked = {}
        self._earlier: dict[int, tuple[Numbers, Numbers]] = {}
        if before is None or changed is None or _MANY * len(changed[0]) > len(columns.pods):
            super().__init__(columns, rows(), also=also)
            self._changed = None
        else:
            self._changed, self._earlier = changed, before.asked
            self.counts = self._moved(before.counts, changed[1])

    def _sums(self, weight: Numbers, upto: Numbers | None) -> Numbers:
        if self._changed is None:
            return super()._sums(weight, upto)
        if id(weight) not in self._earlier:
            return DepartingPods(self.columns, self._leaving()).of(weight, upto)
        rows, times = self._changed
        return self._moved(self._earlier[id(weight)][1], weight[rows] * times)

    def _moved(self, sums: Numbers, by: Numbers) -> Numbers:
        moved = sums.copy()
        if self._changed is not None:
            np.add.at(moved, self.columns.node[self._changed[0]], by)
        return moved


def changed_flags(before: Flags, now: Flags, rows: Rows | None) -> tuple[Rows, Numbers]:
    """Return the rows whose flags differ, each with 1 if it is set now and -1 if it is not.

    ``rows``: those that may differ, if known.
    """
    changed = np.flatnonzero(now != before) if rows is None else rows[now[rows] != before[rows]]
    return changed, np.where(now[changed], 1, -1)

"""What victims cost at least on the nodes with pods of one queue, the least first, read from columns as needed."""

from collections.abc import Iterator, Mapping

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Numbers, Rows
from engine.policies.deserved.groups.costs_at_once import UNKNOWN
from engine.policies.deserved.groups.units import ReclaimUnits

Bound = tuple[int, int, int, int]
"""The highest priority, the number of pods, the negated creation time of the newest, and the index of the node."""
_AT_ONCE = 64
"""How many bounds are read from the columns at once."""


class QueueBounds:
    """The bounds of the nodes with pods of a queue, without the rank of the queue."""

    def __init__(
        self, units: ReclaimUnits, queue: str, lacks: Mapping[str, Numbers], costs: Numbers | None = None
    ) -> None:
        """Calculate the bounds.

        ``lacks``: resource -> how much a member lacks, by node. ``costs``: what ``CostsAtOnce`` returns, to use where
        it is known.
        """
        columns = units.attempt.columns
        own = units.candidates.rows_of(queue)
        self._places = places = np.unique(columns.node[own[units.may_go[own]]])
        rows = _rows(columns.first[places], columns.first[places + 1])
        rows = rows[units.may_go[rows]]
        first = np.flatnonzero(run_starts(columns.node[rows]))
        fewest = np.ones(len(places), np.int64)
        for name, lacking in lacks.items():
            largest = np.maximum(np.maximum.reduceat(columns.requests(name)[rows], first), 1)
            fewest = np.maximum(fewest, -(-lacking[places] // largest))
        created = columns.once("created", None, lambda: columns.numbers(pod_fields.created))
        priority = columns.priority[rows[np.lexsort((columns.priority[rows], columns.node[rows]))]]
        counts = np.diff(first, append=len(rows))
        self._least, self._newest = priority[first], -np.maximum.reduceat(created[rows], first)
        least = np.array((priority[first + np.minimum(fewest, counts) - 1], fewest, self._newest, places), np.int64)
        if costs is not None:
            known = costs[0, places] != UNKNOWN
            least[:3, known] = costs[:, places[known]]
        self._sorted = least[:, np.lexsort(least[::-1])]
        self._read: list[Bound] = []
        self._changed: dict[int, Bound | None] = {}

    def __iter__(self) -> Iterator[Bound]:
        """Yield the bounds of all nodes, the least first."""
        for number in range(self._sorted.shape[1]):
            if number == len(self._read):
                self._read += map(tuple, self._sorted[:, number : number + _AT_ONCE].T.tolist())
            yield self._read[number]

    def changed(self, place: int) -> Bound | None:
        """Return the bound of a node (by index) that other pods leave too; None if it has no pods of the queue."""
        if place not in self._changed:
            at = int(np.searchsorted(self._places, place))
            there = at < len(self._places) and self._places[at] == place
            self._changed[place] = (int(self._least[at]), 1, int(self._newest[at]), place) if there else None
        return self._changed[place]


def _rows(first: Rows, end: Rows) -> Rows:
    """Return all rows from each of the first ones up to the end that belongs to it."""
    counts = end - first
    rows: Rows = np.repeat(end - np.cumsum(counts), counts) + np.arange(counts.sum())
    return rows

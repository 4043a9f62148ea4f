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
        places = np.unique(columns.node[own[units.may_go[own]]])
        if costs is None:
            least = _least(units, places, lacks)
        else:
            least = np.concatenate([costs[:, places], [places]])
            unknown = least[0] == UNKNOWN
            least[:, unknown] = _least(units, places[unknown], lacks)
        self._sorted = least[:, np.lexsort(least[::-1])]
        self._read: list[Bound] = []
        self._nodes = frozenset(places.tolist())

    def __iter__(self) -> Iterator[Bound]:
        """Yield the bounds of all nodes, the least first."""
        for number in range(self._sorted.shape[1]):
            if number == len(self._read):
                self._read += map(tuple, self._sorted[:, number : number + _AT_ONCE].T.tolist())
            yield self._read[number]

    def has(self, place: int) -> bool:
        """Return whether a node (by index) has pods of the queue."""
        return place in self._nodes


def _least(units: ReclaimUnits, places: Rows, lacks: Mapping[str, Numbers]) -> Numbers:
    """Return the bounds of some nodes by what is known of each of their candidates, a column for each."""
    columns = units.attempt.columns
    rows = _rows(columns.first[places], columns.first[places + 1])
    rows = rows[units.may_go[rows]]
    first = np.flatnonzero(run_starts(columns.node[rows]))
    fewest = np.ones(len(places), np.int64)
    for name, lacking in lacks.items() if len(rows) else ():
        largest = np.maximum(np.maximum.reduceat(columns.requests(name)[rows], first), 1)
        fewest = np.maximum(fewest, -(-lacking[places] // largest))
    created = columns.once("created", None, lambda: columns.numbers(pod_fields.created))
    priority = columns.priority[rows[np.lexsort((columns.priority[rows], columns.node[rows]))]]
    counts = np.diff(first, append=len(rows))
    newest = np.maximum.reduceat(created[rows], first) if len(rows) else places
    return np.array((priority[first + np.minimum(fewest, counts) - 1], fewest, -newest, places), np.int64)


def _rows(first: Rows, end: Rows) -> Rows:
    """Return all rows from each of the first ones up to the end that belongs to it."""
    counts = end - first
    rows: Rows = np.repeat(end - np.cumsum(counts), counts) + np.arange(counts.sum())
    return rows

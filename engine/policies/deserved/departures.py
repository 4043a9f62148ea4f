"""The pods that leave their nodes at one moment of a pass, updated from an earlier moment."""

from collections.abc import Callable

import numpy as np

from engine.model.collections.offsets import ranges, running_sums
from engine.model.columns.departures import PassDepartures
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.snapshot import Snapshot

_MOST_STEPS = 256
"""The most steps of a pass that are looked back."""


class RowChanges:
    """The rows that changed at one step of a pass, and the step before it; None at the first one."""

    __slots__ = ("_before", "_rows")

    def __init__(self, rows: Rows | None = None, before: "RowChanges | None" = None) -> None:
        self._rows, self._before = rows, before

    def since(self, earlier: "RowChanges") -> Rows | None:
        """Return the rows that may have changed since an earlier step; None if it is unknown, or too long ago."""
        found, at = [np.zeros(0, np.intp)], self
        while at is not earlier:
            if at._before is None or at._rows is None or len(found) > _MOST_STEPS:
                return None
            found.append(at._rows)
            at = at._before
        return np.unique(np.concatenate(found))


class DeparturesOn:
    """The pods that leave some nodes."""

    def __init__(self, columns: Columns, places: Rows, leaving: Callable[[Rows], Flags]) -> None:
        """Look at the pods of the nodes ``places``; ``leaving`` returns for some rows whether they leave."""
        first, end = columns.first[places], columns.first[places + 1]
        self._rows, self._ends = ranges(first, end), running_sums(end - first)
        self._leaving = leaving(self._rows)

    @property
    def counts(self) -> Numbers:
        """Return how many pods leave each node."""
        return self._by_node(self._leaving)

    def of(self, weight: Numbers, upto: Numbers | None = None) -> Numbers:  # noqa: ARG002 - as of all departing pods
        """Return for each node the sum of the weights of the pods that leave."""
        return self._by_node(np.where(self._leaving, weight[self._rows], 0))

    def _by_node(self, numbers: Numbers) -> Numbers:
        sums = running_sums(numbers)
        by_node: Numbers = sums[self._ends[1:]] - sums[self._ends[:-1]]
        return by_node


def terminating_pods(snapshot: Snapshot) -> PassDepartures:
    """Return the terminating pods of a snapshot as departing, updated from the previous call of the pass."""
    columns = snapshot.columns
    cache: dict[str, PassDepartures] = snapshot.once("deserved terminating", None, dict)
    before = cache.get("latest")
    added = columns.since(before.columns) if before else None
    cache["latest"] = found = PassDepartures(
        columns,
        lambda: np.sort(columns.leaving),
        before=before,
        changed=None if added is None else (added, np.ones(len(added), np.int64)),
    )
    return found

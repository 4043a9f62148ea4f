"""What the victims on every node would cost under policy ``fence``."""

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.policies.common.pod_index import PodIndex

CRITERIA = ("opted-out", "originators", "priority", "victims", "distance", "work-lost", "age", "name")
"""What sets are compared by, in this order; the least wins."""


class Costs:
    """Every node with victims by ``CRITERIA``."""

    def __init__(self, ground: PodIndex, leaf: str, victims: Rows) -> None:
        """``victims`` are rows, node by node."""
        columns, order = ground.columns, ground.order
        node = columns.node[victims]
        first = np.flatnonzero(run_starts(node))
        self.places: Rows = node[first]
        self.counts: Numbers = np.diff(first, append=len(victims))
        by = (
            _over(np.add, order.opted_out[victims].astype(np.int64), first),
            _over(np.add, order.originator[victims].astype(np.int64), first),
            _over(np.maximum, columns.priority[victims], first),
            self.counts,
            _over(np.add, ground.distance(leaf)[ground.row_queue[victims]], first),
            _over(np.add, order.lost[victims], first),
            -_over(np.minimum, order.created[victims], first),
            self.places,  # in the order of names
        )
        telling = [cost for cost in by[::-1] if len(cost) and cost.min() != cost.max()]
        self._order: Rows = np.lexsort(telling) if telling else np.arange(len(first))
        self._by: Numbers = np.array(by)

    def ranked(self, without: Flags) -> Rows:
        """The nodes, but those (places) that are of no use any more, cheapest first, by their number here."""
        return self._order[~without[self.places[self._order]]]

    def loses(self, many: Rows, best: int) -> list[str]:
        """For each of these nodes the first of CRITERIA in which it is dearer than the best."""
        differs = self._by[:, many] != self._by[:, [best]]
        return [CRITERIA[number] for number in differs.argmax(axis=0).tolist()]


def _over(what: np.ufunc, numbers: Numbers, first: Rows) -> Numbers:
    """The sums, or whatever it is, over the stretches that begin at ``first``."""
    found: Numbers = what.reduceat(numbers, first) if len(first) else numbers
    return found

"""The cost of the victims on every node under policy ``fence``.

Source: the criteria are this product's own. YuniKorn's design document "Preemption" leaves them to the implementation,
and suggests the distance between the queues.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from engine.feasibility.checks import AmountCheck
from engine.model.collections.cheapest import cheapest_first
from engine.model.collections.offsets import run_starts
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.pod_index import PodIndex
from engine.policies.common.weight_bounds import Bounds

_FIRST = 4_096
"""How many of the cheapest nodes are sorted at first; of others it is seldom asked."""
CRITERIA = ("opted-out", "originators", "priority", "victims", "distance", "work-lost", "age", "name")
"""The criteria by which sets of victims are compared, in this order. The smallest value wins."""


class Costs:
    """The costs of every node with victims, one value for each of ``CRITERIA``."""

    def __init__(self, by: Sequence[Numbers]) -> None:
        self.by = tuple(by)
        """The costs by criterion, of each node with victims, in the order of their places."""

    @classmethod
    def of(cls, pod_index: PodIndex, leaf: str, victims: Rows) -> "Costs":
        """Compute the costs. ``victims``: rows of the victims, node by node."""
        columns, order = pod_index.columns, pod_index.order
        node, kind = columns.node[victims], pod_index.kinds.of[victims]
        first = np.flatnonzero(run_starts(node))
        return cls(
            (
                _reduce_by_node(np.add, pod_index.opted_out[kind].astype(np.int64), first),
                _reduce_by_node(np.add, pod_index.originator[kind].astype(np.int64), first),
                _reduce_by_node(np.maximum, pod_index.priority[kind], first),
                np.diff(first, append=len(victims)),
                _reduce_by_node(np.add, pod_index.queues.distance(leaf)[pod_index.queue][kind], first),
                _reduce_by_node(np.add, order.lost[victims], first),
                -_reduce_by_node(np.minimum, order.created[victims], first),
                node[first],  # in the order of names
            )
        )

    @property
    def places(self) -> Rows:
        """Return the places of the nodes with victims, in order."""
        return self.by[CRITERIA.index("name")]

    @property
    def counts(self) -> Numbers:
        """Return the number of victims on each of these nodes."""
        return self.by[CRITERIA.index("victims")]

    def with_others(self, keep: Flags, others: "Costs") -> "Costs":
        """Return these costs of the nodes to ``keep`` (flags by place), and those of other nodes.

        The cheapest nodes are those of before, and others that cost no more than the last of them.
        """
        kept = np.flatnonzero(keep[self.places])
        order = np.argsort(np.concatenate([self.places[kept], others.places]), kind="stable")
        found = Costs([np.concatenate([mine[kept], its])[order] for mine, its in zip(self.by, others.by, strict=True)])
        first = self.places[self._first]
        first = first[keep[first]]
        if len(first):
            among = np.searchsorted(found.places, np.concatenate([first, others.places]))
            among = among[cheapest_first([part[among] for part in found.by])]
            last = np.flatnonzero(keep[found.places[among]])[-1]
            found.__dict__["_first"] = among[: last + 1]
        return found

    @cached_property
    def _first(self) -> Rows:
        return cheapest_first(self.by, _FIRST)

    @cached_property
    def _order(self) -> Rows:
        return cheapest_first(self.by)

    def cheapest(self, count: int, without: Flags) -> Rows:
        """Return that many of the nodes, cheapest first, as indexes into ``places``.

        ``without``: flags of places to leave out.
        """
        first = self._first[~without[self.places[self._first]]]
        if len(first) < count and len(self._first) < len(self.places):
            first = self._order[~without[self.places[self._order]]]
        return first[:count]

    @cached_property
    def table(self) -> Numbers:
        """Return the costs of the nodes with victims, a column for each; the last row is the place."""
        return np.array(self.by)

    def loses(self, many: Rows, best: int) -> list[str]:
        """Return for each of these nodes the first of CRITERIA in which it costs more than the best node."""
        differs = np.array([cost[many] != cost[best] for cost in self.by])
        return [CRITERIA[number] for number in differs.argmax(axis=0).tolist()]


def _reduce_by_node(what: np.ufunc, numbers: Numbers, first: Rows) -> Numbers:
    """Reduce the numbers of each node by ``what`` (sum, minimum or maximum). ``first``: where each node begins."""
    found: Numbers = what.reduceat(numbers, first) if len(first) else numbers
    return found


def least_costs(attempt: PreemptionAttempt, limits: Sequence[AmountCheck], candidates: Flags) -> Numbers:
    """Return a lower bound of the costs of any set of victims on each node, one row for each criterion but the name.

    ``candidates``: by row, whether a pod may go. A pod that an earlier criterion rules out does not count in later
    ones: with it, the earlier one would be larger.
    """
    columns, order = attempt.columns, attempt.pod_index.order
    bounds = Bounds(columns, limits, candidates, attempt.leaving)
    opted_out, originators, highest, count = least_by_first_criteria(attempt, bounds)
    among = columns.priority <= highest[columns.node]
    among &= ~order.opted_out | (opted_out[columns.node] > 0)
    among &= ~order.originator | (originators[columns.node] > 0)
    distances = attempt.pod_index.queues.distance(attempt.leaf)[attempt.pod_index.row_queue]
    steps, lost = bounds.fewest(distances, among), bounds.fewest(order.lost, among)
    age = bounds.least(-order.created, among)
    return np.array([opted_out, originators, highest, count, steps, lost, age])


def least_by_first_criteria(attempt: PreemptionAttempt, bounds: Bounds) -> Numbers:
    """Return the same by the first four criteria alone, for which no pods have to be sorted."""
    order = attempt.pod_index.order
    opted_out, originators = (
        bounds.some(flags) if flags.any() else np.zeros(len(bounds.count), np.int64)
        for flags in (order.opted_out, order.originator)
    )
    return np.array([opted_out, originators, bounds.highest, bounds.count])

"""What the eviction of units costs, for many units at once.

Each column of a table of costs has one value for each of the criteria of policy ``fence``, in their order; the last is
the row of the pod, or of the lead of a group.
"""

from functools import cached_property

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.snapshot.eviction_units import Units
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.pod_index import PodIndex
from engine.policies.fence.victims.node_costs import CRITERIA

LARGEST = (CRITERIA.index("priority"), CRITERIA.index("age"))
"""The parts of the costs of several pods that are the largest of theirs; the others are sums."""
NEVER = -(2**63)
"""Less than any priority and any age."""


class UnitCosts:
    """The order of units by what their eviction costs: sums, or the largest, over the pods that would go."""

    def __init__(self, attempt: PreemptionAttempt, units: Units, may_go: Flags) -> None:
        self._pods, rows = PodCosts(attempt.pod_index, units, attempt.leaf), units.whole_by_lead
        self._units, self._columns = units, attempt.columns
        if attempt.columns.terminating[rows].any():
            self._groups = WholeGroups(self._pods, rows[may_go[rows]])
        else:
            pods = self._pods
            self._groups = attempt.snapshot.once(
                "costs of whole groups", (attempt.tree, attempt.leaf), lambda: WholeGroups(pods, rows)
            )
        self._whole = self._groups.rows[may_go[self._groups.rows]]

    def of(self, leads: Rows) -> Numbers:
        """Return what the eviction of units (leads) costs, a column for each."""
        found = self.of_pods(leads)
        whole = np.flatnonzero(self._units.whole[leads])
        found[:, whole] = self._groups.costs[:, self._groups.number[leads[whole]]]
        return found

    def uids(self, lead: int) -> tuple[str, ...]:
        """Return the uids of the pods of a whole group (by its lead) that would go."""
        if lead not in self._groups.uids:
            number = self._groups.number[lead]
            rows = self._whole[self._groups.number[self._whole] == number].tolist()
            self._groups.uids[lead] = tuple(self._columns.pods[row].uid for row in rows)
        return self._groups.uids[lead]

    def of_pods(self, rows: Rows) -> Numbers:
        """Return what the eviction of single pods costs, a column for each: of whole groups, the pod's share in it."""
        return np.array(self._pods.of(rows), np.int64)

    def least_by_node(self) -> Numbers:
        """Return the least of each part of the costs of whole groups on each node; the last row is the node."""
        if len(self._whole) == len(self._groups.rows):
            return self._groups.least_by_node
        return self._groups.least_of(self._whole)


class PodCosts:
    """What the eviction of each bound pod costs by itself, for a preemptor in one leaf."""

    def __init__(self, pod_index: PodIndex, units: Units, leaf: str) -> None:
        self.columns, self.units = pod_index.columns, units
        self._pod_index, self._distances = pod_index, pod_index.queues.distance(leaf)

    def of(self, rows: Rows) -> tuple[Numbers, ...]:
        """Return each part of the costs of some pods; the priority is that of the group for those of whole groups."""
        pod_index, units, columns = self._pod_index, self.units, self.columns
        order, priority, whole = pod_index.order, columns.priority[rows], units.whole[rows]
        if whole.any():
            priority = np.where(whole, np.maximum(priority, units.priority[rows]), priority)
        return (
            order.opted_out[rows].astype(np.int64),
            order.originator[rows].astype(np.int64),
            priority,
            np.ones(len(rows), np.int64),
            self._distances[pod_index.row_queue[rows]],
            order.lost[rows],
            -order.created[rows],
            rows.astype(np.int64),
        )


class WholeGroups:
    """What the eviction of each whole group costs. ``rows``: their pods that would go, group by group."""

    def __init__(self, pods: PodCosts, rows: Rows) -> None:
        columns, leads = pods.columns, pods.units.lead[rows]
        self._node: Rows = columns.node
        starts = run_starts(leads)
        first = np.flatnonzero(starts)
        self.rows: Rows = np.sort(rows)
        """The pods node by node."""
        self.number: Rows = np.zeros(len(columns.pods), np.intp)
        """Row -> the number of its whole group."""
        self.number[rows] = np.cumsum(starts) - 1
        opted_out, originator, priority, one, distance, lost, age, _ = pods.of(rows)
        self.costs: Numbers = np.array(
            (
                _reduced(np.add, opted_out, first),
                _reduced(np.add, originator, first),
                _reduced(np.maximum, priority, first),
                _reduced(np.add, one, first),
                _reduced(np.add, distance, first),
                _reduced(np.add, lost, first),
                _reduced(np.maximum, age, first),
                leads[first],
            )
        )
        """By number, what the eviction of a group costs, a column for each."""
        self.uids: dict[int, tuple[str, ...]] = {}
        """Lead of a group -> the uids of its pods, as far as they were asked for."""

    @cached_property
    def least_by_node(self) -> Numbers:
        """Return the least of each part of the costs of the groups on each node; the last row is the node."""
        return self.least_of(self.rows)

    def least_of(self, rows: Rows) -> Numbers:
        """Return the same of the groups of some pods, which come node by node."""
        node, number = self._node[rows], self.number[rows]
        first = np.flatnonzero(run_starts(node))
        nothing = np.zeros(len(first), np.int64)
        parts = [_reduced(np.minimum, part[number], first) if part.any() else nothing for part in self.costs]
        return np.array([*parts[:-1], node[first]], np.int64)


def _reduced(what: np.ufunc, numbers: Numbers, first: Rows) -> Numbers:
    found: Numbers = what.reduceat(numbers, first) if len(first) else numbers
    return found

"""What policy ``priority`` would evict on every node, all nodes at once, and which node it takes."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from engine.decision import NodeReason, NodeVerdict
from engine.feasibility import FITS, Feasibility
from engine.feasibility.checks import CURABLE, Limit
from engine.feasibility.node_rules import contradictory, unbound
from engine.feasibility.selectors import matches
from engine.snapshot import DisruptionBudget, Pod, Snapshot
from engine.snapshot.columns import Columns, Flags, Numbers, Rows

CRITERIA = ("violations", "priority", "sum", "victims", "start", "name")
"""What nodes are compared by, in this order."""
_BY_SCHEDULER = "PreemptionByScheduler"
_LOWEST = 2**31
"""Added to every priority of a sum, so that one victim more always weighs more."""


def survey(snapshot: Snapshot, ask: Pod) -> "Survey":
    """Look at every node; the victims are worked out only when asked for."""
    return Survey(snapshot, ask)


class Survey:
    """One ask held against all nodes. Columns are by row of a bound pod or by place of a node."""

    def __init__(self, snapshot: Snapshot, ask: Pod) -> None:
        self.snapshot, self.ask, self.columns = snapshot, ask, snapshot.columns
        self.feasibility = Feasibility(snapshot, ask, miscounting=True)
        self.first = self.feasibility.refusing()
        self.reserved = np.zeros(len(snapshot.nodes), np.bool_)
        self.reserved[
            [self.columns.place[held.node] for held in snapshot.reservations if held.node in self.columns.place]
        ] = True
        self.fits: Flags = (self.first == FITS) & ~self.reserved
        """Place -> whether the ask fits there as it is."""
        self.lower: Flags = self.columns.priority < ask.priority
        self.candidates: Flags = self.lower & ~self.columns.shielded
        """Row -> whether the pod may be evicted for the ask."""

    @cached_property
    def nowhere(self) -> bool:
        """Whether the ask is turned down before any node is looked at; then nobody asks whether it may preempt."""
        return unbound(self.snapshot, self.ask) is not None or contradictory(self.ask)

    def waits_for_victims(self) -> bool:
        """Whether room is being made already where the ask is nominated to; a node of no use does not count."""
        place = self.columns.place.get(self.ask.nominated_node)
        if place is None or not self._curable[place]:
            return False
        pods = (self.columns.pods[row] for row in self.columns.rows(place) if self.lower[row])
        return any(pod.terminating and pod.disruption == _BY_SCHEDULER for pod in pods)

    @cached_property
    def _curable(self) -> Flags:
        """Place -> whether evictions might help where the ask does not fit."""
        curable = [check.reason in CURABLE for check in self.feasibility.checks]
        return np.array([*curable, False], np.bool_)[self.first]  # FITS is the last

    @cached_property
    def _candidate_counts(self) -> Numbers:
        return self.columns.sums(self.candidates.astype(np.int64))

    @cached_property
    def _without(self) -> Rows:
        """Place -> the number of the check that refuses the ask even when all candidates are gone."""
        return self.feasibility.refusing(self.candidates)

    @cached_property
    def chosen(self) -> Flags:
        """Place -> whether evictions there would make room."""
        helps = self._curable & ~self.reserved & (self._candidate_counts > 0)
        return helps & (self._without == FITS) if helps.any() else helps

    @cached_property
    def violating(self) -> Flags:
        """Row -> whether a disruption budget does not allow for the candidate.

        A budget is spent on all candidates of a node, the most important first, whether or not they have to go.
        """
        violating = np.zeros(len(self.columns.pods), np.bool_)
        for budget in self.snapshot.budgets:
            covered = _covered(self.columns, budget)
            violating[covered.rows[self._beyond(covered, budget.allowed)]] = True
        return violating

    def _beyond(self, covered: "_Covered", allowed: int) -> Flags:
        counted = self.candidates[covered.rows]
        upto = np.cumsum(counted)
        rank: Rows = upto - (upto - counted)[covered.first]
        return counted & (rank > allowed)

    def overdrawn(self, row: int) -> list[str]:
        """The budgets that do not allow for a candidate."""
        if not self.violating[row]:
            return []
        named = ((budget.name, _covered(self.columns, budget), budget.allowed) for budget in self.snapshot.budgets)
        return [name for name, covered, allowed in named if row in covered.rows[self._beyond(covered, allowed)]]

    @cached_property
    def _order(self) -> Rows:
        """The candidates of nodes that are ``chosen``, node by node, as they are put back.

        Those whose budgets do not allow for them come first, else the most important.
        """
        rows = np.flatnonzero(self.candidates & self.chosen[self.columns.node])
        if not self.violating.any():
            return rows
        over, node = self.violating[rows], self.columns.node[rows]
        start = np.searchsorted(node, node)
        before: Rows = np.cumsum(over) - over
        rank_over: Rows = before - before[start]
        over_there = np.bincount(node[over], minlength=len(self.columns.nodes))
        rank_rest = np.arange(len(rows)) - start - rank_over + over_there[node]
        ordered = np.empty_like(rows)
        ordered[start + np.where(over, rank_over, rank_rest)] = rows
        return ordered

    @cached_property
    def victims(self) -> Flags:
        """Row -> whether the pod would be evicted if its node were taken."""
        victims = np.zeros(len(self.columns.pods), np.bool_)
        order = self._order
        places, starts, counts = np.unique(self.columns.node[order], return_index=True, return_counts=True)
        longest_first = np.argsort(-counts, kind="stable")
        places, starts, counts = places[longest_first], starts[longest_first], counts[longest_first]
        lines = [
            (limit.weight, self.feasibility.room(limit, self.candidates)[places]) for limit in self._binding(order)
        ]
        for turn in range(int(counts[0]) if len(counts) else 0):
            still = int(np.searchsorted(-counts, -turn, side="left"))
            rows = order[starts[:still] + turn]
            stays = np.ones(still, np.bool_)
            taking = []
            for weight, room in lines:
                wanted = weight[rows]
                taking.append(wanted)
                stays &= np.asarray(wanted <= room[:still], np.bool_)
            for (_, room), wanted in zip(lines, taking, strict=True):
                room[:still] -= wanted * stays
            victims[rows[~stays]] = True
        return victims

    def _binding(self, order: Rows) -> Iterator[Limit]:
        """The limits of which a pod that comes back may take something."""
        return (limit for limit in self.feasibility.limits if (limit.weight[order] > 0).any())

    def order_on(self, place: int) -> list[int]:
        """The candidates on a node as they are put back."""
        node = self.columns.node[self._order]
        return [int(row) for row in self._order[slice(*np.searchsorted(node, (place, place + 1)))]]

    def victims_on(self, place: int) -> list[int]:
        """The victims on a node, most important first."""
        return [row for row in self.columns.rows(place) if self.victims[row]]

    @cached_property
    def victim_counts(self) -> Numbers:
        """Place -> how many would be evicted there."""
        return self.columns.sums(self.victims.astype(np.int64))

    @cached_property
    def violations(self) -> Numbers:
        """Place -> how many of those a disruption budget does not allow for."""
        return self.columns.sums((self.victims & self.violating).astype(np.int64))

    @cached_property
    def _costs(self) -> tuple[Rows, list[Numbers]]:
        """The places that are ``chosen``, in the order of names, and what each costs by CRITERIA."""
        places = np.flatnonzero(self.chosen & (self.victim_counts > 0))
        rows = np.flatnonzero(self.victims)
        first = np.searchsorted(self.columns.node[rows], places)
        priority = self.columns.priority
        sums = self.columns.sums(np.where(self.victims, priority + _LOWEST, 0))
        top = rows[first]  # the most important one, and of its priority the one that started first
        return places, [
            self.violations[places],
            priority[top],
            sums[places],
            self.victim_counts[places],
            -self.columns.started[top],
            places,
        ]

    @cached_property
    def best(self) -> int | None:
        """The place of the node to take, None where there is none."""
        places, costs = self._costs
        left = np.arange(len(places))
        for cost in costs:
            if len(left) > 1:
                left = left[cost[left] == cost[left].min()]
        return int(places[left[0]]) if len(left) else None

    def ranked(self, count: int) -> list[tuple[int, int]]:
        """The cheapest places in order, each with the first of CRITERIA in which it loses to the best."""
        places, costs = self._costs
        order = np.lexsort(costs[::-1])[:count]
        best = order[0] if len(order) else 0
        return [
            (int(places[one]), next((number for number, cost in enumerate(costs) if cost[one] != cost[best]), 0))
            for one in order
        ]

    def verdict(self, place: int) -> NodeVerdict:
        """Why a node is of no use."""
        node = self.columns.nodes[place].name
        if self.reserved[place]:
            return NodeVerdict(node=node, reason=NodeReason.RESERVED)
        if not self._curable[place]:
            told = self.feasibility.refusal(int(self.first[place]), place)
            return NodeVerdict(node=node, reason=told.reason, detail=told.detail)
        if not self._candidate_counts[place]:
            return NodeVerdict(node=node, reason=NodeReason.NO_CANDIDATES)
        told = self.feasibility.refusal(int(self._without[place]), place)
        gone = int(self._candidate_counts[place])
        return NodeVerdict(node=node, reason=told.reason, detail=told.detail, victims=gone)

    def reasons(self) -> dict[NodeReason, int]:
        """Why nodes are of no use, counted."""
        left = ~self.chosen & ~self.fits
        counts: dict[NodeReason, int] = {}

        def count(reason: NodeReason, places: Flags) -> None:
            counts[reason] = counts.get(reason, 0) + int(np.count_nonzero(places))

        count(NodeReason.RESERVED, left & self.reserved)
        left &= ~self.reserved
        nobody = left & self._curable & (self._candidate_counts == 0)
        count(NodeReason.NO_CANDIDATES, nobody)
        left &= ~nobody
        refused = np.where(self._curable, self._without, self.first) if left.any() else self.first
        for number, times in enumerate(np.bincount(refused[left] + 1)[1:]):
            if times:
                reason = self.feasibility.checks[number].reason
                counts[reason] = counts.get(reason, 0) + int(times)
        return counts


class _Covered:
    """The rows that a budget covers, and for each the index of the first of its node among them."""

    def __init__(self, rows: Rows, node: Rows) -> None:
        self.rows = rows
        self.first = np.searchsorted(node, node)


def _covered(columns: Columns, budget: DisruptionBudget) -> _Covered:
    """An empty selector covers nothing here, nor does a budget count pods whose eviction was let through already.

    Source: filterPodsWithPDBViolation of kube-scheduler.
    """

    def make() -> _Covered:
        covered = columns.pod_kinds.flags(
            lambda pod: (
                pod.namespace == budget.namespace
                and bool(budget.expressions and pod.labels)
                and matches(budget.expressions, pod.labels)
            )
        )
        rows = np.flatnonzero(covered)
        if budget.disrupted:
            rows = np.array([row for row in rows if columns.pods[row].name not in budget.disrupted], np.intp)
        return _Covered(rows, columns.node[rows])

    made: _Covered = columns.once("covered", (budget.namespace, budget.expressions, budget.disrupted), make)
    return made

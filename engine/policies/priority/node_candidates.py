"""The victims that policy ``priority`` would choose on every node, for all nodes at once, and the best node."""

from functools import cached_property

import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.feasibility.checks import CURABLE
from engine.feasibility.node_rules import contradictory, first_unbound_claim
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import NodeReason, NodeVerdict
from engine.model.objects import PREEMPTION_BY_SCHEDULER, Pod
from engine.model.snapshot import Snapshot
from engine.policies.common.safeguards import restraints_of
from engine.policies.priority.other_sets import search
from engine.policies.priority.victims import BudgetViolations, Costs, ReprieveOrder


class NodeCandidates:
    """The candidates, victims and costs on every node for one pending pod, computed on demand.

    Arrays are indexed by the row of a bound pod or by the place of a node.
    """

    def __init__(self, snapshot: Snapshot, ask: Pod) -> None:
        self.snapshot, self.ask, self.columns = snapshot, ask, snapshot.columns
        self.feasibility = Feasibility(snapshot, ask, miscounting=True)
        self.first = self.feasibility.refusing()
        self.reserved = np.zeros(len(snapshot.nodes), np.bool_)
        self.reserved[
            [self.columns.place[held.node] for held in snapshot.reservations if held.node in self.columns.place]
        ] = True
        self.fits: Flags = (self.first == FITS) & ~self.reserved
        """Place -> whether the pending pod fits on that node without any eviction."""
        self.lower: Flags = self.columns.priority < ask.priority
        self.restraints = restraints_of(snapshot, snapshot.tree)
        may_go: Flags = self.lower & ~self.columns.shielded
        self.refused: Flags = self.restraints.refused
        """Row -> whether the pod would be a candidate but is protected by a safeguard."""
        if self.restraints.restrains:
            self.refused = may_go & self.refused & ~self.columns.terminating
            may_go = may_go & ~self.refused
        self.candidates: Flags = may_go
        """Row -> whether the pod may be evicted for the pending pod."""
        self.gave_up = False
        """Whether on some node no set of victims was found and not all sets were tried."""

    @cached_property
    def nowhere(self) -> bool:
        """Return whether the pod is rejected before any node is examined; then preemption is not considered either."""
        return first_unbound_claim(self.snapshot, self.ask) is not None or contradictory(self.ask)

    def waits_for_victims(self) -> bool:
        """Return whether victims are already terminating on the node to which the pending pod is nominated.

        A node where evictions can't help does not count.
        """
        place = self.columns.place.get(self.ask.nominated_node)
        if place is None or not self.curable[place]:
            return False
        pods = (self.columns.pods[row] for row in self.columns.rows(place) if self.lower[row])
        return any(pod.terminating and pod.disruption == PREEMPTION_BY_SCHEDULER for pod in pods)

    @cached_property
    def curable(self) -> Flags:
        """Return for each node (by place) whether the pending pod does not fit there but evictions might help."""
        curable = [check.reason in CURABLE for check in self.feasibility.checks]
        return np.array([*curable, False], np.bool_)[self.first]  # FITS is the last

    @cached_property
    def leaving(self) -> DepartingPods:
        """Return all candidates as departed."""
        return DepartingPods(self.columns, self.candidates)

    @cached_property
    def _without(self) -> Rows:
        """Return for each node (by place) the number of the check that fails even without all candidates, or FITS."""
        return self.feasibility.refusing(self.leaving)

    @cached_property
    def chosen(self) -> Flags:
        """Return for each node (by place) whether evicting all candidates there would make enough room."""
        helps = self.curable & ~self.reserved & (self.leaving.counts > 0)
        return helps & (self._without == FITS) if helps.any() else helps

    @cached_property
    def budgets(self) -> BudgetViolations:
        """Return the violations of disruption budgets by the candidates."""
        return BudgetViolations(self.columns, self.snapshot.budgets, self.candidates)

    @cached_property
    def _turns(self) -> ReprieveOrder:
        return ReprieveOrder(self.columns, np.flatnonzero(self.chosen), self.candidates, self.budgets.violating)

    @cached_property
    def victims(self) -> Rows:
        """Return the rows of the victims on every ``useful`` node.

        Nodes whose victims together would violate a disruption budget are left out. Only if no node remains are other
        sets of victims tried.
        """
        greedy = np.flatnonzero(self._turns.victims(self.feasibility, self.leaving))
        over = self._over_budget(greedy)
        within = greedy[~over[self.columns.node[greedy]]] if over.any() else greedy
        return (
            within if len(within) or not over.any() else self._other_set(Costs(self.columns, greedy, self._violating))
        )

    @cached_property
    def useful(self) -> Flags:
        """Return for each node (by place) whether it has victims."""
        useful = np.zeros(len(self.columns.nodes), np.bool_)
        useful[self.columns.node[self.victims]] = True
        return useful

    def _over_budget(self, victims: Rows) -> Flags:
        """Return for each node (by place) whether evicting all of its victims together would violate a budget."""
        columns, over = self.columns, np.zeros(len(self.columns.nodes), np.bool_)
        for limit in self.restraints.limits:
            covered = victims[np.isin(victims, limit.covered) & ~columns.terminating[victims]]
            over |= np.bincount(columns.node[covered], minlength=len(over)) > limit.allowed
        return over

    def _other_set(self, costs: Costs) -> Rows:
        """Return the victims (rows) on the cheapest node that has a set of victims within all budgets."""
        for place in costs.in_order():
            found = search(self.feasibility, self.columns, self.restraints.limits, place, self._turns.on(place))
            victims = found.victims()
            self.gave_up |= victims is None and found.gave_up
            if victims is not None:
                return np.array(sorted(victims[0]), np.intp)
        return np.zeros(0, np.intp)

    @cached_property
    def _violating(self) -> Flags:
        """Return for each pod (by row) whether its eviction would violate a budget.

        With safeguards this is always false, because they exclude the pods concerned from the candidates.
        """
        if self.snapshot.safeguards is None:
            return self.budgets.violating
        return np.zeros(len(self.columns.pods), np.bool_)

    def order_on(self, place: int) -> list[int]:
        """Return the candidates (rows) on a ``chosen`` node in the order in which they may be reprieved."""
        return self._turns.on(place)

    def victims_on(self, place: int) -> list[int]:
        """Return the victims (rows) on a node, the most important first."""
        low, high = np.searchsorted(self.victims, (self.columns.first[place], self.columns.first[place + 1]))
        return [int(row) for row in self.victims[low:high]]

    @cached_property
    def costs(self) -> Costs:
        """Return the costs of every ``useful`` node."""
        return Costs(self.columns, self.victims, self._violating)

    @cached_property
    def best(self) -> int | None:
        """Return the place of the cheapest node, None if no node has victims."""
        return self.costs.ranked[0][0] if self.costs.ranked else None

    def verdict(self, place: int) -> NodeVerdict:
        """Return why a node has no victims."""
        node = self.columns.nodes[place].name
        if self.reserved[place]:
            return NodeVerdict(node=node, reason=NodeReason.RESERVED)
        if not self.curable[place]:
            told = self.feasibility.refusal(int(self.first[place]), place)
            return NodeVerdict(node=node, reason=told.reason, detail=told.detail)
        if not self.leaving.counts[place]:
            return NodeVerdict(node=node, reason=NodeReason.NO_CANDIDATES)
        if self.chosen[place]:
            return NodeVerdict(node=node, reason=NodeReason.NOT_ENOUGH, victims=int(self.leaving.counts[place]))
        told = self.feasibility.refusal(int(self._without[place]), place)
        gone = int(self.leaving.counts[place])
        return NodeVerdict(node=node, reason=told.reason, detail=told.detail, victims=gone)

    def reasons(self) -> dict[NodeReason, int]:
        """Count the nodes without victims by reason."""
        left = ~self.useful & ~self.fits
        counts: dict[NodeReason, int] = {}

        def count(reason: NodeReason, places: Flags) -> None:
            counts[reason] = counts.get(reason, 0) + int(np.count_nonzero(places))

        count(NodeReason.RESERVED, left & self.reserved)
        left &= ~self.reserved
        nobody = left & self.curable & (self.leaving.counts == 0)
        count(NodeReason.NO_CANDIDATES, nobody)
        left &= ~nobody
        count(NodeReason.NOT_ENOUGH, left & self.chosen)
        left &= ~self.chosen
        refused = np.where(self.curable, self._without, self.first) if left.any() else self.first
        for number, times in enumerate(np.bincount(refused[left] + 1)[1:]):
            if times:
                reason = self.feasibility.checks[number].reason
                counts[reason] = counts.get(reason, 0) + int(times)
        return counts

"""What policy ``priority`` would evict on every node, all nodes at once, and which node it takes."""

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
    """One ask held against all nodes; the victims are worked out only when asked for.

    Columns are by row of a bound pod or by place of a node.
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
        """Place -> whether the ask fits there as it is."""
        self.lower: Flags = self.columns.priority < ask.priority
        self.restraints = restraints_of(snapshot, snapshot.tree)
        may_go: Flags = self.lower & ~self.columns.shielded
        self.refused: Flags = self.restraints.refused
        """Row -> whether a safeguard keeps a pod that may go but for that."""
        if self.restraints.restrains:
            self.refused = may_go & self.refused & ~self.columns.terminating
            may_go = may_go & ~self.refused
        self.candidates: Flags = may_go
        """Row -> whether the pod may be evicted for the ask."""
        self.gave_up = False
        """Whether not all sets of pods were tried, and none was found."""

    @cached_property
    def nowhere(self) -> bool:
        """Whether the ask is turned down before any node is looked at; then nobody asks whether it may preempt."""
        return first_unbound_claim(self.snapshot, self.ask) is not None or contradictory(self.ask)

    def waits_for_victims(self) -> bool:
        """Whether room is being made already where the ask is nominated to; a node of no use does not count."""
        place = self.columns.place.get(self.ask.nominated_node)
        if place is None or not self.curable[place]:
            return False
        pods = (self.columns.pods[row] for row in self.columns.rows(place) if self.lower[row])
        return any(pod.terminating and pod.disruption == PREEMPTION_BY_SCHEDULER for pod in pods)

    @cached_property
    def curable(self) -> Flags:
        """Place -> whether evictions might help where the ask does not fit."""
        curable = [check.reason in CURABLE for check in self.feasibility.checks]
        return np.array([*curable, False], np.bool_)[self.first]  # FITS is the last

    @cached_property
    def leaving(self) -> DepartingPods:
        """All candidates, gone."""
        return DepartingPods(self.columns, self.candidates)

    @cached_property
    def _without(self) -> Rows:
        """Place -> the number of the check that refuses the ask even when all candidates are gone."""
        return self.feasibility.refusing(self.leaving)

    @cached_property
    def chosen(self) -> Flags:
        """Place -> whether evictions there would make room."""
        helps = self.curable & ~self.reserved & (self.leaving.counts > 0)
        return helps & (self._without == FITS) if helps.any() else helps

    @cached_property
    def budgets(self) -> BudgetViolations:
        """What disruption budgets say of the candidates."""
        return BudgetViolations(self.columns, self.snapshot.budgets, self.candidates)

    @cached_property
    def _turns(self) -> ReprieveOrder:
        return ReprieveOrder(self.columns, np.flatnonzero(self.chosen), self.candidates, self.budgets.violating)

    @cached_property
    def victims(self) -> Rows:
        """The rows of the victims on every node that is ``useful``.

        Where disruption budgets do not allow for those of a node together, another node is taken; other sets are tried
        only where there is none.
        """
        greedy = np.flatnonzero(self._turns.victims(self.feasibility, self.leaving))
        over = self._over_budget(greedy)
        within = greedy[~over[self.columns.node[greedy]]] if over.any() else greedy
        return (
            within if len(within) or not over.any() else self._other_set(Costs(self.columns, greedy, self._violating))
        )

    @cached_property
    def useful(self) -> Flags:
        """Place -> whether there are victims there."""
        useful = np.zeros(len(self.columns.nodes), np.bool_)
        useful[self.columns.node[self.victims]] = True
        return useful

    def _over_budget(self, victims: Rows) -> Flags:
        """Place -> whether budgets do not allow for all of its victims together."""
        columns, over = self.columns, np.zeros(len(self.columns.nodes), np.bool_)
        for limit in self.restraints.limits:
            covered = victims[np.isin(victims, limit.covered) & ~columns.terminating[victims]]
            over |= np.bincount(columns.node[covered], minlength=len(over)) > limit.allowed
        return over

    def _other_set(self, costs: Costs) -> Rows:
        """The victims on the first node, the cheapest first, that has a set which budgets allow for."""
        for place in costs.in_order():
            found = search(self.feasibility, self.columns, self.restraints.limits, place, self._turns.on(place))
            victims = found.victims()
            self.gave_up |= victims is None and found.gave_up
            if victims is not None:
                return np.array(sorted(victims[0]), np.intp)
        return np.zeros(0, np.intp)

    @cached_property
    def _violating(self) -> Flags:
        """Row -> whether taking the pod violates a budget: none does that may be taken within safeguards."""
        if self.snapshot.safeguards is None:
            return self.budgets.violating
        return np.zeros(len(self.columns.pods), np.bool_)

    def order_on(self, place: int) -> list[int]:
        """The candidates on a node that is ``chosen``, as they are put back."""
        return self._turns.on(place)

    def victims_on(self, place: int) -> list[int]:
        """The victims on a node, most important first."""
        low, high = np.searchsorted(self.victims, (self.columns.first[place], self.columns.first[place + 1]))
        return [int(row) for row in self.victims[low:high]]

    @cached_property
    def costs(self) -> Costs:
        """What every node that is ``useful`` would cost."""
        return Costs(self.columns, self.victims, self._violating)

    @cached_property
    def best(self) -> int | None:
        """The place of the node to take, None where there is none."""
        return self.costs.ranked[0][0] if self.costs.ranked else None

    def verdict(self, place: int) -> NodeVerdict:
        """Why a node is of no use."""
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
        """Why nodes are of no use, counted."""
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

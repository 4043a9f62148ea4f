"""One attempt of policy ``priority`` to place a pending pod: where it fits, and which pods may be evicted for it."""

from functools import cached_property

import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.feasibility.checks import CURABLE
from engine.feasibility.node_rules import contradictory, first_unbound_claim
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Rows
from engine.model.objects import PREEMPTION_BY_SCHEDULER, Pod
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import Units
from engine.policies.common.safeguards import restraints_of
from engine.policies.priority.victims import BudgetViolations


class PriorityAttempt:
    """The state of preemption by priority for one pending pod (``ask``), computed on demand.

    Arrays are indexed by the row of a bound pod or by the place of a node.
    """

    def __init__(self, snapshot: Snapshot, ask: Pod, units: Units | None = None) -> None:
        """Start an attempt. ``units``: what is evicted together; None: every pod is evicted alone."""
        self.snapshot, self.ask, self.columns, self.units = snapshot, ask, snapshot.columns, units
        self.feasibility = Feasibility(snapshot, ask, miscounting=True)
        self.refusing: Rows = self.feasibility.refusing()
        """Place -> the number of the check that refuses the pending pod, or FITS."""
        place = self.columns.place
        self.reserved: Flags = np.zeros(len(snapshot.nodes), np.bool_)
        self.reserved[[place[held.node] for held in snapshot.reservations if held.node in place]] = True
        self.fits: Flags = (self.refusing == FITS) & ~self.reserved
        """Place -> whether the pending pod fits on that node without any eviction."""
        self.lower: Flags = (self.columns.priority if units is None else units.priority) < ask.priority
        self.restraints = restraints_of(snapshot, snapshot.tree)
        may_go: Flags = self.lower & ~self.columns.shielded
        self.refused: Flags = self.restraints.refused
        """Row -> whether the pod would be a candidate but is protected by a safeguard."""
        if self.restraints.restrains:
            self.refused = may_go & self.refused & ~self.columns.terminating
            may_go = may_go & ~self.refused
        self.candidates: Flags = may_go
        """Row -> whether the pod may be evicted for the pending pod."""

    @cached_property
    def nowhere(self) -> bool:
        """Return whether the pod is rejected before any node is examined; then preemption is not considered either.

        Source: PreFilter of kube-scheduler's plugins VolumeBinding and NodeAffinity.
        """
        return first_unbound_claim(self.snapshot, self.ask) is not None or contradictory(self.ask)

    def waits_for_victims(self) -> bool:
        """Return whether victims are already terminating on the node to which the pending pod is nominated.

        A node where evictions can't help does not count.

        Source: DefaultPreemption.PodEligibleToPreemptOthers of kube-scheduler.
        """
        place = self.columns.place.get(self.ask.nominated_node)
        if place is None or not self.curable[place]:
            return False
        pods = (self.columns.pods[row] for row in self.columns.rows(place) if self.lower[row])
        return any(pod.terminating and pod.disruption == PREEMPTION_BY_SCHEDULER for pod in pods)

    @cached_property
    def curable(self) -> Flags:
        """Return for each node (by place) whether the pending pod does not fit there but evictions might help.

        Source: Evaluator.findCandidates of kube-scheduler, which tries the nodes with status Unschedulable.
        """
        curable = [check.reason in CURABLE for check in self.feasibility.checks]
        return np.array([*curable, False], np.bool_)[self.refusing]  # FITS is the last

    @cached_property
    def departing(self) -> DepartingPods:
        """Return all candidates as departed."""
        return DepartingPods(self.columns, self.candidates)

    @cached_property
    def refusing_without(self) -> Rows:
        """Return for each node (by place) the number of the check that fails even without all candidates, or FITS."""
        return self.feasibility.refusing(self.departing)

    @cached_property
    def can_make_room(self) -> Flags:
        """Return for each node (by place) whether evicting all candidates there would make enough room.

        Source: DefaultPreemption.SelectVictimsOnNode of kube-scheduler, which removes all pods of lower priority first.
        """
        helps = self.curable & ~self.reserved & (self.departing.counts > 0)
        return helps & (self.refusing_without == FITS) if helps.any() else helps

    @cached_property
    def budgets(self) -> BudgetViolations:
        """Return the violations of disruption budgets by the candidates."""
        return BudgetViolations(self.columns, self.snapshot.budgets, self.candidates)

    @cached_property
    def violating(self) -> Flags:
        """Return for each pod (by row) whether its eviction would violate a budget.

        With safeguards this is always false, because they exclude the pods concerned from the candidates.
        """
        if self.snapshot.safeguards is None:
            return self.budgets.violating
        return np.zeros(len(self.columns.pods), np.bool_)

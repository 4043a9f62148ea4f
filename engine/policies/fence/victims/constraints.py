"""Constraints that keep a pending pod from running on nodes, and how much each eviction relaxes them.

Source: the section on the preemption logic of YuniKorn's design document "Preemption": free capacity counts, and the
pending pod is checked to fit on the node.
"""

from collections.abc import Callable

import numpy as np

from engine.feasibility.checks import AmountCheck
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.policies.common.attempt import PreemptionAttempt


class Constraint:
    """One constraint on some nodes: the pending pod can't run on a node while the excess there (``over``) is above 0.

    Each evicted pod lowers the excess on its node by its weight. ``mends``: whether weights are negative, for pods that
    the pending pod's affinity wants nearby. ``unless``: a second sum, lowered by ``unless_weight``, which lifts the
    constraint once it is down to 0.
    """

    def __init__(
        self,
        weight: Numbers,
        over: Numbers,
        *,
        on_node: bool,
        mends: bool = False,
        unless: Numbers | None = None,
        unless_weight: Numbers | None = None,
    ) -> None:
        self.weight, self.over, self.mends = weight, over, mends
        self.unless, self.unless_weight = unless, weight if unless_weight is None else unless_weight
        self.short: Flags = self.exceeded(np.arange(len(over))) & on_node
        """For each node, whether the constraint is exceeded on the node itself before any eviction."""

    def exceeded(self, at: Rows) -> Flags:
        """Return for each of these nodes whether the constraint keeps the pending pod out.

        ``at``: indexes into the places of the constraint.
        """
        exceeded = np.asarray(self.over[at] > 0, np.bool_)
        return exceeded if self.unless is None else exceeded & np.asarray(self.unless[at] > 0, np.bool_)

    def exceeded_with(self, at: Rows, rows: Rows) -> Flags:
        """Return the same if one evicted pod (row) on each of these nodes were put back."""
        exceeded = np.asarray(self.over[at] + self.weight[rows] > 0, np.bool_)
        if self.unless is None:
            return exceeded
        return exceeded & np.asarray(self.unless[at] + self.unless_weight[rows] > 0, np.bool_)

    def evict(self, at: Rows, rows: Rows, times: int) -> None:
        """Subtract the weight of one evicted pod (row) on each of these nodes; with ``times`` -1, put it back."""
        self.over[at] -= self.weight[rows] * times
        if self.unless is not None:
            self.unless[at] -= self.unless_weight[rows] * times


class Constraints:
    """All constraints on some nodes (places), updated incrementally while pods are evicted and put back."""

    def __init__(self, attempt: PreemptionAttempt, places: Rows) -> None:
        self.all = [constraint for source in SOURCES.values() for constraint in source(attempt, places)]
        self._near = [constraint for constraint in self.all if constraint.mends]
        none_short = np.ones(len(places), np.bool_)
        for constraint in self.all:
            none_short &= ~constraint.short
        self._none_short = none_short

    def exceeded(self, at: Rows) -> Flags:
        """Return for each of these nodes (indexes into the places) whether the pending pod is kept out."""
        exceeded = np.zeros(len(at), np.bool_)
        for constraint in self.all:
            exceeded |= constraint.exceeded(at)
        return exceeded

    def exceeded_with(self, at: Rows, rows: Rows) -> Flags:
        """Return the same if one evicted pod (row) on each of these nodes were put back."""
        exceeded = np.zeros(len(at), np.bool_)
        for constraint in self.all:
            exceeded |= constraint.exceeded_with(at, rows)
        return exceeded

    def helps(self, at: Rows, rows: Rows) -> Flags:
        """Return for one pod (row) on each of these nodes whether its eviction helps.

        It helps if the pod holds some of what is missing on the node, or if nothing is missing on the node itself.
        """
        helps = self._none_short[at]
        for constraint in self.all:
            helps = helps | (constraint.short[at] & np.asarray(constraint.weight[rows] > 0, np.bool_))
        return helps

    def wanted_near(self, at: Rows, rows: Rows) -> Flags:
        """Return for one pod (row) on each of these nodes whether the pending pod's required affinity depends on it."""
        if not self._near:
            return np.zeros(len(at), np.bool_)
        before = self._far(at)
        for constraint in self._near:
            constraint.evict(at, rows, 1)
        after = self._far(at)
        for constraint in self._near:
            constraint.evict(at, rows, -1)
        return after & ~before

    def _far(self, at: Rows) -> Flags:
        far = np.zeros(len(at), np.bool_)
        for constraint in self._near:
            far |= constraint.exceeded(at)
        return far

    def evict(self, at: Rows, rows: Rows, times: int = 1) -> None:
        """Update all constraints for the eviction of one pod (row) on each of these nodes; -1 puts it back."""
        for constraint in self.all:
            constraint.evict(at, rows, times)


def over_limit(attempt: PreemptionAttempt, limit: AmountCheck, places: Rows | slice = slice(None)) -> Numbers:
    """Return by how much the pending pod would exceed a limit on some nodes, once terminating pods are gone.

    The result is negative below the limit. The pod must fit both with the pods nominated there and without.
    """
    over: Numbers = limit.held[places] - limit.cap[places]
    if attempt.emptying[places].any():
        over = over - attempt.leaving.of(limit.weight)[places]
    return over + np.maximum(limit.more(), 0)[places] if limit.added else over


def _on_node(attempt: PreemptionAttempt, places: Rows) -> list[Constraint]:
    """Return the constraints of the nodes."""
    found = []
    for limit in attempt.feasibility.limits:
        over = over_limit(attempt, limit, places)
        if not limit.mends and not np.any(over > 0):
            continue
        unless = None
        if limit.unless is not None:
            gone = attempt.leaving.of(limit.unless_weight)[places] if attempt.emptying[places].any() else 0
            unless = np.full(len(places), limit.unless) - gone
        found.append(
            Constraint(
                limit.weight,
                over,
                on_node=True,
                mends=limit.mends,
                unless=unless,
                unless_weight=limit.unless_weight,
            )
        )
    return found


def _under_max(attempt: PreemptionAttempt, places: Rows) -> list[Constraint]:
    """Return the constraints of every max above the pending pod's queue, relaxed by evictions from below that max."""
    pod_index = attempt.pod_index
    found = []
    for (path, resource), excess in attempt.excess().items():
        inside = pod_index.queues.below(path)[pod_index.row_queue]
        weight = np.where(inside, pod_index.amounts(resource)[pod_index.kinds.of], 0)
        over = np.full(len(places), excess, np.int64 if excess <= SAFE else object)
        found.append(Constraint(weight, over, on_node=False))
    return found


SOURCES: dict[str, Callable[[PreemptionAttempt, Rows], list[Constraint]]] = {"node": _on_node, "max": _under_max}
"""Source of constraints -> function that returns them for some nodes. All must hold for the pending pod to fit."""

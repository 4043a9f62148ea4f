"""What makes it sure that there is no plan for a gang: too little room, or too little that may be preempted."""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.feasibility.moving_checks import MovingChecks
from engine.model.collections.offsets import run_starts
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import NodeReason
from engine.model.objects import Pod
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.fence.groups.units import CandidateUnits


def room_at_most(candidates: CandidateUnits, shapes: MemberShapes, placed: Placed, pod: Pod, enough: int) -> int:
    """Return how many pods like this one fit at once without all candidates, up to a number that is enough.

    ``placed``: members that have a node already. Pods of other nodes must make no difference to any of them.
    """
    columns = candidates.attempt.columns
    gone = np.union1d(columns.leaving, np.flatnonzero(candidates.may_go))
    checks = shapes.checks_of(pod, DepartingPods(columns, gone), ~candidates.attempt.open)
    for other, place in placed:
        checks.bind(other, place)
    for number in range(enough):
        allowed = checks.allowed()
        if not allowed.any():
            return number
        checks.bind(pod, int(allowed.argmax()))
    return enough


def enough_preemptable(candidates: CandidateUnits, checks: MovingChecks, placed: Placed, pod: Pod, number: int) -> bool:
    """Return whether the queues may lose what a number of pods like this one need at least; True if not known.

    ``checks``: those of the pod. ``placed``: members that have a node already.
    """
    for limit in checks.shape.limits:
        if limit.reason is NodeReason.INSUFFICIENT and limit.detail in candidates.amounts:
            request = pod.requests[limit.detail]
            free = limit.cap - limit.held + candidates.attempt.leaving.of(limit.weight) + request
            for other, place in placed:
                free[place] -= limit.times(other)
            if _needed_at_least(free[checks.open], request, number) > _preemptable(candidates, limit.detail):
                return False
    return True


def _needed_at_least(free: Numbers, request: int, number: int) -> int:
    """Return how much has to be freed at least for some pods. ``free``: what is free of the resource on each node.

    Every pod beyond the first on a node takes what the one before it left, so that each needs more than the former.
    """
    first, second = np.maximum(0, request - free), np.maximum(0, 2 * request - free)
    least = np.sort(np.concatenate([first, second - first, np.full(number, request)]))
    return int(least[:number].sum())


def _preemptable(candidates: CandidateUnits, resource: str) -> int:
    """Return how much of a guaranteed resource all candidates together may lose at most, by their queues."""
    pod_index, amounts = candidates.attempt.pod_index, candidates.amounts[resource]
    kinds = np.bincount(pod_index.kinds.of[candidates.may_go], minlength=len(pod_index.counts))
    left = np.zeros(pod_index.nobody + 1, amounts.dtype)
    np.add.at(left, pod_index.queue, kinds * pod_index.amounts(resource))
    for depth in range(int(pod_index.depth.max()), -1, -1):
        queues = np.flatnonzero(pod_index.depth[:-1] == depth)
        left[queues] = np.minimum(left[queues], np.maximum(amounts[queues], 0))
        if depth:
            np.add.at(left, pod_index.queues.above[queues], left[queues])
    return int(left[pod_index.number[candidates.attempt.tree.root]])


class QueueShortages:
    """Where it is sure that nothing makes room for a member, because the queues there may lose too little more."""

    def __init__(self, candidates: CandidateUnits) -> None:
        attempt = candidates.attempt
        self._candidates, self._pod_index, self._columns = candidates, attempt.pod_index, attempt.columns
        queue = self._pod_index.row_queue
        self._order: Rows = np.lexsort((queue, self._columns.node))
        """The rows node by node, and on each node queue by queue."""
        of_both = self._columns.node[self._order] * (self._pod_index.nobody + 1) + queue[self._order]
        self._first = np.flatnonzero(run_starts(of_both))
        self._queue, self._node = queue[self._order][self._first], self._columns.node[self._order][self._first]

    def surely_short(self, checks: MovingChecks, left: Mapping[str, Sequence[int]], gone: Flags) -> Flags:
        """Return, by node index, whether all candidates that may still go free too little.

        ``left``: guaranteed resource -> by queue number, how much more it may lose. ``gone``: by row, whether a pod
        was taken already.
        """
        short = np.zeros(len(self._columns.nodes), np.bool_)
        may_go = (self._candidates.may_go & ~gone)[self._order]
        for limit in checks.shape.limits:
            if limit.reason is NodeReason.INSUFFICIENT and limit.detail in left and len(self._first):
                held = np.add.reduceat(np.where(may_go, limit.weight[self._order], 0), self._first)
                most = self._most(np.array(left[limit.detail], held.dtype))
                freed = np.zeros(len(short), held.dtype)
                np.add.at(freed, self._node, np.minimum(held, most[self._queue]))
                short |= np.asarray(checks.left_of(limit) + freed < 0, np.bool_)
        return short

    def _most(self, left: Numbers) -> Numbers:
        """Return, by queue number, the least of what the queue and those above it may lose."""
        most = np.append(np.maximum(left[:-1], 0), left.max(initial=0))
        for queues in self._pod_index.ancestors:
            most = np.minimum(most, most[queues])
        return most

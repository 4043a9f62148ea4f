"""Determines which pods may be preempted under policy ``deserved``, and why the others may not.

Source: the section on preemption of the proposal of k8s-arbitrator: neither reserved amounts nor disruption budgets are
broken.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from copy import copy
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import PodReason
from engine.model.objects import Pod
from engine.model.snapshot.eviction_units import group_of, is_whole, whole_rows
from engine.policies.common.pod_index import PodIndex
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.budget_coverage import BudgetCoverage
from engine.policies.deserved.pod_kinds import ExclusionReason, exclusion_reason, pod_kinds_of
from engine.policies.deserved.shares.balances import ShareBalances
from engine.policies.deserved.shares.order import ShareOrder
from engine.policies.deserved.shares.share_ledger import reserved_of

if TYPE_CHECKING:
    from engine.policies.deserved.departures import RowChanges


class Candidates:
    """The bound pods that may be preempted for a pending pod, judged before any pod is preempted."""

    def __init__(self, attempt: ReclaimAttempt, *, whole_groups: bool = False) -> None:
        """Judge all bound pods. ``whole_groups``: whether pods may go that go with their whole group."""
        self.attempt = attempt
        self.balances = ShareBalances(attempt)
        self.budgets = BudgetCoverage(attempt.snapshot)
        self.counts: Counter[PodReason] = Counter()
        """Reason -> the number of pods that may not be preempted for it."""
        self.excluded_by_kind: Counter[PodReason] = Counter()
        """The part of ``counts`` that is in queues which may be preempted from."""
        self._kinds = pod_kinds_of(attempt.snapshot, attempt.nodes.pod_index, self.budgets)
        self._in_grace: Flags | None = None
        """Queue number -> whether its grace period is not over; None if grace periods are not considered."""
        kinds = self._judge_kinds()
        self.preemptable: Flags
        """Pod row -> whether that pod may be preempted."""
        self.step: RowChanges | None
        """The step of the pass that changed ``preemptable`` last; None if it is not known which rows changed."""
        self.preemptable, self.step = self._kinds.preemptable(attempt.nodes.columns, kinds)
        self._leave_out(PodReason.OUTSIDE_SCOPE, attempt.nodes.restraints.rows(PodReason.OUTSIDE_SCOPE))
        if not whole_groups:
            self._leave_out(PodReason.WHOLE_GROUP, whole_rows(attempt.snapshot))
        self.queues: Flags = np.zeros(attempt.nodes.pod_index.nobody + 1, np.bool_)
        """Queue number -> whether the queue has any candidates."""
        if self.counts[PodReason.OUTSIDE_SCOPE] or self.counts[PodReason.WHOLE_GROUP]:
            self.queues[attempt.nodes.pod_index.row_queue[self.preemptable]] = True
        else:
            self.queues[self._kinds.queue[kinds]] = True
        self.beyond = self.queues
        """The same as ``queues``, but including queues whose grace period is not over."""

    def _leave_out(self, reason: PodReason, rows: Rows) -> None:
        """Exclude candidates (rows) for a reason that no kind of pods has, and count them."""
        if not len(rows):
            return
        self.step = None
        self.preemptable = self.preemptable.copy()  # the original array is reused for the next pending pod
        self.counts[reason] += int(np.count_nonzero(self.preemptable[rows]))
        self.preemptable[rows] = False

    @property
    def pods(self) -> list[Pod]:
        """Return all pods that may be preempted."""
        return list(compress(self.attempt.nodes.columns.pods, self.preemptable.tolist()))

    @property
    def budgeted(self) -> Rows:
        """Return the rows of the candidates that a disruption budget covers."""
        return np.flatnonzero(self.preemptable & self._kinds.budgeted[self._kinds.of])

    def on(self, place: int) -> list[Pod]:
        """Return the candidates on one node."""
        columns = self.attempt.nodes.columns
        rows = columns.rows(place)
        return list(compress(columns.on(place), self.preemptable[rows.start : rows.stop].tolist()))

    @cached_property
    def count(self) -> int:
        """Return the number of candidates."""
        return int(np.count_nonzero(self.preemptable))

    def rows_of(self, queue: str) -> Rows:
        """Return the rows of a queue's candidates."""
        rows = self._kinds.rows_of_queue.of(self.attempt.nodes.pod_index.number[queue])
        return rows[self.preemptable[rows]]

    def in_order(self, queues: Flags) -> Iterator[str]:
        """Yield some of the queues in the order in which they are preempted from."""
        return self._order.among(queues)

    @cached_property
    def _order(self) -> ShareOrder:
        return ShareOrder(self.attempt)

    def of(self, queues: Flags) -> "Candidates":
        """Return the candidates of some of the queues; the grace periods of the other queues are not over."""
        if np.array_equal(queues, self.queues):
            return self
        fewer = copy(self)
        fewer._in_grace = self.queues & ~queues  # noqa: SLF001 - same class
        fewer.step, fewer.preemptable = None, self.preemptable & queues[self.attempt.nodes.pod_index.row_queue]
        fewer.queues, fewer.count = queues, int(np.count_nonzero(fewer.preemptable))
        fewer.counts = self.counts + Counter({PodReason.IN_GRACE: self.count - fewer.count})
        return fewer

    def may_preempt_from(self, queue: str | None) -> bool:
        """Return whether any pods of a queue may be preempted."""
        return self._exclusion_of_queue(queue) is None

    def why_not(self, pod: Pod) -> ExclusionReason | None:
        """Return why a pod may not be preempted, or None if it may."""
        return self._exclusion_of_queue(pod.queue) or (
            ExclusionReason(PodReason.TERMINATING) if pod.terminating else self._exclusion_of_pod(pod)
        )

    def _exclusion_of_queue(self, queue: str | None) -> ExclusionReason | None:
        """Return why no pod of a queue may be preempted, or None."""
        if self._in_grace is not None and self._in_grace[self.attempt.nodes.pod_index.queue_of(queue)]:
            return ExclusionReason(PodReason.IN_GRACE, queue or "")
        return self._lasting_exclusion(queue)

    def _judge_kinds(self) -> Flags:
        """Return for every kind of pod whether its pods may be preempted; count the others by reason."""
        pod_index, kinds = self.attempt.nodes.pod_index, self._kinds
        of_leaving = kinds.of[self.attempt.nodes.columns.leaving]  # the kinds of the terminating pods
        times = kinds.counts - np.bincount(of_leaving, minlength=len(kinds.each))
        queues = np.ones(pod_index.nobody + 1, np.bool_)
        for reason, excluded in self._excluded_queues():
            self.counts[reason] += int(kinds.counts[(queues & excluded)[kinds.queue]].sum())
            queues &= ~excluded
        self.counts[PodReason.TERMINATING] += int(np.count_nonzero(queues[kinds.queue[of_leaving]]))
        preemptable = queues[kinds.queue] & (times > 0)
        for reason, excluded in self._excluded_kinds(preemptable):
            self.excluded_by_kind[reason] += int(times[preemptable & excluded].sum())
            preemptable &= ~excluded
        self.counts.update(self.excluded_by_kind)
        return preemptable

    def _excluded_queues(self) -> Iterator[tuple[PodReason, Flags]]:
        """Yield reasons for which no pod of a queue may be preempted, each with the queues it applies to.

        The first reason that applies to a queue counts.
        """
        attempt, pod_index = self.attempt, self.attempt.nodes.pod_index
        yield PodReason.NO_QUEUE, _single_flag(pod_index, pod_index.nobody)
        yield PodReason.SAME_QUEUE, _single_flag(pod_index, pod_index.number[attempt.leaf])
        if fence := attempt.tree.fence(attempt.leaf):
            yield PodReason.OUTSIDE_FENCE, ~pod_index.queues.below(fence)
        yield PodReason.DISABLED, pod_index.queues.disabled
        if attempt.nodes.restraints.pauses:
            yield PodReason.PAUSED, np.array([bool(self._pause(path)) for path in (*pod_index.paths, "")], np.bool_)
        if not attempt.outranks:
            yield PodReason.WITHIN_DESERVED, ~np.any(list(attempt.overused.values()), axis=0)

    def _excluded_kinds(self, left: Flags) -> Iterator[tuple[PodReason, Flags]]:
        """Yield reasons for which pods may not be preempted, each with the kinds of pods it applies to.

        The first reason that applies to a kind counts. ``left`` are the kinds that are not excluded yet.
        """
        attempt, kinds = self.attempt, self._kinds
        yield from kinds.never_preempted.items()
        if attempt.outranks:
            yield PodReason.HIGHER_PRIORITY, kinds.priority >= attempt.ask.priority
        else:
            takes = [(kinds.amounts(name) > 0) & over[kinds.queue] for name, over in attempt.overused.items()]
            yield PodReason.WITHIN_DESERVED, ~np.any(takes, axis=0)
        yield PodReason.GUARANTEE, self._needed_for_reserved()
        covered = np.zeros_like(left)
        for kind in np.flatnonzero(left & kinds.budgeted).tolist():
            covered[kind] = not self.budgets.allow([kinds.each[kind]])
        yield PodReason.OVER_BUDGET, covered

    def _needed_for_reserved(self) -> Flags:
        """Return for every kind whether preempting a pod of it would leave a queue below its reserved amount.

        Source: the section on preemption of the proposal of k8s-arbitrator.
        """
        attempt, kinds = self.attempt, self._kinds
        needed = np.zeros(len(kinds.each), np.bool_)
        for name in reserved_of(attempt.tree):
            held = kinds.amounts(name)
            preemptable = attempt.ledger.preemptable(name, attempt.requests.get(name, 0), attempt.above_ask)
            needed |= np.asarray((held > 0) & (held > preemptable[kinds.queue]), np.bool_)
        return needed

    def _lasting_exclusion(self, queue: str | None) -> ExclusionReason | None:
        attempt, tree = self.attempt, self.attempt.tree
        if queue is None or queue not in tree:
            return ExclusionReason(PodReason.NO_QUEUE)
        if queue == attempt.leaf:
            return ExclusionReason(PodReason.SAME_QUEUE, queue)
        if (fence := tree.fence(attempt.leaf)) and not tree.contains(fence, queue):
            return ExclusionReason(PodReason.OUTSIDE_FENCE, fence)
        if disabled := tree.disabled_by(queue):
            return ExclusionReason(PodReason.DISABLED, disabled)
        if pause := self._pause(queue):
            return ExclusionReason(PodReason.PAUSED, pause)
        if attempt.outranks:
            return None
        if any(self.balances.overused(queue, name) for name in attempt.wanted):
            return None
        return ExclusionReason(PodReason.WITHIN_DESERVED, self._within(queue))

    def _pause(self, queue: str) -> str:
        return self.attempt.nodes.restraints.pause_of(queue)

    def _within(self, queue: str) -> str:
        """Return the first queue of a lineage that does not exceed what it deserves of any requested resource.

        It is searched from ``queue`` up. It is ``queue`` itself if no ancestor meets the condition.
        """
        names = self.attempt.wanted
        line = self.attempt.line(queue)
        return next((path for path in line if all(self.balances.over(path, name) <= 0 for name in names)), queue)

    def _exclusion_of_pod(self, pod: Pod) -> ExclusionReason | None:
        if found := exclusion_reason(pod):
            return found
        if self.attempt.nodes.restraints.outside(pod):
            return ExclusionReason(PodReason.OUTSIDE_SCOPE, pod.queue or "")
        if found := self._exclusion_by_amounts(pod):
            return found
        whole = is_whole(group_of(self.attempt.snapshot, pod))
        return ExclusionReason(PodReason.WHOLE_GROUP, pod.scheduling_group) if whole else None

    def _exclusion_by_amounts(self, pod: Pod) -> ExclusionReason | None:
        if self.attempt.outranks:
            if pod.priority >= self.attempt.ask.priority:
                return ExclusionReason(PodReason.HIGHER_PRIORITY, str(pod.priority))
        elif not self.takes_beyond(pod, self.balances, self.attempt.wanted):
            return ExclusionReason(PodReason.WITHIN_DESERVED, pod.queue or "")
        if reserved := self.balances.below_reserved(pod):
            return ExclusionReason(PodReason.GUARANTEE, reserved)
        if not self.budgets.allow([pod]):
            return ExclusionReason(PodReason.OVER_BUDGET, ", ".join(self.budgets.covering(pod)))
        return None

    def takes_beyond(self, pod: Pod, balances: ShareBalances, names: Collection[str]) -> bool:
        """Return whether a pod holds any of these resources that its queue uses beyond what it deserves."""
        return any(pod.requests.get(name, 0) > 0 and balances.overused(pod.queue or "", name) for name in names)


def _single_flag(pod_index: PodIndex, number: int) -> Flags:
    flags = np.zeros(pod_index.nobody + 1, np.bool_)
    flags[number] = True
    return flags

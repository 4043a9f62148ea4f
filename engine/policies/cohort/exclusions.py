"""Explains why a workload that might have been preempted is kept. The reasons are computed after the search."""

from collections.abc import Mapping, Sequence

from engine.model.decision import PodReason
from engine.model.quota import FlavorResource, QuotaUsage, Take, Workload, share_of
from engine.model.quota.pod_workloads import GroupedWorkloads
from engine.policies.cohort.search.targets import TargetSearch


class ExclusionReasons:
    """One search for preemption targets, with the reasons for which the other workloads are kept."""

    def __init__(
        self,
        at: GroupedWorkloads,
        usage: QuotaUsage,
        ask: Workload,
        asked: Mapping[FlavorResource, int],
        short: Sequence[FlavorResource],
        search: TargetSearch,
        *,
        fair: bool,
    ) -> None:
        self._nodes, self._ask, self._short, self._search, self._fair = at.formed.tree, ask, short, search, fair
        self._queue, self._node = at.cluster.queues[ask.queue], at.formed.tree.queue[ask.queue]
        self._top = self._nodes.root(self._node)
        self._disabled, self._before = at.formed.disabled, usage
        self._after = _usage_after(usage, search)
        self._asked = asked
        self._back = {one.uid for one in search.put_back}

    def why(self, one: Workload) -> PodReason:
        """Return the first reason for which a workload is kept."""
        return self._barred(one) or self._spared(one)

    def _barred(self, one: Workload) -> PodReason | None:
        """Return why a workload is no candidate for preemption at all, or None if it is a candidate."""
        rules, own = self._queue.preemption, one.queue == self._ask.queue
        take = rules.within if own else rules.reclaim
        if one.queue in self._disabled:
            return PodReason.DISABLED
        if one.spared:
            return PodReason.SHIELDED
        if self._nodes.root(self._nodes.queue[one.queue]) != self._top:
            return PodReason.OUTSIDE_FENCE
        if not any(one.usage.get(of) for of in self._short):
            return PodReason.NO_HELP
        if take is Take.NEVER:
            return PodReason.RULES
        if not own and self._before.within_nominal(self._nodes.queue[one.queue], self._short):
            return PodReason.NOT_BORROWING
        return None if rule_permits(take, self._ask, one) else PodReason.HIGHER_PRIORITY

    def _spared(self, one: Workload) -> PodReason:
        """Return why a workload is kept although it is a candidate for preemption."""
        node = self._nodes.queue[one.queue]
        if one.uid in self._back or one.queue == self._ask.queue:
            return PodReason.NOT_NEEDED
        if self._after.within_nominal(node, self._short):
            return PodReason.NOT_BORROWING
        if self._fair:
            return PodReason.SHARE if self._has_less(node, one) else PodReason.NOT_NEEDED
        return PodReason.NOT_WHILE_BORROWING if self._only_without(one) else PodReason.NOT_NEEDED

    def _has_less(self, node: int, one: Workload) -> bool:
        """Return whether fair sharing keeps a workload because its side would end with the lower share.

        The shares are compared with the pending workload admitted and this workload preempted.
        """
        usage = self._after
        entitled = not any(self._before.borrows(self._node, of, amount) for of, amount in self._asked.items())
        if entitled:
            return False
        usage.add(self._node, self._asked)
        mine, theirs = (share_of(usage, side) for side in self._sides(node))
        usage.add(node, one.usage, -1)
        final = share_of(usage, self._sides(node)[1])
        usage.add(node, one.usage)
        usage.add(self._node, self._asked, -1)
        return mine.rank > final.rank and mine.rank >= theirs.rank

    def _sides(self, node: int) -> tuple[int, int]:
        """Return the node right below the lowest common cohort on either side: the pending workload, ``node``."""
        mine, theirs = ([one, *self._nodes.above(one)] for one in (self._node, node))
        shared = set(mine) & set(theirs)
        return [one for one in mine if one not in shared][-1], [one for one in theirs if one not in shared][-1]

    def _only_without(self, one: Workload) -> bool:
        """Return whether only a preemptor that borrows nothing may preempt a workload, and ``ask`` has to borrow."""
        borrow = self._queue.preemption.borrow
        borrows = any(self._before.borrows(self._node, of, amount) for of, amount in self._asked.items())
        low = one.priority < self._ask.priority and (borrow.threshold is None or one.priority <= borrow.threshold)
        return borrows and not (borrow.allowed and low)


def rule_permits(take: Take, ask: Workload, one: Workload) -> bool:
    """Return whether a preemption rule lets a pending workload ``ask`` preempt another workload."""
    match take:
        case Take.ANY:
            return True
        case Take.NEVER:
            return False
    newer = take is Take.LOWER_OR_NEWER_EQUAL_PRIORITY and ask.turn_ms < one.turn_ms
    return one.priority < ask.priority or (one.priority == ask.priority and newer)


def _usage_after(usage: QuotaUsage, search: TargetSearch) -> QuotaUsage:
    """Return the quota usage without any of the workloads that the search took, including those it put back."""
    left = usage.copy()
    for target in search.taken:
        left.add(usage.tree.queue[target.workload.queue], target.workload.usage, -1)
    return left

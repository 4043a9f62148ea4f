"""Tracks what queues use as victims are selected, and which queue exceeds what it deserves the most."""

from collections.abc import Iterable
from fractions import Fraction

from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.policies.common.queue_usage import UsageChange
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.shares.share_status import reserved

Share = int | Fraction
"""A share of a queue as ``share`` returns it."""
Rank = tuple[int, tuple[tuple[Share, str], ...]]
"""The sort key of a queue; queues with lower keys are preempted from first."""


class ShareBalances:
    """The usage of all queues; victims can be subtracted from it and added again."""

    def __init__(self, attempt: ReclaimAttempt) -> None:
        self.attempt = attempt
        self.gone = UsageChange(attempt.tree)
        """What the victims request in total, by queue."""
        self._before: dict[tuple[str, str], int] = {}
        """Queue and resource -> what ``over`` was before any victim was selected."""
        self._shares: dict[str, Share] = {}
        self._ranks: dict[str, Rank] = {}
        self._ranked_by: dict[str, list[str]] = {}
        """Path -> the queues in ``_ranks`` whose rank depends on what that queue uses."""

    def give(self, pod: Pod, times: int = 1) -> None:
        """Subtract the requests of a victim, or add them again if ``times`` is -1."""
        self.give_amounts(pod.queue or "", pod.requests, times)

    def give_amounts(self, queue: str, requests: Amounts, times: int = 1) -> None:
        """Subtract what victims of a queue request, or add it again if ``times`` is -1."""
        self.gone.add(queue, requests, times)
        for path in self.attempt.tree.lineage(queue):
            self._shares.pop(path, None)
            for below in self._ranked_by.pop(path, ()):
                self._ranks.pop(below, None)

    def used(self, path: str, resource: str) -> int:
        """Return what a queue uses without the victims."""
        return self.attempt.share_statuses.used(path, resource) - self.gone.of(path, resource)

    def over(self, path: str, resource: str) -> int:
        """Return what a queue uses beyond what it deserves; negative if it deserves more than it uses."""
        return self._over_before(path, resource) - self.gone.of(path, resource)

    def _over_before(self, path: str, resource: str) -> int:
        if (path, resource) not in self._before:
            self._before[path, resource] = self.attempt.share_statuses.over(path, resource)
        return self._before[path, resource]

    def overused(self, queue: str, resource: str) -> bool:
        """Return whether a queue uses more of a resource than it deserves, without the victims.

        All its ancestors that are not ancestors of the pending pod's queue must use more than they deserve too.
        """
        return all(self.over(path, resource) > 0 for path in self.attempt.line(queue))

    def was_overused(self, queue: str, resource: str) -> bool:
        """Return whether ``overused`` was true before any victim was selected."""
        return all(self._over_before(path, resource) > 0 for path in self.attempt.line(queue))

    def below_reserved(self, pod: Pod) -> str:
        """Return the first queue that would use less than its reserved amount with the pending pod and without ``pod``.

        The text is empty if there is no such queue. An ancestor of the pending pod's queue may stay as far below its
        reserved amount as it was, because what is reserved there and idle harms no queue below it.
        """
        return self.below_reserved_without(pod.queue or "", pod.requests)

    def below_reserved_without(self, of: str, requests: Amounts) -> str:
        """Return the same for any amounts of the pods of a queue, ``of``."""
        attempt = self.attempt
        for path in attempt.tree.lineage(of):
            queue = attempt.tree[path]
            for name, kept in reserved(queue).items() if queue.guaranteed else ():
                held = requests.get(name, 0)
                coming, least = 0, kept
                if path in attempt.lineage:
                    coming, least = (
                        attempt.requests.get(name, 0),
                        min(kept, attempt.share_statuses.used(path, name)),
                    )
                if held > 0 and self.used(path, name) - held + coming < least:
                    return path
        return ""

    def rank(self, queue: str) -> Rank:
        """Return the sort key of a queue, by which the order of preemption is decided.

        The closest relatives of the pending pod's queue come first. Among them, from the common ancestor down, the
        queue that exceeds what it deserves the most comes first.

        Source: the section on preemption of the proposal of k8s-arbitrator: the most overused first. The order by
        relatives is this product's own.
        """
        if queue not in self._ranks:
            line = self.attempt.line(queue)
            for path in line:
                self._ranked_by.setdefault(path, []).append(queue)
            self._ranks[queue] = -self.attempt.common(queue), tuple((-self._share(path), path) for path in line[::-1])
        return self._ranks[queue]

    def _share(self, path: str) -> Share:
        if path not in self._shares:
            over = [self.over(path, name) for name in self.attempt.counted]
            self._shares[path] = share(self.attempt, over, self.attempt.tree[path].weight)
        return self._shares[path]


def share(attempt: ReclaimAttempt, over: Iterable[int], weight: int) -> Share:
    """Return the largest part of the cluster that a queue uses beyond what it deserves, divided by its weight.

    Only ``counted`` resources are considered. The result is exact, and multiplied by the same number for all queues of
    an attempt: integers are compared several times faster than fractions.
    """
    whole = attempt.whole
    parts = zip(over, attempt.counted.values(), strict=True)
    most = max((amount * (whole // capacity) for amount, capacity in parts), default=0)
    scale, weight = attempt.common_weight, max(weight, 1)
    return most * (scale // weight) if scale else Fraction(most, weight)

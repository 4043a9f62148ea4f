"""What queues use while pods go for an ask, and who has the most beyond what it deserves."""

from collections.abc import Iterable
from fractions import Fraction

from engine.model.objects import Pod
from engine.model.queue_tree import WEIGHT_ONE
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.shares.share_status import reserved

Rank = tuple[int, tuple[tuple[Fraction, str], ...]]
"""Less for those who give sooner."""


class ShareBalances:
    """Begins with what all use; pods go from it, and come back."""

    def __init__(self, question: ReclaimAttempt) -> None:
        self.question = question
        self.gone: dict[tuple[str, str], int] = {}
        """Queue and resource -> what went from there."""
        self._shares: dict[str, Fraction] = {}

    def give(self, pod: Pod, times: int = 1) -> None:
        """It goes, or with -1 comes back."""
        for path in self.question.tree.lineage(pod.queue or ""):
            self._shares.pop(path, None)
            for name, amount in pod.requests.items():
                self.gone[path, name] = self.gone.get((path, name), 0) + times * amount

    def used(self, path: str, resource: str) -> int:
        """What a queue uses without those who went."""
        return self.question.standings.used(path, resource) - self.gone.get((path, resource), 0)

    def over(self, path: str, resource: str) -> int:
        """What it uses beyond what it deserves; below 0 where that is more."""
        return self.question.standings.over(path, resource) - self.gone.get((path, resource), 0)

    def overused(self, queue: str, resource: str) -> bool:
        """Whether a queue and all above it that are not above the ask use more of a resource than they deserve."""
        return all(self.over(path, resource) > 0 for path in self.question.line(queue))

    def was_overused(self, queue: str, resource: str) -> bool:
        """The same before anybody went."""
        return all(self.question.standings.over(path, resource) > 0 for path in self.question.line(queue))

    def below_reserved(self, pod: Pod) -> str:
        """The first queue that would use less than is reserved for it, with the ask and without a pod; empty: none.

        One above the ask too may stay as far below as it was: what is reserved there and lies idle harms nobody below.
        """
        question = self.question
        for path in question.tree.lineage(pod.queue or ""):
            queue = question.tree[path]
            for name, kept in reserved(queue).items() if queue.guaranteed else ():
                held = pod.requests.get(name, 0)
                coming, least = 0, kept
                if path in question.lineage:
                    coming, least = question.ask.requests.get(name, 0), min(kept, question.standings.used(path, name))
                if held > 0 and self.used(path, name) - held + coming < least:
                    return path
        return ""

    def rank(self, queue: str) -> Rank:
        """Relatives of the ask first; then, from their common area down, who has most beyond what it deserves."""
        down = reversed(self.question.line(queue))
        return -self.question.common(queue), tuple((-self._share(path), path) for path in down)

    def _share(self, path: str) -> Fraction:
        if path not in self._shares:
            over = [self.over(path, name) for name in self.question.counted]
            self._shares[path] = share(self.question, over, self.question.tree[path].weight)
        return self._shares[path]


def share(question: ReclaimAttempt, over: Iterable[int], weight: int) -> Fraction:
    """The largest part of the cluster that a queue uses beyond what it deserves of ``counted`` resources, by weight."""
    whole = question.whole
    parts = zip(over, question.counted.values(), strict=True)
    most = max((amount * (whole // capacity) for amount, capacity in parts), default=0)
    return Fraction(most * WEIGHT_ONE, whole * max(weight, 1))

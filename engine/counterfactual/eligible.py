"""What would have let an ask in under policy ``fence``, or made room for it, one change at a time."""

from collections.abc import Callable, Iterator
from typing import Any

from engine.counterfactual.again import Again, least
from engine.counterfactual.asking import HIGHEST_PRIORITY
from engine.counterfactual.results import Change, Counterfactual, Then
from engine.decision import Decision, Outcome, Reason
from engine.queues import PreemptionPolicy
from engine.resources import PODS, subtract

_UNKNOWN = frozenset({Reason.UNREAD, Reason.UNREAD_RULES, Reason.NO_QUEUE})


def for_asker(again: Again, decision: Decision) -> Iterator[Counterfactual]:
    """One change at a time with which it would fit, or room would be made for it."""
    if decision.outcome is Outcome.FITS or decision.reason in _UNKNOWN or again.ask.queue not in again.tree:
        return
    asker = _Asker(again, decision)
    yield from asker.smaller(Then.FITS, asker.fits)
    if decision.outcome is Outcome.PREEMPT:
        return
    yield from asker.smaller(Then.ROOM, asker.gets_in)
    yield from asker.more_guaranteed()
    yield from asker.more_allowed()
    yield from asker.higher_priority()
    if again.ask.never_preempts:
        yield from asker.told(again.ask_with(never_preempts=False), Change.MAY_PREEMPT)
    yield from asker.unfenced()


class _Asker:
    def __init__(self, again: Again, decision: Decision) -> None:
        self.again, self.decision, self.ask = again, decision, again.ask
        self.used = again.snapshot.usage(again.tree)
        self.lineage = again.tree.lineage(self.ask.queue or again.tree.root)

    @staticmethod
    def fits(decided: Decision) -> bool:
        return decided.outcome is Outcome.FITS

    @staticmethod
    def gets_in(decided: Decision) -> bool:
        return decided.outcome in (Outcome.FITS, Outcome.PREEMPT)

    @property
    def resources(self) -> list[str]:
        return sorted(name for name, amount in self.ask.requests.items() if amount > 0 and name != PODS)

    def told(self, decided: Decision, change: Change, **changed: Any) -> Iterator[Counterfactual]:
        """What was tried, if it helps."""
        if self.gets_in(decided):
            then = Then.FITS if self.fits(decided) else Then.ROOM
            yield Counterfactual.of(decided, then, change, **changed)

    def smaller(self, then: Then, does: Callable[[Decision], bool]) -> Iterator[Counterfactual]:
        """For each resource by how much less; told of as room only where victims would have to go."""
        for name in self.resources:
            asked = self.ask.requests[name]

            def decided(less: int, name: str = name, asked: int = asked) -> Decision:
                return self.again.ask_with(requests={**self.ask.requests, name: asked - less})

            found = least(0, asked - 1, decided, does, self.again.tries(), guess=0)
            if found is None:
                continue
            again = decided(found)
            if (again.outcome is Outcome.FITS) == (then is Then.FITS):
                yield Counterfactual.of(again, then, Change.REQUEST, smaller={name: found})

    def more_guaranteed(self) -> Iterator[Counterfactual]:
        """Of the leaf's own in all that it lacks: just above what it uses, or what it uses with the ask."""
        path = self.lineage[0]
        queue, used = self.again.tree[path], self.used.get(path, {})
        for with_ask in (False, True):
            wanted = {name: used.get(name, 0) + (self.ask.requests[name] if with_ask else 1) for name in self.resources}
            lacking = {name: value for name, value in wanted.items() if queue.guaranteed.get(name, -1) < value}
            if not lacking:
                continue
            decided = self.again.queue_with(path, guaranteed={**queue.guaranteed, **lacking})
            if self.gets_in(decided):
                found = self._needed(path, lacking)
                more = subtract(found, {name: queue.guaranteed.get(name, 0) for name in found})
                yield from self.told(decided, Change.GUARANTEE, queue=path, amounts=found, more=more)
                return

    def _needed(self, path: str, lacking: dict[str, int]) -> dict[str, int]:
        """Without those that are not needed after all."""
        promised = self.again.tree[path].guaranteed
        for name in sorted(lacking):
            fewer = {other: value for other, value in lacking.items() if other != name}
            if fewer and self.gets_in(self.again.queue_with(path, guaranteed={**promised, **fewer})):
                lacking = fewer
        return lacking

    def more_allowed(self) -> Iterator[Counterfactual]:
        """Of each queue whose max is in the way, by itself: as much as it uses with the ask."""
        for path in self.lineage:
            limits, used = self.again.tree[path].max, self.used.get(path, {})
            over = {
                name: used.get(name, 0) + amount
                for name, amount in self.ask.requests.items()
                if name in limits and used.get(name, 0) + amount > limits[name]
            }
            if over:
                decided = self.again.queue_with(path, max={**limits, **over})
                more = subtract(over, {name: limits[name] for name in over})
                yield from self.told(decided, Change.MAX, queue=path, amounts=over, more=more)

    def higher_priority(self) -> Iterator[Counterfactual]:
        """The lowest that helps; others' decide, moved by what queues add to theirs."""
        own, tries = self.ask.priority, self.again.tries()
        offsets = {queue.priority_offset for queue in self.again.tree.queues.values()} | {0}
        others = {pod.priority for pod in self.again.snapshot.pods if pod.node is not None}
        turns = {one + offset for one in others for offset in {*offsets, *(-each for each in offsets)}}
        for priority in sorted(one for one in turns if own < one <= HIGHEST_PRIORITY):
            if not tries.take():
                return
            decided = self.again.ask_with(priority=priority)
            if self.gets_in(decided):
                yield from self.told(decided, Change.PRIORITY, pod=self.ask.key, priority=priority)
                return

    def unfenced(self) -> Iterator[Counterfactual]:
        """The nearest fence that alone keeps it from room; those above hold on."""
        for path in self.lineage:
            if self.again.tree[path].preemption_policy is PreemptionPolicy.FENCE:
                decided = self.again.queue_with(path, preemption_policy=PreemptionPolicy.DEFAULT)
                if self.gets_in(decided):
                    yield from self.told(decided, Change.FENCE, queue=path)
                    return

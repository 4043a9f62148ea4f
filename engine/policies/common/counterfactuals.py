"""Find which settings of a victim would have kept it: its queue's guarantee or weight, its priority, request or start.

Each setting is changed alone, by as little as is enough, and the policy decides again.
"""

from collections.abc import Iterator
from typing import Any

from engine.model.change import Change
from engine.model.counterfactual import Counterfactual, Then
from engine.model.decision import Decision, Outcome
from engine.model.quantities import PODS
from engine.model.queue_tree import WEIGHT_ONE
from engine.policies.common.decide_again import Again, least

_STEP = WEIGHT_ONE // 1000
_MOST_WEIGHT = 1_000_000
"""The highest increase of a weight that is tried, in thousandths."""


def changes_of_victim(again: Again, decision: Decision, uid: str, *, weights: bool) -> Iterator[Counterfactual]:
    """Yield changes of a victim's own settings that would have spared it; ``weights``: weights decide, too."""
    own = VictimSettings(again, decision, uid)
    yield from own.guarantees()
    if weights:
        yield from own.weight()
    yield from own.priority()
    yield from own.requests()
    yield from own.start()


def changes_of_request(again: Again, _decision: Decision) -> Iterator[Counterfactual]:
    """Yield, for each resource alone, how much smaller a request would fit without any preemption."""
    for name, asked in sorted(again.ask.requests.items()):
        if name == PODS or asked <= 0:
            continue

        def decided(less: int, name: str = name, asked: int = asked) -> Decision:
            return again.ask_with(requests={**again.ask.requests, name: asked - less})

        found = least(0, asked - 1, decided, lambda decision: decision.outcome is Outcome.FITS, again.tries(), guess=0)
        if found is not None:
            yield Counterfactual.of(decided(found), Then.FITS, Change.REQUEST, smaller={name: found})


class VictimSettings:
    """A victim of a decision, whose own settings are changed one at a time."""

    def __init__(self, again: Again, decision: Decision, uid: str) -> None:
        self.again, self.decision = again, decision
        self.pod = next(pod for pod in again.snapshot.pods if pod.uid == uid)

    def spares(self, decided: Decision) -> bool:
        return all(victim.pod.uid != self.pod.uid for victim in decided.victims)

    def _spared(self, decided: Decision, change: Change, **changed: Any) -> Counterfactual:
        return Counterfactual.of(decided, Then.SPARED, change, spared=self.pod.key, **changed)

    @property
    def resources(self) -> list[str]:
        """Return the resources that the pod holds, without ``pods``."""
        return sorted(name for name, amount in self.pod.requests.items() if amount > 0 and name != PODS)

    def guarantees(self) -> Iterator[Counterfactual]:
        """Yield, for each resource, the least guarantee of the victim's queue that keeps it, up to its usage."""
        path = self.pod.queue or self.again.tree.root
        used = self.again.snapshot.usage(self.again.tree).get(path, {})
        taken = [victim.pod for victim in self.decision.victims if victim.pod.queue == path]
        promised = self.again.tree[path].guaranteed
        for name in self.resources:
            low, high = promised.get(name, 0), used.get(name, 0)
            left = high - sum(pod.requests.get(name, 0) for pod in taken)

            def decided(amount: int, name: str = name) -> Decision:
                return self.again.queue_with(path, guaranteed={**promised, name: amount})

            found = least(low, high, decided, self.spares, self.again.tries(), guess=left + 1)
            if found is not None:
                changed = self.again.tree_with(path, guaranteed={**promised, name: found})
                change_amounts = {"amounts": {name: found}, "more": {name: found - low}}
                unkept = changed.unkept(path, name) or ""
                yield self._spared(decided(found), Change.GUARANTEE, queue=path, unkept=unkept, **change_amounts)

    def weight(self) -> Iterator[Counterfactual]:
        """Yield the least weight of the victim's queue that keeps it, in thousandths.

        A higher weight makes the queue's borrowing count less, or makes it deserve more.
        """
        path = self.pod.queue or self.again.tree.root
        low = self.again.tree[path].weight // _STEP

        def decided(weight: int) -> Decision:
            return self.again.queue_with(path, weight=weight * _STEP)

        found = least(low, low + _MOST_WEIGHT, decided, self.spares, self.again.tries(), guess=2 * low)
        if found is not None:
            yield self._spared(decided(found), Change.WEIGHT, queue=path, weight=found * _STEP)

    def priority(self) -> Iterator[Counterfactual]:
        """Yield the lowest priority that keeps the victim.

        It is compared with the priorities of other pods and, where queues have priority offsets, with those shifted by
        them.
        """
        tries = self.again.tries()
        for priority in self._decisive_priorities():
            if not tries.take():
                return
            decided = self.again.pod_with(self.pod.uid, priority=priority)
            if self.spares(decided):
                yield self._spared(decided, Change.PRIORITY, pod=self.pod.key, priority=priority)
                return

    def _decisive_priorities(self) -> list[int]:
        own, preemptor_priority = self.pod.priority, self.again.ask.priority
        offsets = {queue.priority_offset for queue in self.again.tree.queues.values()} | {0}
        others = {pod.priority for pod in self.again.snapshot.pods if pod.node is not None} | {preemptor_priority}
        moves = {move + more for offset in offsets for move in (offset, -offset) for more in (0, 1)}
        return sorted(
            {
                moved
                for priority in others
                for move in moves
                if own < (moved := priority + move) <= preemptor_priority + 1
            }
        )

    def requests(self) -> Iterator[Counterfactual]:
        """Yield, for each resource, the reduction that keeps the victim, had it requested that from the beginning."""
        for name in self.resources:
            asked = self.pod.requests[name]

            def decided(less: int, name: str = name, asked: int = asked) -> Decision:
                return self.again.pod_with(self.pod.uid, requests={**self.pod.requests, name: asked - less})

            found = least(0, asked - 1, decided, self.spares, self.again.tries(), guess=0)
            if found is not None:
                yield self._spared(decided(found), Change.OWN_REQUEST, smaller={name: found})

    def start(self) -> Iterator[Counterfactual]:
        """Yield the latest earlier start that keeps the victim, just before the start of another pod."""
        began = self.pod.started_ms
        if began is None:
            return
        nodes = {self.pod.node, self.decision.node}
        others = (pod.started_ms for pod in self.again.snapshot.pods if pod.node in nodes)
        decisive = sorted({start - 1 for start in others if start is not None and 0 < start <= began}, reverse=True)
        tries = self.again.tries()
        for start in decisive:
            if not tries.take():
                return
            created = min(self.pod.created_ms, start)
            decided = self.again.pod_with(self.pod.uid, started_ms=start, created_ms=created)
            if self.spares(decided):
                yield self._spared(decided, Change.START, started_ms=start)
                return

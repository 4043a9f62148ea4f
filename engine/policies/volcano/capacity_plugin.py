"""Implements the decisions of Volcano's plugin ``capacity``: which queues may reclaim, and which pods are reclaimed.

Source: Volcano's pkg/scheduler/plugins/capacity, capacity.go: its preemptive and reclaimable functions.
"""

from engine.model.objects import VolcanoPod
from engine.model.quantities import PODS
from engine.policies.volcano.amounts import SLACK, Fine, less, less_equal, to_fine
from engine.policies.volcano.comparison_order import ComparisonOrder
from engine.policies.volcano.queue_hierarchy import ROOT
from engine.policies.volcano.session import VolcanoSession

Pods = list[VolcanoPod]


def within_limit(allocated: Fine, most: Fine, request: Fine) -> bool:
    """Return whether the requested amounts fit below a limit.

    Only resources that are requested are compared. A missing limit counts as 0.
    """
    return all(
        allocated.get(name, 0) + amount <= most.get(name, 0)
        for name, amount in request.items()
        if amount and name != PODS
    )


class CapacityPlugin:
    """The plugin ``capacity``, which decides by the current state of a session."""

    def __init__(self, session: VolcanoSession, order: ComparisonOrder) -> None:
        self._session, self._order = session, order
        self._deserved = session.of.deserved

    def may_take(self, queue: str, ask: VolcanoPod) -> bool:
        """Return whether a queue may reclaim for a pending pod.

        The queue must stay within its real capability. In addition, it or one of its ancestors must stay within what it
        deserves of at least one requested resource.
        """
        request, most = self._session.requests[ask.pod.uid], self._session.of.most[queue]
        if self._session.of.above[queue]:  # in a tree, a missing limit means no limit, not 0
            request = {name: amount for name, amount in request.items() if name in most}
        if not within_limit(self._session.allocated[queue], most, request):
            return False
        nearest = (queue, *(name for name in self._levels(queue) if name != ROOT))
        return any(self._below(name, self._session.requests[ask.pod.uid]) for name in nearest)

    def _below(self, queue: str, request: Fine) -> bool:
        """Return whether a queue stays within what it deserves of any requested resource.

        A resource that the queue does not deserve and would not hold any of is ignored.
        """
        deserved, allocated = self._deserved[queue], self._session.allocated[queue]
        asked = (name for name, amount in request.items() if amount and name != PODS)
        pairs = ((allocated.get(name, 0) + request[name], deserved.get(name, 0)) for name in asked)
        return any(used < owed + SLACK for used, owed in pairs if max(used, owed) >= SLACK)

    def takes(self, ask: VolcanoPod, pods: Pods) -> Pods:
        """Return the pods that may be reclaimed, in the order in which they would be evicted.

        They are pods of queues that exceed what they deserve. No queue falls below its guarantee.
        """
        found, allocated = [], dict(self._session.allocated)
        for one in self._order.victims(pods, ask).drained():
            queue, asking = self._session.group(one).queue, self._session.group(ask).queue
            above = self._apart(queue, asking)
            if self._may_go(one, ask, allocated) and all(self._exceeds(name, one, allocated) for name in above):
                request = self._session.requests[one.pod.uid]
                allocated |= {name: less(allocated[name], request) for name in (queue, *above)}
                found.append(one)
        return found

    def _may_go(self, one: VolcanoPod, ask: VolcanoPod, allocated: dict[str, Fine]) -> bool:
        session = self._session
        queue, asking = session.group(one).queue, session.group(ask).queue
        request, asked = session.requests[one.pod.uid], session.requests[ask.pod.uid]
        guarantee = to_fine(session.cluster.queues[queue].guarantee)
        if not _shared_resources(request, asked) - {PODS} or not less_equal(guarantee, less(allocated[queue], request)):
            return False
        if not _shared_resources(request, self._deserved[queue]):
            return not self._related(queue, asking) or bool(_shared_resources(asked, self._deserved[asking]))
        return self._exceeds(queue, one, allocated)

    def _exceeds(self, queue: str, one: VolcanoPod, allocated: dict[str, Fine]) -> bool:
        """Return whether a queue holds more than it deserves of any resource that the pod requests.

        It is true if the queue deserves none of these resources.

        Source: isImmediateVictim and checkDeservedExceedance of Volcano's plugin capacity.
        """
        request, deserved = self._session.requests[one.pod.uid], self._deserved[queue]
        if not _shared_resources(request, deserved):
            return True
        names = (name for name, amount in request.items() if amount and deserved.get(name, 0) >= SLACK and name != PODS)
        return any(allocated[queue].get(name, 0) > deserved[name] for name in names)

    def _levels(self, queue: str) -> tuple[str, ...]:
        """Return the ancestors of a queue that are considered, the nearest first."""
        return self._session.of.above[queue][::-1][: self._session.cluster.settings.ancestor_levels]

    def _apart(self, queue: str, asking: str) -> list[str]:
        """Return the considered ancestors that are not at the same distance above the reclaiming queue.

        Source: getReclaimeeAncestorToCheck of Volcano's plugin capacity.
        """
        others = dict(enumerate(self._levels(asking)))
        return [name for step, name in enumerate(self._levels(queue)) if name not in (ROOT, others.get(step))]

    def _related(self, queue: str, asking: str) -> bool:
        return bool({*self._levels(queue)} & {*self._levels(asking)} - {ROOT})


def _shared_resources(one: Fine, other: Fine) -> set[str]:
    """Return the resources of which both amounts are positive."""
    return {name for name, amount in one.items() if amount >= SLACK and other.get(name, 0) >= SLACK}

"""Compares queues, PodGroups, pending pods, and victims to decide which comes first.

Source: Volcano's pkg/scheduler/framework, session_plugins.go, and its plugins priority, gang, proportion and capacity.
"""

from fractions import Fraction

from engine.model.objects import PodGroup, SharePlugin, VolcanoPod
from engine.policies.volcano.amounts import is_empty
from engine.policies.volcano.heap import Heap
from engine.policies.volcano.session import VolcanoSession

PRIORITY, GANG = "priority", "gang"
_PARTS = 3
"""The minimum number of parts in a pod's name for its last part to be the pod's index."""


class ComparisonOrder:
    """The comparisons, which use the current state of a session."""

    def __init__(self, session: VolcanoSession) -> None:
        self._session = session
        self._plugins = {name for tier in session.cluster.settings.tiers for name in tier}

    def queues(self, one: str, other: str) -> bool:
        """Return whether queue ``one`` is served before ``other``.

        The higher priority comes first, then the smaller share, then the older queue.
        """
        mine, theirs = (self._rank(*pair) for pair in ((one, other), (other, one)))
        return mine < theirs

    def _rank(self, name: str, other: str) -> tuple[int, Fraction, bool, int, str]:
        """Return the sort key of queue ``name`` when it is compared with ``other``.

        In a tree, the share is that of the queue right below the lowest common ancestor of both.
        """
        session, queue = self._session, self._session.cluster.queues[name]
        above = session.of.above[name]
        next_below = _common_depth(above, session.of.above[other]) + 1
        by = above[next_below] if next_below < len(above) else name
        nothing = session.cluster.settings.plugin is SharePlugin.CAPACITY and is_empty(session.of.deserved[by])
        return -queue.priority, session.share[by], nothing, queue.created_ms, name

    def groups(self, one: PodGroup, other: PodGroup) -> bool:
        """Return whether PodGroup ``one`` is served before ``other``.

        The higher priority comes first, then a group that lacks pods, then the older group.
        """
        mine, theirs = ((*self._turn(group), group.created_ms, group.key) for group in (one, other))
        return mine < theirs

    def _turn(self, group: PodGroup) -> tuple[int, ...]:
        ready = self._session.ready(group.key) + self._session.modest(group.key) >= group.min_member
        by = {PRIORITY: -group.priority, GANG: ready}
        return tuple(by[name] for name in by if name in self._plugins)

    def pods(self, one: VolcanoPod, other: VolcanoPod) -> bool:
        """Return whether pod ``one`` is served before ``other`` of the same queue.

        The higher priority comes first, then the lower index in the name, then the older pod.
        """
        if PRIORITY in self._plugins and one.pod.priority != other.pod.priority:
            return one.pod.priority > other.pod.priority
        numbers = _pod_index(one), _pod_index(other)
        if None not in numbers and numbers[0] != numbers[1]:
            return (numbers[0] or 0) < (numbers[1] or 0)
        return (one.pod.created_ms, one.pod.uid) < (other.pod.created_ms, other.pod.uid)

    def victims(self, pods: list[VolcanoPod], ask: VolcanoPod) -> Heap[VolcanoPod]:
        """Return a heap of pods that may be reclaimed, with the first victim on top.

        Within a queue, the pod that would be served last is the first victim.

        Source: Session.BuildVictimsPriorityQueue of Volcano.
        """
        asking = self._session.group(ask).queue

        def before(one: VolcanoPod, other: VolcanoPod) -> bool:
            mine, theirs = self._session.group(one), self._session.group(other)
            if mine.queue != theirs.queue:
                return self._taken_before(mine.queue, theirs.queue, asking)
            turns = self._turn(mine), self._turn(theirs)
            return turns[0] > turns[1] if turns[0] != turns[1] else not self.pods(one, other)

        return Heap(before, pods)

    def _taken_before(self, one: str, other: str, asking: str) -> bool:
        """Return whether pods of queue ``one`` are reclaimed before those of ``other``.

        The closer relative of the reclaiming queue comes first, then the queue that would be served later.

        Source: Session.VictimQueueOrderFn of Volcano.
        """
        above = self._session.of.above
        near, far = (_common_depth(above[name], above[asking]) for name in (one, other))
        return near > far if near != far else not self.queues(one, other)


def _common_depth(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return the depth of the lowest common ancestor of two queues; 0 for the root, or if there is no tree."""
    depth = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return max(0, (min(len(one), len(other)) if depth is None else depth) - 1)


def _pod_index(one: VolcanoPod) -> int | None:
    parts = one.pod.name.split("-")
    return int(parts[-1]) if len(parts) >= _PARTS and parts[-1].isascii() and parts[-1].isdecimal() else None

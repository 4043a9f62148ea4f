"""Simulates Volcano's action ``reclaim``: which pods are evicted for which pending pods, and on which nodes.

Source: Volcano's pkg/scheduler/actions/reclaim, reclaim.go. There, the order in which nodes and the pods of a node are
considered is random. Here, it is the order of their names, unless a ``FirstConsidered`` states what came first.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from engine.model.objects import PodGroup, Task, VolcanoCluster, VolcanoPod
from engine.policies.volcano.amounts import Fine, less_equal
from engine.policies.volcano.comparison_order import ComparisonOrder
from engine.policies.volcano.heap import Heap
from engine.policies.volcano.plugins import Plugins
from engine.policies.volcano.session import VolcanoSession

_PREDICATES = "predicates"


class Reclaim(NamedTuple):
    """A pending pod that gets room on a node, and the pods evicted for it, of which there may be none."""

    ask: VolcanoPod
    node: str
    victims: tuple[VolcanoPod, ...]


class FirstConsidered(msgspec.Struct, frozen=True, kw_only=True):
    """The node and pods that a session is assumed to consider first, where the order is random."""

    node: str = ""
    pods: frozenset[str] = frozenset()
    """The uids of pods that could be evicted."""


BY_NAME = FirstConsidered()
MayRun = Callable[[VolcanoPod, str], bool]
"""Returns whether a pod may run on a node if no other pod were there."""


def reclaim(
    cluster: VolcanoCluster, *, chance: FirstConsidered = BY_NAME, may_run: MayRun = lambda _ask, _node: True
) -> tuple[Reclaim, ...]:
    """Return all pods that a session reclaims room for, in order. Raises HierarchyError.

    ``may_run`` is used only if the plugin ``predicates`` is enabled in the session.
    """
    return _Action(VolcanoSession(cluster), chance, may_run).run()


class _Action:
    def __init__(self, session: VolcanoSession, chance: FirstConsidered, may_run: MayRun) -> None:
        self._session, self._order = session, ComparisonOrder(session)
        self._chance = chance
        self._nodes = sorted(session.idle, key=lambda node: (node != chance.node, node))
        judged = any(_PREDICATES in tier for tier in session.cluster.settings.tiers)
        self._may_run: MayRun = may_run if judged else lambda _ask, _node: True
        self._plugins = Plugins(session, self._order)
        self._turns: list[Reclaim] = []
        self._queues = Heap(self._order.queues)
        self._groups: dict[str, Heap[PodGroup]] = {}

    def run(self) -> tuple[Reclaim, ...]:
        for group in sorted(self._session.cluster.groups.values(), key=lambda one: one.key):
            self._enter(group)
        while self._queues:
            queue = self._queues.pop()
            if self._plugins.overused(queue):
                continue
            groups = self._groups[queue]
            while groups:
                self._serve(groups.pop())
        return tuple(self._turns)

    def _enter(self, group: PodGroup) -> None:
        if not group.enqueued or not self._plugins.valid(group):
            return
        if group.queue not in self._groups:
            self._groups[group.queue] = Heap(self._order.groups)
            self._queues.push(group.queue)
        if self._plugins.starving(group):
            self._groups[group.queue].push(group)

    def _serve(self, group: PodGroup) -> None:
        """Reclaim for a PodGroup, and undo that unless the PodGroup has enough pods to start then."""
        tasks = self._session.tasks
        pending = [one for one in self._session.members[group.key] if tasks[one.pod.uid] is Task.PENDING]
        asks, turns = Heap(self._order.pods, [one for one in pending if not one.pod.gated]), list[Reclaim]()
        while asks and self._plugins.starving(group):
            ask = asks.pop()
            if not ask.pod.never_preempts and self._plugins.may_take(group.queue, ask):
                turn = next(filter(None, (self._on(node, ask) for node in self._nodes)), None)
                turns += [turn] if turn else []
        if self._plugins.served(group):
            self._turns += turns
            return
        for turn in reversed(turns):
            self._undo(turn)

    def _on(self, node: str, ask: VolcanoPod) -> Reclaim | None:
        """Reclaim room for a pending pod on a node, or return None if that is impossible.

        Only nodes with pods that can be reclaimed are considered. Pods are evicted until the pending pod fits, whether
        each of them helps or not.
        """
        pods = [one for one in self._session.on[node] if self._reclaimable(one, ask)]
        if not pods or not self._may_run(ask, node):
            return None
        pods.sort(key=lambda one: one.pod.uid not in self._chance.pods)
        victims = self._plugins.taken(ask, pods)
        request = self._session.requests[ask.pod.uid]
        idle: Fine = dict(self._session.idle[node])
        for one in victims:
            for name, amount in self._session.requests[one.pod.uid].items():
                idle[name] = idle.get(name, 0) + amount
        if not less_equal(request, idle):
            return None
        heap, gone = self._order.victims(victims, ask), list[VolcanoPod]()
        while heap and not less_equal(request, self._session.idle[node]):
            gone.append(one := heap.pop())
            self._session.take(one)
        self._session.pipeline(ask, node)
        return Reclaim(ask, node, tuple(gone))

    def _reclaimable(self, one: VolcanoPod, ask: VolcanoPod) -> bool:
        if self._session.tasks[one.pod.uid] is not Task.RUNNING or not one.preemptable or not one.group:
            return False
        queue = self._session.group(one).queue
        return queue != self._session.group(ask).queue and self._session.cluster.queues[queue].reclaimable

    def _undo(self, turn: Reclaim) -> None:
        self._session.drop(turn.ask, turn.node)
        for one in reversed(turn.victims):
            self._session.spare(one)

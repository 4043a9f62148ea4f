"""Small worlds side by side in one cluster, so that one look of policy ``fence`` decides thousands of them.

Each world has nodes and queues of its own, but for the ask's queue and the one above that. Of these it only counts how
far they are from what they are promised and may use, and that is here as it is in each of the worlds.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from engine.model.columns.node_columns import Numbers
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.fence.candidates import GuaranteeClaim
from engine.policies.fence.node_candidates import find_node_candidates
from tests.builders import NOW
from tests.engine.small_worlds.worlds import NODES, PRIORITIES, SIZES, Above, Ask, Shape, World


class SideBySide:
    """Worlds of one shape in one cluster."""

    def __init__(self, shape: Shape, worlds: Sequence[World]) -> None:
        self.shape, self.worlds = shape, worlds
        asks = (Ask(*one) for one in product(SIZES, PRIORITIES))
        self.asks = {ask: _pod(f"ask-{ask.size}-{ask.priority}", self._path("a"), *ask) for ask in asks}
        nodes, pods = [], []
        for k, world in enumerate(worlds):
            nodes += [Node(name=node_name(k, node), allocatable=_held(world, node)) for node in NODES]
            pods += [
                _pod(pod_name(k, i), self._path(pod.leaf, k), pod.size, pod.priority, node=node_name(k, pod.node))
                for i, pod in enumerate(world.pods)
            ]
        self.snapshot = Snapshot(now_ms=NOW, nodes=tuple(nodes), pods=(*pods, *self.asks.values()))
        bits = {pod_name(k, i): 1 << i for k, world in enumerate(worlds) for i in range(len(world.pods))}
        self._bits: Numbers = np.array([bits[pod.name] for pod in self.snapshot.columns.pods], np.int64)
        self._own = [
            Queue(path=self._path(name, k), guaranteed=_amount(promised))
            for k, world in enumerate(worlds)
            for name, promised in zip(shape.others, world.promised, strict=True)
            if world.used(shape.below(name))
        ]

    def _path(self, name: str, number: int = 0) -> str:
        """A queue of the world that is so many-th."""
        above = self.shape.above[name]
        own = f"{name}{number}" if name in self.shape.others else name
        return f"{self._path(above, number)}.{own}" if above else f"root.{own}"

    def tree(self, above: Above, size: int) -> QueueTree:
        """The queues of all worlds, as an ask of that size finds them."""
        own = Queue(path=self._path("a"), guaranteed=_amount(0 if above.claimed else self.used("a") + 1))
        return QueueTree([Queue(path="root"), *self._shared(above, size), own, *self._own])

    def _shared(self, above: Above, size: int) -> list[Queue]:
        name = self.shape.shared
        if not name:
            return []
        used = self.used(self.shape.below(name))
        promised = used + 1 if above.claimed else 0 if above.spare is None else used - above.spare
        return [
            Queue(
                path=self._path(name),
                guaranteed=_amount(promised),
                max={"cpu": used + size - above.over} if above.over else {},
                preemption_policy=PreemptionPolicy.FENCE if above.fence else PreemptionPolicy.DEFAULT,
            )
        ]

    def used(self, leaves: str) -> int:
        """What the pods of some leaves hold in all worlds."""
        return sum(world.used(leaves) for world in self.worlds)

    def chosen(self, tree: QueueTree, ask: Ask) -> Numbers:
        """World -> node -> the set of its pods that would go there for the ask, a bit each."""
        attempt = PreemptionAttempt(self.snapshot, tree, self.asks[ask])
        claim = GuaranteeClaim(
            ask=attempt.ask,
            leaf=attempt.leaf,
            fence=tree.fence(attempt.leaf),
            entitling=attempt.entitling,
            opted_out=False,
        )
        columns, rows = attempt.columns, find_node_candidates(attempt, claim).victims.rows
        sets = np.zeros(len(columns.nodes), np.int64)
        np.add.at(sets, columns.node[rows], self._bits[rows])
        return sets.reshape(len(self.worlds), len(NODES))


def _pod(name: str, queue: str, size: int, priority: int, node: str | None = None) -> Pod:
    """With a node it runs, without it asks."""
    return Pod(
        uid=f"uid-{name}",
        namespace="ns",
        name=name,
        application="running" if node else "asking",
        queue=queue,
        node=node,
        priority=priority,
        requests=_amount(size),
        started_ms=0 if node else None,
        unschedulable_ms=None if node else 0,
    )


def node_name(world: int, node: int) -> str:
    """Of the world that is so many-th: in the order of names nodes are in that of worlds."""
    return f"{world:05}-{node}"


def pod_name(world: int, pod: int) -> str:
    """Likewise."""
    return f"{world:05}-{pod}"


def _held(world: World, node: int) -> Amounts:
    return _amount(world.free[node] + sum(pod.size for pod in world.pods if pod.node == node))


@cache
def _amount(cpu: int) -> Amounts:
    return {"cpu": cpu} if cpu else {}

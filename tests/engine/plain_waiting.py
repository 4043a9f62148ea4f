"""The tiers of policy ``fence`` the long way round: pod by pod, every set of pods on every node tried."""

from itertools import combinations

from msgspec.structs import replace

from engine.feasibility.plain import refusal
from engine.model.decision import NodeReason
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from tests.engine.plain_fence import entitled
from tests.engine.plain_fence.candidates import Claim, candidates_of, judge
from tests.engine.plain_fence.usage import Ledger

ANY = 2**31 - 1
"""A priority above all."""


class PlainCase:
    """One ask of a cluster, under the default parameters."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> None:
        self.snapshot, self.tree, self.ask = snapshot.without_reservation(ask.uid), tree, ask
        self.ledger, self.leaf = Ledger(self.snapshot, tree), ask.queue or ""
        daemon = ask.required_node is not None
        self.claims = {} if daemon else entitled(tree, self.leaf, ask)
        self.reserved = {held.node for held in self.snapshot.reservations}

    def quota(self) -> bool:
        """Under the leaf's max as it is; under those above with all gone that may go on some node."""
        if self.ledger.resource_over_max(self.leaf, self.ask.requests):
            return False
        there = self.candidates(self.ask.priority, opted_out=self.resort)
        for path in self.tree.lineage(self.leaf)[1:]:
            for resource, limit in self.tree[path].max.items():
                wanted = self.ask.requests.get(resource, 0)
                over = self.ledger.asking[path].get(resource, 0) + wanted - limit
                below = (
                    sum(pod.requests.get(resource, 0) for pod in pods if self.tree.contains(path, pod.queue or ""))
                    for pods in there.values()
                )
                if wanted > 0 and over > max(below, default=0) and over > 0:
                    return False
        return True

    def guarantee(self) -> bool:
        """Law 4."""
        if self.ask.required_node is not None:
            return True
        used = self.ledger.asking
        below = (used[path].get(name, 0) < self.tree[path].guaranteed[name] for name, path in self.claims.items())
        return bool(self.claims) and all(below)

    def reached(self) -> int:
        """How many pods could go if it were not for their priority."""
        if self.tree.disabled_by(self.leaf):
            return 0
        return sum(map(len, self.candidates(ANY, opted_out=self.resort).values()))

    def may_go(self) -> int:
        """How many pods may go."""
        return 0 if self.ask.never_preempts else sum(map(len, self.candidates(self.ask.priority, self.resort).values()))

    @property
    def resort(self) -> bool:
        """Whether pods that opted out may go at last."""
        return self.ask.required_node is not None

    def candidates(self, priority: int, opted_out: bool) -> dict[str, list[Pod]]:
        """Node -> who may go for an ask of that priority."""
        claim = Claim(
            ask=replace(self.ask, priority=priority),
            leaf=self.leaf,
            fence=self.tree.fence(self.leaf),
            entitling=self.claims,
            opted_out=opted_out,
        )
        return candidates_of(self.snapshot, judge(self.snapshot, self.tree, self.ledger, claim))

    def nodes(self) -> int:
        """On how many nodes some of those who may go make room without breaking a law."""
        for opted_out in (False, True) if self.resort else (False,):
            there = self.candidates(self.ask.priority, opted_out)
            found = [node for node in self.open_nodes() if self.room_on(node, there.get(node.name, []))]
            if found:
                return len(found)
        return 0

    def open_nodes(self) -> list[Node]:
        """Where anything may be done for it at all."""
        nodes = [node for node in self.snapshot.nodes if node.ready and node.name not in self.reserved]
        return [node for node in nodes if self.ask.required_node in (None, node.name)]

    def room_on(self, node: Node, pods: list[Pod]) -> bool:
        """Whether some lawful set of pods makes room."""
        sets = (some for size in range(1, len(pods) + 1) for some in combinations(pods, size))
        return any(
            self.ledger.keeps_guarantees(self.ask, some) is None
            and not self.over_max_above(some)
            and self.refused(node, some) is None
            for some in sets
        )

    def over_max_above(self, gone: tuple[Pod, ...]) -> bool:
        """Whether a queue above the leaf would be over its max without some pods; the leaf's own is the quota's."""
        for path in self.tree.lineage(self.leaf)[1:]:
            inside = [pod for pod in gone if self.tree.contains(path, pod.queue or "")]
            for resource, limit in self.tree[path].max.items():
                wanted, used = self.ask.requests.get(resource, 0), self.ledger.asking[path].get(resource, 0)
                if wanted > 0 and used + wanted - sum(pod.requests.get(resource, 0) for pod in inside) > limit:
                    return True
        return False

    def refused(self, node: Node, gone: tuple[Pod, ...]) -> NodeReason | None:
        """What keeps it off a node without some pods and those on their way out."""
        leaving = {pod.uid for pod in self.snapshot.pods_by_node[node.name] if pod.terminating}
        found = refusal(self.snapshot, self.ask, node, leaving | {pod.uid for pod in gone})
        return found.reason if found else None


def free_on(snapshot: Snapshot, node: str, resource: str) -> int:
    """What a node has free of a resource once those on their way out are gone."""
    (there,) = (one for one in snapshot.nodes if one.name == node)
    staying = (pod for pod in snapshot.pods_by_node[node] if not pod.terminating)
    return there.allocatable.get(resource, 0) - sum(pod.requests.get(resource, 0) for pod in staying)

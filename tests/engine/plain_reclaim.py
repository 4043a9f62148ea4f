"""Who gives back, by docs/policies/deserved.md, where one resource counts: as plainly as it can be said."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.deserved import SYSTEM
from engine.policies.deserved.shares.share_status import ShareStatus

CPU = "cpu"


class World(NamedTuple):
    """A cluster, an ask in it, and where its queues stand."""

    snapshot: Snapshot
    tree: QueueTree
    ask: Pod
    standings: dict[str, ShareStatus]
    at_once: bool
    """Whether its priority class may take beyond what its queue deserves."""

    @property
    def beyond(self) -> bool:
        """Whether its queue would have more than it deserves."""
        own = self.standings[self.ask.queue or ""]
        return own.used.get(CPU, 0) + self.ask.requests[CPU] > own.deserved.get(CPU, 0)

    def over(self, path: str, gone: list[Pod]) -> int:
        """What a queue uses beyond what it deserves once these have gone."""
        one = self.standings[path]
        return one.used.get(CPU, 0) - self.lost(path, gone) - one.deserved.get(CPU, 0)

    def lost(self, path: str, gone: list[Pod]) -> int:
        """What a queue loses with these."""
        return sum(pod.requests[CPU] for pod in gone if self.tree.contains(path, pod.queue or ""))

    def line(self, pod: Pod) -> list[str]:
        """The pod's queue and those above it that are not above the ask."""
        return [
            path for path in self.tree.lineage(pod.queue or "") if not self.tree.contains(path, self.ask.queue or "")
        ]

    def keeps_reserved(self, gone: list[Pod]) -> bool:
        """Whether all that lose something still have what is reserved for them, the ask counted where it comes."""
        for path, one in self.standings.items():
            comes = self.ask.requests[CPU] if self.tree.contains(path, self.ask.queue or "") else 0
            left = one.used.get(CPU, 0) - self.lost(path, gone) + comes
            if self.lost(path, gone) and left < one.reserved.get(CPU, 0):
                return False
        return True

    def keeps_budgets(self, gone: list[Pod]) -> bool:
        """Whether no budget loses more than it allows; here each covers its namespace."""
        return all(sum(pod.namespace == one.namespace for pod in gone) <= one.allowed for one in self.snapshot.budgets)

    def may_go(self, pod: Pod, gone: list[Pod], *, below: bool) -> bool:
        """Whether a pod may go after these. ``below``: its queue may have come down to what it deserves by them."""
        if pod.namespace == SYSTEM or pod.queue == self.ask.queue:
            return False
        beyond = self.beyond and self.at_once
        before: list[Pod] = [] if below else gone
        overused = all(self.over(one, before) > 0 for one in self.line(pod))
        lawful = pod.priority < self.ask.priority if beyond else overused
        return lawful and self.keeps_reserved([*gone, pod]) and self.keeps_budgets([*gone, pod])

    def turn(self, pod: Pod, gone: list[Pod]) -> tuple[object, ...]:
        """Relatives, then the most beyond its share from the common area down; the lowest priority; the newest."""
        line = self.line(pod)
        shared = len(self.tree.lineage(pod.queue or "")) - len(line)
        whole = sum(node.allocatable[CPU] for node in self.snapshot.nodes)
        down = tuple((-Fraction(self.over(path, gone), whole), path) for path in reversed(line))
        return -shared, down, pod.priority, -pod.created_ms, pod.key


def reclaimed(world: World) -> tuple[str, list[str]] | None:
    """The node and the names of those who go from it, in their turn; None where nobody does."""
    if world.beyond and not world.at_once:
        return None
    found = list(_on_nodes(world, below=False)) or list(_on_nodes(world, below=True))
    return min(found, key=lambda one: one[0])[1:] if found else None


def _on_nodes(world: World, *, below: bool) -> Iterator[tuple[tuple[object, ...], str, list[str]]]:
    for node in world.snapshot.nodes:
        pods = [pod for pod in world.snapshot.pods if pod.node == node.name]
        missing = world.ask.requests[CPU] - node.allocatable[CPU] + sum(pod.requests[CPU] for pod in pods)
        gone: list[Pod] = []
        while _held(gone) < missing:
            left = [pod for pod in pods if pod not in gone and world.may_go(pod, gone, below=below)]
            if not left:
                break
            gone.append(min(left, key=lambda pod: world.turn(pod, gone)))
        else:
            for pod in reversed(tuple(gone)):
                if _held(gone) - pod.requests[CPU] >= missing:
                    gone.remove(pod)
            newest = max(pod.created_ms for pod in gone)
            cost = (*world.turn(gone[0], [])[:2], max(pod.priority for pod in gone), len(gone), -newest, node.name)
            yield cost, node.name, [pod.name for pod in gone]


def _held(pods: list[Pod]) -> int:
    return sum(pod.requests[CPU] for pod in pods)

"""What YuniKorn reckons of its queues: what of each may be preempted, what is left of its guarantee.

Amounts are by resource; ``None`` is nothing said, which is not the same as nothing. Source: QueuePreemptionSnapshot of
yunikorn-core.
"""

from collections.abc import Mapping

from engine.policies.yunikorn.quirks import Quirks
from engine.queues import QueueTree
from engine.resources import Amounts, add, subtract, total
from engine.snapshot import Pod, Snapshot


class Books:
    """Usage of every queue at one moment, and what has gone or come since; ``copy`` to try something out."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, quirks: Quirks) -> None:
        self.tree, self.quirks = tree, quirks
        bound = [pod for pod in snapshot.pods if pod.node is not None and pod.queue is not None and pod.queue in tree]
        self.allocated = tree.roll_up(_by_leaf(bound))
        """Queue -> what its bound pods hold, those on their way out included."""
        self.preempting = tree.roll_up(_by_leaf([pod for pod in bound if pod.terminating]))
        self.used = {
            path: {resource: amount - self.preempting[path].get(resource, 0) for resource, amount in amounts.items()}
            for path, amounts in self.allocated.items()
        }
        self.before = dict(self.used)
        """The same at the beginning, whatever goes or comes."""
        self.root_max = snapshot.capacity

    def copy(self) -> "Books":
        """The same, to be changed without this one changing."""
        other = object.__new__(Books)
        other.__dict__ = self.__dict__ | {"used": dict(self.used)}
        return other

    def add(self, leaf: str, requests: Mapping[str, int]) -> None:
        """More used in a leaf and all above it."""
        for path in self.tree.lineage(leaf):
            self.used[path] = add(self.used[path], requests)

    def remove(self, leaf: str, requests: Mapping[str, int]) -> None:
        """Less used in a leaf and all above it."""
        for path in self.tree.lineage(leaf):
            self.used[path] = subtract(self.used[path], requests)

    def preemptable(self, path: str) -> Amounts | None:
        """What is used beyond the guarantees of the queue and, in the same resources, of those above; None: nothing is.

        Source: GetPreemptableResource.
        """
        if not self.allocated[path]:
            return None
        queue = self.tree[path]
        over = {
            resource: amount - queue.guaranteed.get(resource, 0)
            for resource, amount in self.used[path].items()
            if resource in self.allocated[path] and amount > queue.guaranteed.get(resource, 0)
        }
        above = self.preemptable(queue.parent) if queue.parent and over else None
        return {resource: min(amount, (above or {}).get(resource, amount)) for resource, amount in over.items()}

    def remaining(self, path: str, asker: str | None) -> Amounts | None:
        """What is left of the guarantees of a queue and those above, negative where used beyond; None: none is given.

        ``asker``: the leaf that preempts. Its own guarantee is not lowered by those above it; and where it has one,
        those of the queues above it are not passed down to others. Source: GetRemainingGuaranteedResource.
        """
        queue = self.tree[path]
        above = self.remaining(queue.parent, asker) if queue.parent else None
        if not above and not queue.guaranteed:
            return None
        used = self.used[path]
        own = {resource: amount - used.get(resource, 0) for resource, amount in queue.guaranteed.items()}
        if asker is not None and path != self.tree.root and own:
            if path == asker:
                return (above or {}) | own
            if self._above(path, asker) and self.tree[asker].guaranteed:
                return None
        return _least(own, above or {})

    def _above(self, path: str, asker: str) -> bool:
        return asker.startswith(path) if self.quirks.name_prefix else self.tree.contains(path, asker)

    def effective_max(self, path: str) -> Amounts:
        """The least max of the queue and all above it; the root's is all that the nodes hold."""
        found: Amounts = {}
        for above in self.tree.lineage(path):
            found = _least(found, self.tree[above].max)
        return _least(found, self.root_max)

    def headroom(self, leaf: str) -> Amounts:
        """What the leaf and the queues above it may still take up, by resource that is limited anywhere."""
        found: Amounts = {}
        for path in self.tree.lineage(leaf):
            limit = self.tree[path].max if path != self.tree.root else _least(self.root_max, self.tree[path].max)
            allocated = self.allocated[path]
            found = _least(found, {name: amount - allocated.get(name, 0) for name, amount in limit.items()})
        return found

    def full(self, leaf: str, requests: Mapping[str, int]) -> str:
        """The first queue upwards and its first resource that ``requests`` would take over a max, as one text."""
        for path in self.tree.lineage(leaf):
            limit = self.tree[path].max if path != self.tree.root else _least(self.root_max, self.tree[path].max)
            for name, amount in requests.items():
                if name in limit and self.allocated[path].get(name, 0) + amount > limit[name]:
                    return f"{path} {name}"
        return leaf

    def keeps_leaf(self, pod: Pod) -> bool:
        """Whether the pod's leaf stays at its guarantee when the pod goes, in every resource that it requests."""
        return self._keeps(pod.queue or "", pod)

    def keeps_parents(self, pod: Pod, ask: Pod) -> bool:
        """Whether every queue above the pod's leaf stays at its guarantee without it.

        One that is above the asker's too gets the ask in return, and may stay as far below as it was.
        """
        return all(self._keeps(path, pod, ask) for path in self.tree.lineage(pod.queue or "")[1:])

    def _keeps(self, path: str, pod: Pod, ask: Pod | None = None) -> bool:
        used, guaranteed = self.used[path], self.tree[path].guaranteed
        shared = ask is not None and self.tree.contains(path, ask.queue or "")
        added = ask.requests if ask is not None and shared else {}
        return all(
            used.get(resource, 0) - amount + added.get(resource, 0)
            >= (min(guaranteed[resource], self.before[path].get(resource, 0)) if shared else guaranteed[resource])
            for resource, amount in pod.requests.items()
            if amount > 0 and resource in guaranteed
        )


def fits(smaller: Mapping[str, int], larger: Mapping[str, int] | None, *, unlimited: bool = False) -> bool:
    """Whether one fits into the other; less than nothing is nothing. ``unlimited``: what is not named has no limit."""
    larger = larger or {}
    return all(
        amount <= max(0, larger.get(resource, 0))
        for resource, amount in smaller.items()
        if not unlimited or resource in larger
    )


def _least(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    """The lesser of both by resource, where only one names a resource that one's."""
    return {
        resource: min(one.get(resource, other.get(resource, 0)), other.get(resource, one.get(resource, 0)))
        for resource in {**one, **other}
    }


def _by_leaf(pods: list[Pod]) -> dict[str, Amounts]:
    by_leaf: dict[str, list[Amounts]] = {}
    for pod in pods:
        by_leaf.setdefault(pod.queue or "", []).append(pod.requests)
    return {leaf: total(requests) for leaf, requests in by_leaf.items()}

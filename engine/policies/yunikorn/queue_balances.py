"""What YuniKorn reckons of its queues: what of each may be preempted, what is left of its guarantee.

Amounts are by resource; ``None`` is nothing said, which is not the same as nothing. Source: QueuePreemptionSnapshot of
yunikorn-core.
"""

from collections.abc import Iterable, Iterator, Mapping

from engine.model.decision import QueueFigures
from engine.model.objects import Pod
from engine.model.quantities import Amounts, add
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn.pod_table import PodTable
from engine.policies.yunikorn.quirks import Quirks


class QueueBalances:
    """Usage of every queue at one moment, and what has gone or come since; ``copy`` to try something out."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, table: PodTable, quirks: Quirks) -> None:
        self.tree, self.quirks = tree, quirks
        self.allocated = table.allocated
        """Queue -> what its bound pods hold, those on their way out included."""
        self.root_max = snapshot.capacity
        self.table, self._cuts = table, dict[str, frozenset[str]]()
        self._since: dict[str, Amounts] = {}
        self._first = self
        """As they are at the beginning."""
        for pod in table.leaving(snapshot):
            self.remove(pod.queue or "", pod.requests)

    def copy(self) -> "QueueBalances":
        """The same, to be changed without this one changing."""
        other = object.__new__(QueueBalances)
        other.__dict__ = self.__dict__ | {"_since": {path: dict(more) for path, more in self._since.items()}}
        return other

    def add(self, leaf: str, requests: Mapping[str, int]) -> None:
        """More used in a leaf and all above it."""
        for path in self.tree.lineage(leaf):
            since = self._since.setdefault(path, {})
            for name, amount in requests.items():
                since[name] = since.get(name, 0) + amount

    def remove(self, leaf: str, requests: Mapping[str, int]) -> None:
        """Less used in a leaf and all above it."""
        self.add(leaf, {name: -amount for name, amount in requests.items()})

    def used(self, path: str, resource: str) -> int:
        """What a queue uses of a resource, pods on their way out not counted."""
        since = self._since.get(path)
        return self.allocated[path].get(resource, 0) + (since.get(resource, 0) if since else 0)

    def gained(self, path: str, resource: str) -> int:
        """How much more a queue uses of a resource than at the beginning."""
        return self.used(path, resource) - self._first.used(path, resource)

    def usage(self, path: str) -> Amounts:
        """What a queue uses of everything."""
        return add(self.allocated[path], self._since.get(path, {}))

    def preemptable(self, path: str) -> Amounts | None:
        """What is used beyond the guarantees of the queue and, in the same resources, of those above; None: nothing is.

        Source: GetPreemptableResource.
        """
        if not self.allocated[path]:
            return None
        queue = self.tree[path]
        beyond = {name: self.used(path, name) - queue.guaranteed.get(name, 0) for name in self.allocated[path]}
        over = {name: amount for name, amount in beyond.items() if amount > 0}
        above = self.preemptable(queue.parent) if queue.parent and over else None
        return {name: min(amount, (above or {}).get(name, amount)) for name, amount in over.items()}

    def remaining(self, path: str, asker: str | None) -> Amounts | None:
        """What is left of the guarantees that count for a queue, negative where used beyond; None: none does.

        ``asker``: the leaf that preempts. Its own guarantee is not lowered by those above it. Source:
        GetRemainingGuaranteedResource.
        """
        found: Amounts = {}
        own = self.tree[path].guaranteed if path == asker else {}
        for above in self.counting(path, asker):
            for name, promised in self.tree[above].guaranteed.items():
                left = promised - self.used(above, name)
                if name not in found or (left < found[name] and name not in own):
                    found[name] = left
        return found or None

    def counting(self, path: str, asker: str | None) -> Iterator[str]:
        """The queues, from one upwards, whose guarantees count for it.

        Where the asker has one of its own, those of the queues above it, and of all above these, are not passed down.
        """
        cuts = () if asker is None else self.cuts(asker)
        for above in self.table.counting[path]:
            if above in cuts:
                return
            yield above

    def cuts(self, asker: str) -> frozenset[str]:
        """The queues whose guarantees are not passed down since the asker has one of its own."""
        found = self._cuts.get(asker)
        if found is None:
            found = self._cuts[asker] = frozenset(self._cut_off(asker))
        return found

    def _cut_off(self, asker: str) -> Iterator[str]:
        if not self.tree[asker].guaranteed:
            return
        for path, queue in self.tree.queues.items():
            above = asker.startswith(path) if self.quirks.name_prefix else self.tree.contains(path, asker)
            if above and queue.guaranteed and path not in (asker, self.tree.root):
                yield path

    @property
    def changed(self) -> Iterable[str]:
        """The queues in which more or less is used than is bound there."""
        return self._since

    def effective_max(self, path: str) -> Amounts:
        """The least max of the queue and all above it; the root's is all that the nodes hold."""
        found: Amounts = {}
        for above in self.tree.lineage(path):
            for name, most in self.limits(above).items():
                found[name] = min(most, found.get(name, most))
        return found

    def full(self, leaf: str, requests: Mapping[str, int]) -> tuple[str, str] | None:
        """The first queue upwards and its first resource that ``requests`` would take over a max, None where none is.

        Usage is what is bound, those on their way out included. Source: the headroom of a queue.
        """
        for path in self.tree.lineage(leaf):
            limits = self.limits(path)
            for name, amount in requests.items():
                most = limits.get(name)
                if most is not None and amount > max(0, most - self.allocated[path].get(name, 0)):
                    return path, name
        return None

    def limits(self, path: str) -> Amounts:
        """The queue's own max; the root's is also all that the nodes hold."""
        found = dict(self.root_max) if path == self.tree.root else {}
        for name, most in self.tree[path].max.items():
            found[name] = min(most, found.get(name, most))
        return found

    def keeps_leaf(self, pod: Pod) -> bool:
        """Whether the pod's leaf stays at its guarantee when the pod goes, in every resource that it requests."""
        return self._keeps(pod.queue or "", pod)

    def keeps_parents(self, pod: Pod, ask: Pod) -> bool:
        """Whether every queue above the pod's leaf stays at its guarantee without it.

        One that is above the asker's too gets the ask in return, and may stay as far below as it was.
        """
        return all(self._keeps(path, pod, ask) for path in self.tree.lineage(pod.queue or "")[1:])

    def _keeps(self, path: str, pod: Pod, ask: Pod | None = None) -> bool:
        guaranteed = self.tree[path].guaranteed
        shared = ask is not None and self.tree.contains(path, ask.queue or "")
        added = ask.requests if ask is not None and shared else {}
        return all(
            self.used(path, name) - amount + added.get(name, 0)
            >= (min(guaranteed[name], self._first.used(path, name)) if shared else guaranteed[name])
            for name, amount in pod.requests.items()
            if amount > 0 and name in guaranteed
        )


def fits(smaller: Mapping[str, int], larger: Mapping[str, int] | None, *, unlimited: bool = False) -> bool:
    """Whether one fits into the other; less than nothing is nothing. ``unlimited``: what is not named has no limit."""
    larger = larger or {}
    return all(
        amount <= max(0, larger.get(name, 0)) for name, amount in smaller.items() if not unlimited or name in larger
    )


def figures(books: QueueBalances, ask: Pod, victims: Iterable[Pod]) -> tuple[QueueFigures, ...]:
    """The ask's queue and all above it, then each victim's and all above, before and after."""
    victims = tuple(victims)
    after = books.copy()
    if victims:
        after.add(ask.queue or "", ask.requests)
    for pod in victims:
        after.remove(pod.queue or "", pod.requests)
    leaves = [pod.queue for pod in (ask, *victims) if pod.queue is not None]
    paths = dict.fromkeys(path for leaf in leaves for path in books.tree.lineage(leaf))
    return tuple(
        QueueFigures(
            path=path,
            before=books.usage(path),
            after=after.usage(path),
            guaranteed=books.tree[path].guaranteed,
            max=books.tree[path].max,
        )
        for path in paths
    )

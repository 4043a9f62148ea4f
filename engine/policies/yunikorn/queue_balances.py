"""YuniKorn's calculations for queues: their usage, preemptable amounts and remaining guarantees.

Amounts are by resource. ``None`` means that no amount applies, which differs from an amount of 0. Source:
QueuePreemptionSnapshot of yunikorn-core.
"""

from collections.abc import Iterable, Iterator, Mapping

from engine.model.decision import QueueFigures
from engine.model.objects import Pod
from engine.model.quantities import Amounts, add
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.queue_usage import UsageChange
from engine.policies.yunikorn.pod_table import PodTable
from engine.policies.yunikorn.quirks.table import Quirks


class QueueBalances:
    """The usage of every queue at one moment, with changes applied since. Use ``copy`` to try out changes."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, table: PodTable, quirks: Quirks) -> None:
        self.tree, self.quirks = tree, quirks
        self.allocated = table.allocated
        """Queue -> what its bound pods hold, including terminating pods."""
        self.root_max = snapshot.capacity
        self.table, self._cuts = table, dict[str, frozenset[str]]()
        self._since = UsageChange(tree)
        self._first = self
        """The initial balances, with which later usage is compared."""
        for pod in table.leaving(snapshot):
            self.remove(pod.queue or "", pod.requests)

    def copy(self) -> "QueueBalances":
        """Return a copy of the balances that can be changed independently."""
        other = object.__new__(QueueBalances)
        other.__dict__ = self.__dict__ | {"_since": self._since.copy()}
        return other

    def add(self, leaf: str, requests: Mapping[str, int]) -> None:
        """Add requests to the usage of a leaf and of all queues above it."""
        self._since.add(leaf, requests)

    def remove(self, leaf: str, requests: Mapping[str, int]) -> None:
        """Subtract requests from the usage of a leaf and of all queues above it."""
        self._since.add(leaf, requests, -1)

    def used(self, path: str, resource: str) -> int:
        """Return a queue's usage of a resource. Terminating pods do not count."""
        return self.allocated[path].get(resource, 0) + self._since.of(path, resource)

    def gained(self, path: str, resource: str) -> int:
        """Return how much a queue's usage of a resource has grown since the beginning."""
        return self.used(path, resource) - self._first.used(path, resource)

    def usage(self, path: str) -> Amounts:
        """Return a queue's usage of all resources."""
        return add(self.allocated[path], self._since.by_queue.get(path, {}))

    def preemptable(self, path: str) -> Amounts | None:
        """Return what a queue uses beyond its guarantee, limited by the excess, if any, of the queues above it.

        Return None if the queue has no bound pods. Source: GetPreemptableResource.
        """
        if not self.allocated[path]:
            return None
        queue = self.tree[path]
        beyond = {name: self.used(path, name) - queue.guaranteed.get(name, 0) for name in self.allocated[path]}
        over = {name: amount for name, amount in beyond.items() if amount > 0}
        above = self.preemptable(queue.parent) if queue.parent and over else None
        return {name: min(amount, (above or {}).get(name, amount)) for name, amount in over.items()}

    def remaining(self, path: str, preemptor_leaf: str | None) -> Amounts | None:
        """Return what is left of the guarantees that count for a queue, None if no guarantee counts.

        Amounts are negative if usage exceeds the guarantee. The own guarantee of ``preemptor_leaf`` is not reduced by
        those above it. Source: GetRemainingGuaranteedResource.
        """
        found: Amounts = {}
        own = self.tree[path].guaranteed if path == preemptor_leaf else {}
        for above in self.counting(path, preemptor_leaf):
            for name, promised in self.tree[above].guaranteed.items():
                left = promised - self.used(above, name)
                if name not in found or (left < found[name] and name not in own):
                    found[name] = left
        return found or None

    def counting(self, path: str, preemptor_leaf: str | None) -> Iterator[str]:
        """Yield the queues, from the given one upwards, whose guarantees count for it.

        If the preemptor's leaf has its own guarantee, the guarantees of the queues above that leaf are not passed down.
        """
        cuts = () if preemptor_leaf is None else self.cuts(preemptor_leaf)
        for above in self.table.counting[path]:
            if above in cuts:
                return
            yield above

    def cuts(self, preemptor_leaf: str) -> frozenset[str]:
        """Return the queues whose guarantees are not passed down because the preemptor's leaf has its own guarantee."""
        found = self._cuts.get(preemptor_leaf)
        if found is None:
            found = self._cuts[preemptor_leaf] = frozenset(self._cut_off(preemptor_leaf))
        return found

    def _cut_off(self, preemptor_leaf: str) -> Iterator[str]:
        if not self.tree[preemptor_leaf].guaranteed:
            return
        for path, queue in self.tree.queues.items():
            above = (
                preemptor_leaf.startswith(path) if self.quirks.name_prefix else self.tree.contains(path, preemptor_leaf)
            )
            if above and queue.guaranteed and path not in (preemptor_leaf, self.tree.root):
                yield path

    @property
    def changed(self) -> Iterable[str]:
        """Return the queues whose usage differs from what their bound pods hold."""
        return self._since.by_queue

    def effective_max(self, path: str) -> Amounts:
        """Return the smallest max of a queue and all queues above it. The root's max includes the nodes' capacity."""
        found: Amounts = {}
        for above in self.tree.lineage(path):
            for name, most in self.limits(above).items():
                found[name] = min(most, found.get(name, most))
        return found

    def full(self, leaf: str, requests: Mapping[str, int]) -> tuple[str, str] | None:
        """Return the first queue upwards, and its first resource, that ``requests`` would take over a max.

        Return None if there is none. Usage includes terminating pods. Source: the headroom of a queue.
        """
        for path in self.tree.lineage(leaf):
            limits = self.limits(path)
            for name, amount in requests.items():
                most = limits.get(name)
                if most is not None and amount > max(0, most - self.allocated[path].get(name, 0)):
                    return path, name
        return None

    def limits(self, path: str) -> Amounts:
        """Return the queue's own max. The root's max is also limited by the total capacity of the nodes."""
        found = dict(self.root_max) if path == self.tree.root else {}
        for name, most in self.tree[path].max.items():
            found[name] = min(most, found.get(name, most))
        return found

    def keeps_leaf(self, pod: Pod) -> bool:
        """Return whether the pod's leaf would not be below its guarantee without it, in every requested resource."""
        return self._keeps(pod.queue or "", pod)

    def keeps_parents(self, pod: Pod, ask: Pod) -> bool:
        """Return whether no queue above the pod's leaf would be below its guarantee without the pod.

        A queue that is also above the preemptor gains the pending pod's requests in return, and may remain as far below
        its guarantee as it was.
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
    """Return whether the smaller amounts fit into the larger ones. Negative amounts of the larger count as 0.

    ``unlimited``: whether a resource that the larger amounts don't name has no limit.
    """
    larger = larger or {}
    return all(
        amount <= max(0, larger.get(name, 0)) for name, amount in smaller.items() if not unlimited or name in larger
    )


def figures(balances: QueueBalances, ask: Pod, victims: Iterable[Pod]) -> tuple[QueueFigures, ...]:
    """Return the figures before and after the decision, for the queues of the pending pod and of the victims.

    First the pending pod's queue and all queues above it, then each victim's queue and all above that.
    """
    victims = tuple(victims)
    after = balances.copy()
    if victims:
        after.add(ask.queue or "", ask.requests)
    for pod in victims:
        after.remove(pod.queue or "", pod.requests)
    leaves = [pod.queue for pod in (ask, *victims) if pod.queue is not None]
    paths = dict.fromkeys(path for leaf in leaves for path in balances.tree.lineage(leaf))
    return tuple(
        QueueFigures(
            path=path,
            before=balances.usage(path),
            after=after.usage(path),
            guaranteed=balances.tree[path].guaranteed,
            max=balances.tree[path].max,
        )
        for path in paths
    )

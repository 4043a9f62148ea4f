"""Usage of queues as the invariants of policy ``fence`` count it, its changes, and figures before and after."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers
from engine.model.columns.node_fields import SAFE
from engine.model.decision import QueueFigures
from engine.model.objects import Pod
from engine.model.quantities import Amounts, add, subtract
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Reservation, Snapshot
from engine.policies.common.pod_index import PodIndex

Book = dict[str, Numbers]
"""Resource -> queue number -> amount, which includes the queue's subtree."""


class UsageChange:
    """What pods that come or go change about the usage of queues, as far as up to the root."""

    def __init__(self, tree: QueueTree) -> None:
        self._tree = tree
        self.by_queue: dict[str, Amounts] = {}
        """Queue -> the change of its usage, which includes its subtree."""

    @classmethod
    def of_pods(cls, tree: QueueTree, pods: Iterable[Pod]) -> "UsageChange":
        """Return what some pods of the tree hold, in their queues and in all queues above."""
        change = cls(tree)
        for pod in pods:
            change.add(pod.queue or tree.root, pod.requests)
        return change

    def add(self, leaf: str, requests: Mapping[str, int], times: int = 1) -> None:
        """Count requests in a leaf and in all queues above it, ``times`` times: -1 for a pod that leaves."""
        for path in self._tree.lineage(leaf):
            change = self.by_queue.setdefault(path, {})
            for name, amount in requests.items():
                change[name] = change.get(name, 0) + times * amount

    def of(self, path: str, resource: str) -> int:
        """Return by how much a queue's usage of a resource has grown."""
        change = self.by_queue.get(path)
        return change.get(resource, 0) if change else 0

    def copy(self) -> "UsageChange":
        """Return a copy that can be changed independently."""
        other = UsageChange(self._tree)
        other.by_queue = {path: dict(change) for path, change in self.by_queue.items()}
        return other


class QueueUsage:
    """The usage of every queue at one moment, and the nodes that are reserved for pending pods."""

    def __init__(self, pod_index: PodIndex, snapshot: Snapshot) -> None:
        self.pod_index, self.columns, self.reservations = pod_index, snapshot.columns, snapshot.reservations
        columns = snapshot.columns
        self.for_preemptor: Book = dict(pod_index.bound)
        """Usage that counts for a preemptor: bound pods plus the capacity that open decisions reserve."""
        self.for_victims: Book = dict(pod_index.bound)
        """Usage that counts for a victim's queue: bound pods without terminating pods."""
        self.reserved: Flags = np.zeros(len(columns.nodes), np.bool_)
        """Place of a node -> whether a decision reserves the node."""
        leaving = [columns.pods[row] for row in columns.leaving.tolist()]
        self._leave([*leaving, *(pod for pod in columns.stray if pod.terminating)])
        self._reserve(snapshot, snapshot.reservations)

    def moved(self, snapshot: Snapshot) -> "QueueUsage | None":
        """Return the usage for a later snapshot of the same pass, updated incrementally from this one.

        Return None if the snapshot does not continue the one of this usage.
        """
        columns = snapshot.columns
        since = snapshot.reservations[len(self.reservations) :]
        if (*self.reservations, *since) != snapshot.reservations or columns.stray is not self.columns.stray:
            return None
        gone = columns.since(self.columns)
        if gone is None:
            return None
        later = copy(self)
        later.columns, later.reservations = columns, snapshot.reservations
        later.for_preemptor, later.for_victims, later.reserved = (
            dict(self.for_preemptor),
            dict(self.for_victims),
            self.reserved.copy(),
        )
        later._leave([columns.pods[row] for row in gone.tolist()])  # noqa: SLF001 - of the same class
        later._reserve(snapshot, since)  # noqa: SLF001
        return later

    def _leave(self, pods: Sequence[Pod]) -> None:
        self._enter(
            self.for_victims, [(pod.queue, {name: -held for name, held in pod.requests.items()}) for pod in pods]
        )

    def _reserve(self, snapshot: Snapshot, reservations: Sequence[Reservation]) -> None:
        place = self.columns.place
        self.reserved[[place[held.node] for held in reservations if held.node in place]] = True
        waiting = [held for held in reservations if not _is_used(snapshot.pod(held.ask_uid))]
        self._enter(self.for_preemptor, [(held.queue, held.requests) for held in waiting])

    def _enter(self, book: Book, amounts: Sequence[tuple[str | None, Amounts]]) -> None:
        pod_index = self.pod_index
        change = UsageChange(pod_index.tree)
        for queue, requests in amounts:
            if queue is not None and queue in pod_index.tree:
                change.add(queue, requests)
        by_resource: dict[str, dict[int, int]] = {}
        for path, amounts_of_queue in change.by_queue.items():
            number = pod_index.number[path]
            for resource, amount in amounts_of_queue.items():
                by_resource.setdefault(resource, {})[number] = amount
        for resource, by_number in by_resource.items():
            before = self.of(book, resource)
            after = before.copy() if max(map(abs, by_number.values())) <= SAFE else before.astype(object)
            for number, amount in by_number.items():
                after[number] += amount
            book[resource] = after

    def of(self, book: Book, resource: str) -> Numbers:
        """Return the amounts of a resource by queue number; zeros for a resource that no queue uses."""
        return book[resource] if resource in book else np.zeros(self.pod_index.nobody + 1, np.int64)

    def figures(self, leaf: str | None, asked: Amounts, victims: Iterable[Pod]) -> tuple[QueueFigures, ...]:
        """Return the figures before and after the decision, for the queues of the pending pod and of the victims.

        First the pending pod's queue (``leaf``) and all queues above it, then each victim's queue and all above that.
        The preemptor's lineage is measured by ``for_preemptor``, the other queues by ``for_victims``. Zeros are left
        out.
        """
        tree, victims = self.pod_index.tree, tuple(victims)
        own = tree.lineage(leaf) if leaf else ()
        others = {path: None for pod in victims for path in tree.lineage(pod.queue or tree.root) if path not in own}
        gone = UsageChange.of_pods(tree, victims)
        found = []
        for path in (*own, *others):
            before = self._all(self.for_preemptor if path in own else self.for_victims, path)
            after = add(before, asked) if path in own and victims else before
            after = subtract(after, gone.by_queue.get(path, {}))
            after = {resource: amount for resource, amount in sorted(after.items()) if amount}
            queue = tree[path]
            found.append(
                QueueFigures(path=path, before=before, after=after, guaranteed=queue.guaranteed, max=queue.max)
            )
        return tuple(found)

    def _all(self, book: Book, path: str) -> Amounts:
        number = self.pod_index.number[path]
        return {resource: amount for resource in sorted(book) if (amount := int(book[resource][number]))}


def _is_used(pod: Pod | None) -> bool:
    return pod is not None and pod.node is not None and pod.queue is not None


def usage_of(pod_index: PodIndex, snapshot: Snapshot) -> QueueUsage:
    """Return the usage of queues in a snapshot, updated incrementally from the previous call of the same pass.

    ``pod_index``: the snapshot's pod index.
    """
    kept: dict[str, QueueUsage] = snapshot.once("fence usage", pod_index.tree, dict)
    latest = kept.get("latest")
    if latest and latest.columns is snapshot.columns and latest.reservations is snapshot.reservations:
        return latest
    kept["latest"] = found = (latest and latest.moved(snapshot)) or QueueUsage(pod_index, snapshot)
    return found

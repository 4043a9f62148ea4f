"""Reports the share status of every queue: what it requests, uses, and deserves."""

from collections.abc import Iterator, Mapping

import msgspec

from engine.model.quantities import Amounts, add
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Reservation, Snapshot
from engine.policies.deserved.shares.amounts_by_path import changed_paths
from engine.policies.deserved.shares.division import Method, deserved
from engine.policies.deserved.shares.share_index import ShareIndex, share_index_of


class ShareStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A queue's amounts; those of a parent are the totals of the queues below it."""

    requested: Amounts
    used: Amounts
    """The requests of running pods that are not terminating, plus what open decisions reserve for pending pods."""
    reserved: Amounts
    """The reserved amounts, never more than the hard limits."""
    hard: Amounts
    """The hard limits; a resource that is missing is not limited here."""
    deserved: Amounts

    @property
    def over(self) -> Amounts:
        """Return what the queue uses beyond what it deserves, of resources that the cluster has."""
        beyond = ((name, self.used.get(name, 0) - amount) for name, amount in self.deserved.items())
        return {name: amount for name, amount in beyond if amount > 0}


class ShareStatuses(Mapping[str, ShareStatus]):
    """The share status of all queues by path. Each is created on first access, because a decision needs only a few."""

    def __init__(
        self, share_index: ShareIndex, tree: QueueTree, shares: Mapping[str, Amounts], kept: Mapping[str, Amounts]
    ) -> None:
        self._share_index, self._tree, self._kept = share_index, tree, kept
        self.shares = shares
        """Path -> what the queue deserves."""
        self._made: dict[str, ShareStatus] = {}

    def __len__(self) -> int:
        return len(self._tree.queues)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree.queues)

    def __getitem__(self, path: str) -> ShareStatus:
        if path not in self._made:
            self._made[path] = self._make(path, self._tree[path])
        return self._made[path]

    def used(self, path: str, resource: str) -> int:
        """Return what a queue uses of a resource."""
        kept = self._kept.get(path)
        return self._share_index.used[path].get(resource, 0) + (kept.get(resource, 0) if kept else 0)

    def deserved(self, path: str, resource: str) -> int:
        """Return what a queue deserves of a resource."""
        return self.shares[path].get(resource, 0)

    def over(self, path: str, resource: str) -> int:
        """Return what a queue uses of a resource beyond what it deserves; negative if it deserves more."""
        return self.used(path, resource) - self.deserved(path, resource)

    def beyond(self, path: str) -> Amounts:
        """Return what a queue uses beyond what it deserves, of all resources that the cluster has."""
        used, deserved = self._used(path), self.shares[path]
        over = {name: used.get(name, 0) - deserved.get(name, 0) for name in self._share_index.capacity}
        return {name: amount for name, amount in over.items() if amount > 0}

    def _used(self, path: str) -> Amounts:
        used, kept = self._share_index.used[path], self._kept.get(path)
        return add(used, kept) if kept else used

    def changed(self, before: "ShareStatuses") -> list[str]:
        """Return the queues whose usage may differ from ``before``, under the same tree."""
        used, kept = before._share_index.used, before._kept  # noqa: SLF001 - same class
        rooms = (path for path in {**kept, **self._kept} if self._kept.get(path) is not kept.get(path))
        return [*changed_paths(used, self._share_index.used), *rooms]

    def moved(self, before: "ShareStatuses") -> list[str]:
        """Return the queues whose deserved amounts may differ from ``before``, under the same tree."""
        return [] if self.shares is before.shares else changed_paths(before.shares, self.shares)

    def differing(self, before: "ShareStatuses") -> list[str]:
        """Return the queues whose usage or deserved amounts may differ from ``before``, under the same tree."""
        return list(dict.fromkeys([*self.changed(before), *self.moved(before)]))

    def _make(self, path: str, queue: Queue) -> ShareStatus:
        share_index = self._share_index
        return ShareStatus(
            requested=share_index.asked[path],
            used=self._used(path),
            reserved=reserved(queue),
            hard=queue.max,
            deserved={name: self.shares[path].get(name, 0) for name in share_index.capacity},
        )


def reserved(queue: Queue) -> Amounts:
    """Return a queue's reserved amounts, never more than its hard limits.

    Source: the proposal of k8s-arbitrator: reserved never exceeds hard.
    """
    return {name: min(amount, queue.max.get(name, amount)) for name, amount in queue.guaranteed.items()}


def share_statuses(snapshot: Snapshot, tree: QueueTree, method: Method = Method.DRF) -> Mapping[str, ShareStatus]:
    """Return the share status of every queue by its path."""
    share_index = share_index_of(snapshot, tree)
    return share_statuses_from(
        share_index, snapshot, tree, deserved(tree, share_index.requests, share_index.capacity, method)
    )


def share_statuses_from(
    share_index: ShareIndex, snapshot: Snapshot, tree: QueueTree, shares: Mapping[str, Amounts]
) -> ShareStatuses:
    """Return the share status of every queue, given the share index and the deserved amounts."""
    return ShareStatuses(share_index, tree, shares, _reserved_for_pending(snapshot, tree))


def pending_reservations(snapshot: Snapshot, since: int = 0) -> list[Reservation]:
    """Return the reservations of open decisions whose pending pods are not on a node yet.

    The first ``since`` reservations are skipped.
    """
    asks = ((room, snapshot.pod(room.ask_uid)) for room in snapshot.reservations[since:])
    return [room for room, ask in asks if ask is None or ask.node is None]


def _reserved_for_pending(snapshot: Snapshot, tree: QueueTree) -> dict[str, Amounts]:
    """Return what is reserved in each queue for pending pods that are not on a node yet, summed up the tree.

    Queues without reservations are left out. The result is updated incrementally; an entry is never modified.
    """
    latest: dict[str, tuple[tuple[Reservation, ...], dict[str, Amounts]]]
    latest = snapshot.once("deserved kept", tree, dict)
    before, known = latest.get("latest", ((), {}))
    if snapshot.reservations[: len(before)] != before:
        before, known = (), {}
    kept = dict(known)
    for room in pending_reservations(snapshot, len(before)):
        if room.queue in tree and tree.is_leaf(room.queue):
            for path in tree.lineage(room.queue):
                kept[path] = add(kept.get(path, {}), room.requests)
    latest["latest"] = snapshot.reservations, kept
    return kept

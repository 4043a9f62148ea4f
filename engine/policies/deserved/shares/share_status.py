"""Where every queue stands: what it asks, uses and deserves."""

from collections.abc import Iterator, Mapping

import msgspec

from engine.model.quantities import Amounts, add
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Reservation, Snapshot
from engine.policies.deserved.shares.division import Method, deserved
from engine.policies.deserved.shares.requested_amounts import changed
from engine.policies.deserved.shares.share_index import ShareIndex, ground


class ShareStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A queue's amounts; of a parent what those below it ask and use together."""

    requested: Amounts
    used: Amounts
    """By pods that run and are not on their way out, and by room that open decisions keep."""
    reserved: Amounts
    """At most its hard."""
    hard: Amounts
    """A resource that is missing is not limited here."""
    deserved: Amounts

    @property
    def over(self) -> Amounts:
        """What it uses beyond what it deserves, of the resources that there are any of."""
        beyond = ((name, self.used.get(name, 0) - amount) for name, amount in self.deserved.items())
        return {name: amount for name, amount in beyond if amount > 0}


class Standings(Mapping[str, ShareStatus]):
    """Each is made when it is asked for: of a thousand queues a decision looks at few."""

    def __init__(
        self, there: ShareIndex, tree: QueueTree, shares: Mapping[str, Amounts], kept: Mapping[str, Amounts]
    ) -> None:
        self._there, self._tree, self._kept = there, tree, kept
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
        """What a queue uses of a resource."""
        kept = self._kept.get(path)
        return self._there.used[path].get(resource, 0) + (kept.get(resource, 0) if kept else 0)

    def deserved(self, path: str, resource: str) -> int:
        """What a queue deserves of a resource."""
        return self.shares[path].get(resource, 0)

    def over(self, path: str, resource: str) -> int:
        """What a queue uses beyond what it deserves of a resource; below 0 where that is more."""
        return self.used(path, resource) - self.deserved(path, resource)

    def beyond(self, path: str) -> Amounts:
        """What a queue uses beyond what it deserves, of the resources that there are any of."""
        used, deserved = self._used(path), self.shares[path]
        over = {name: used.get(name, 0) - deserved.get(name, 0) for name in self._there.capacity}
        return {name: amount for name, amount in over.items() if amount > 0}

    def _used(self, path: str) -> Amounts:
        used, kept = self._there.used[path], self._kept.get(path)
        return add(used, kept) if kept else used

    def changed(self, before: "Standings") -> list[str]:
        """The queues that may use something else than before, under the same tree."""
        used, kept = before._there.used, before._kept  # noqa: SLF001 - of its own kind
        rooms = (path for path in {**kept, **self._kept} if self._kept.get(path) is not kept.get(path))
        return [*changed(used, self._there.used), *rooms]

    def moved(self, before: "Standings") -> list[str]:
        """The queues that may deserve something else than before, under the same tree."""
        return [] if self.shares is before.shares else changed(before.shares, self.shares)

    def _make(self, path: str, queue: Queue) -> ShareStatus:
        there = self._there
        return ShareStatus(
            requested=there.asked[path],
            used=self._used(path),
            reserved=reserved(queue),
            hard=queue.max,
            deserved={name: self.shares[path].get(name, 0) for name in there.capacity},
        )


def reserved(queue: Queue) -> Amounts:
    """What is reserved for a queue: at most its hard."""
    return {name: min(amount, queue.max.get(name, amount)) for name, amount in queue.guaranteed.items()}


def standing(snapshot: Snapshot, tree: QueueTree, method: Method = Method.DRF) -> Mapping[str, ShareStatus]:
    """Path -> where the queue stands."""
    there = ground(snapshot, tree)
    return standing_on(there, snapshot, tree, deserved(tree, there.requests, there.capacity, method))


def standing_on(there: ShareIndex, snapshot: Snapshot, tree: QueueTree, shares: Mapping[str, Amounts]) -> Standings:
    """The same where it is known what everybody asks and deserves."""
    return Standings(there, tree, shares, _kept(snapshot, tree))


def waiting_rooms(snapshot: Snapshot, since: int = 0) -> list[Reservation]:
    """The room that open decisions keep for asks that are on no node yet; ``since``: without so many decisions."""
    asks = ((room, snapshot.pod(room.ask_uid)) for room in snapshot.reservations[since:])
    return [room for room, ask in asks if ask is None or ask.node is None]


def _kept(snapshot: Snapshot, tree: QueueTree) -> dict[str, Amounts]:
    """Queue -> room that is kept for asks there which have not come yet, rolled up; others are left out.

    Gone on with from where it was asked for last. An entry is never changed.
    """
    latest: dict[str, tuple[tuple[Reservation, ...], dict[str, Amounts]]]
    latest = snapshot.once("deserved kept", tree, dict)
    before, known = latest.get("latest", ((), {}))
    if snapshot.reservations[: len(before)] != before:
        before, known = (), {}
    kept = dict(known)
    for room in waiting_rooms(snapshot, len(before)):
        if room.queue in tree and tree.is_leaf(room.queue):
            for path in tree.lineage(room.queue):
                kept[path] = add(kept.get(path, {}), room.requests)
    latest["latest"] = snapshot.reservations, kept
    return kept

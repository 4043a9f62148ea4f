"""What queues use and deserve, all of them at once by number; carried on from one decision to the next."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np

from engine.model.columns.node_columns import SAFE, Flags, Numbers
from engine.model.queue_tree import QueueTree
from engine.policies.common.pod_index import PodIndex
from engine.policies.deserved.shares.share_status import Standings, reserved


class ShareLedger:
    """One moment's. Queues are numbered as by the ground; who is nobody has nothing."""

    def __init__(self, ground: PodIndex, standings: Standings) -> None:
        self._ground, self._standings = ground, standings
        self._used: dict[str, Numbers] = {}
        self._deserved: dict[str, Numbers] = {}

    def moved(self, standings: Standings) -> "ShareLedger":
        """A later one: only queues that use something else since then are counted anew."""
        later = ShareLedger(self._ground, standings)
        later._used = self._amended(self._used, standings.changed(self._standings), standings.used)
        later._deserved = self._amended(self._deserved, standings.moved(self._standings), standings.deserved)
        return later

    def _amended(
        self, before: dict[str, Numbers], paths: Iterable[str], amount: Callable[[str, str], int]
    ) -> dict[str, Numbers]:
        """The same where some queues have another amount."""
        changed = [(self._ground.number[path], path) for path in paths]
        return {
            name: _amended(amounts, ((number, amount(path, name)) for number, path in changed)) if changed else amounts
            for name, amounts in before.items()
        }

    def used(self, resource: str) -> Numbers:
        """Queue -> what it uses."""
        if resource not in self._used:
            self._used[resource] = column([*(self._standings.used(path, resource) for path in self._ground.paths), 0])
        return self._used[resource]

    def over(self, resource: str) -> Numbers:
        """Queue -> what it uses beyond what it deserves; below 0 where that is more."""
        if resource not in self._deserved:
            amounts = (self._standings.deserved(path, resource) for path in self._ground.paths)
            self._deserved[resource] = column([*amounts, 0])
        over: Numbers = self.used(resource) - self._deserved[resource]
        return over

    def spare(self, resource: str, coming: int, within: Flags) -> Numbers:
        """Queue -> what may go from it and all above it that what is reserved remains.

        ``coming``: what comes to those ``within``, which may stay as far below what is reserved for them as they are.
        """
        ground, kept = self._ground, reserved_of(self._ground.tree)[resource]
        spare = self.used(resource) - kept.amounts
        if coming > SAFE:
            spare = spare.astype(object)
        spare[within] = np.maximum(spare[within], 0) + coming
        spare[~kept.some] = ground.limitless(spare)
        least: Numbers = spare[ground.line].min(axis=0)
        return least


class Reserved:
    """What is reserved of one resource, by number of the queue."""

    def __init__(self, tree: QueueTree, resource: str) -> None:
        queues = [tree[path] for path in tree.walk()]
        self.some: Flags = np.array([*(resource in queue.guaranteed for queue in queues), False])
        """Queue -> whether anything is."""
        self.amounts = column([*(reserved(queue).get(resource, 0) for queue in queues), 0])


@lru_cache(maxsize=16)
def reserved_of(tree: QueueTree) -> dict[str, Reserved]:
    """Resource that is reserved anywhere -> what of it is, never more than hard."""
    names = {name for queue in tree.queues.values() for name in queue.guaranteed}
    return {name: Reserved(tree, name) for name in sorted(names)}


def column(amounts: Sequence[int]) -> Numbers:
    """Amounts as an array, in 64 bits where a few of them can be added up in those."""
    return np.array(amounts, np.int64 if max(map(abs, amounts), default=0) <= SAFE else object)


def _amended(before: Numbers, amounts: Iterable[tuple[int, int]]) -> Numbers:
    found = list(amounts)
    large = any(abs(amount) > SAFE for _, amount in found)
    after = before.astype(object if large else before.dtype)
    for number, amount in found:
        after[number] = amount
    return after

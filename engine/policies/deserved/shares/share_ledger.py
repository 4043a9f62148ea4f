"""Holds what all queues use and deserve as arrays, updated incrementally from one decision to the next."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers
from engine.model.columns.node_fields import SAFE
from engine.model.queue_tree import QueueTree
from engine.policies.common.pod_index import PodIndex
from engine.policies.deserved.shares.share_status import ShareStatuses, reserved


class ShareLedger:
    """The used and deserved amounts of all queues at one moment.

    Queues are numbered as in the pod index; the number for no queue has zero amounts.
    """

    def __init__(self, pod_index: PodIndex, share_statuses: ShareStatuses) -> None:
        self._pod_index, self._share_statuses = pod_index, share_statuses
        self._used: dict[str, Numbers] = {}
        self._deserved: dict[str, Numbers] = {}

    def moved(self, share_statuses: ShareStatuses) -> "ShareLedger":
        """Return a later ledger, in which only queues whose amounts have changed since are recalculated."""
        later = ShareLedger(self._pod_index, share_statuses)
        later._used = self._amended(self._used, share_statuses.changed(self._share_statuses), share_statuses.used)
        later._deserved = self._amended(
            self._deserved, share_statuses.moved(self._share_statuses), share_statuses.deserved
        )
        return later

    def _amended(
        self, before: dict[str, Numbers], paths: Iterable[str], amount: Callable[[str, str], int]
    ) -> dict[str, Numbers]:
        """Return the arrays with the amounts of some queues replaced."""
        changed = [(self._pod_index.number[path], path) for path in paths]
        return {
            name: _replace_amounts(amounts, ((number, amount(path, name)) for number, path in changed))
            if changed
            else amounts
            for name, amounts in before.items()
        }

    def used(self, resource: str) -> Numbers:
        """Return for every queue number what the queue uses of a resource."""
        if resource not in self._used:
            self._used[resource] = column(
                [*(self._share_statuses.used(path, resource) for path in self._pod_index.paths), 0]
            )
        return self._used[resource]

    def over(self, resource: str) -> Numbers:
        """Return for every queue number what the queue uses beyond what it deserves; negative if it deserves more."""
        if resource not in self._deserved:
            amounts = (self._share_statuses.deserved(path, resource) for path in self._pod_index.paths)
            self._deserved[resource] = column([*amounts, 0])
        over: Numbers = self.used(resource) - self._deserved[resource]
        return over

    def preemptable(self, resource: str, coming: int, within: Flags) -> Numbers:
        """Return for every queue number how much may be preempted so that all reserved amounts are reserved.

        The reserved amounts of the queue and its ancestors count. ``coming`` is added to the queues flagged in
        ``within``, which may stay as far below their reserved amounts as they are.
        """
        pod_index, reserved = self._pod_index, reserved_of(self._pod_index.tree)[resource]
        preemptable = self.used(resource) - reserved.amounts
        if coming > SAFE:
            preemptable = preemptable.astype(object)
        preemptable[within] = np.maximum(preemptable[within], 0) + coming
        preemptable[~reserved.some] = pod_index.limitless(preemptable)
        least: Numbers = preemptable[pod_index.ancestors].min(axis=0)
        return least


class ReservedAmounts:
    """The reserved amounts of one resource, by queue number."""

    def __init__(self, tree: QueueTree, resource: str) -> None:
        queues = [tree[path] for path in tree.walk()]
        self.some: Flags = np.array([*(resource in queue.guaranteed for queue in queues), False])
        """Queue number -> whether any amount is reserved."""
        self.amounts = column([*(reserved(queue).get(resource, 0) for queue in queues), 0])


@lru_cache(maxsize=16)
def reserved_of(tree: QueueTree) -> dict[str, ReservedAmounts]:
    """Return the reserved amounts of every resource that is reserved anywhere, never more than the hard limits."""
    names = {name for queue in tree.queues.values() for name in queue.guaranteed}
    return {name: ReservedAmounts(tree, name) for name in sorted(names)}


def column(amounts: Sequence[int]) -> Numbers:
    """Return amounts as an array, of 64-bit integers if sums of a few amounts fit in them."""
    return np.array(amounts, np.int64 if max(map(abs, amounts), default=0) <= SAFE else object)


def _replace_amounts(before: Numbers, amounts: Iterable[tuple[int, int]]) -> Numbers:
    found = list(amounts)
    large = any(abs(amount) > SAFE for _, amount in found)
    after = before.astype(object if large else before.dtype)
    for number, amount in found:
        after[number] = amount
    return after

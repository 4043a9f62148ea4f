"""Holds what leaves request and what queues deserve as rows of a frame, updated incrementally between decisions."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from engine.model.columns.node_columns import Numbers
from engine.model.columns.node_fields import SAFE
from engine.model.queue_tree import QueueTree
from engine.policies.deserved.shares.amounts_by_path import changed_paths, same_paths
from engine.policies.deserved.shares.tree_columns import Frame, frame_of

if TYPE_CHECKING:
    from engine.model.quantities import Amounts

Requests = Mapping[str, Mapping[str, int]]


class RequestedAmounts:
    """What the leaves of a tree request of some resources.

    Given an earlier instance, only leaves whose requests have changed are read.
    """

    def __init__(
        self, tree: QueueTree, requests: Requests, capacity: Mapping[str, int], before: "RequestedAmounts | None" = None
    ) -> None:
        self.requests = requests
        if before is None or not self._moved(tree, capacity, before):
            self._read(tree, capacity)

    def _read(self, tree: QueueTree, capacity: Mapping[str, int]) -> None:
        self.sum = sum(_positive([one.get(name, 0) for one in self.requests.values()]) for name in capacity)
        self.frame: Frame = frame_of(tree, tuple(capacity), _kind(tree, self.sum, capacity))
        self.rows = self._of(self.frame.paths)

    def _moved(self, tree: QueueTree, capacity: Mapping[str, int], before: "RequestedAmounts") -> bool:
        if not same_paths(before.requests, self.requests):
            return False
        self.frame, self.rows = before.frame, before.rows.copy()
        paths = [path for path in changed_paths(before.requests, self.requests) if path in self.frame.leaves]
        numbers = [self.frame.number[path] for path in paths]
        self.rows[numbers] = self._of(paths)
        self.sum = before.sum + _sum(self.rows[numbers]) - _sum(before.rows[numbers])
        return _kind(tree, self.sum, capacity) is self.frame.kind

    def _of(self, paths: Sequence[str]) -> Numbers:
        leaves = self.frame.leaves
        asked = [self.requests.get(path, {}) if path in leaves else {} for path in paths]
        rows: Numbers = np.maximum(self.frame.rows(asked, 0), 0)
        return rows


class DeservedByPath:
    """What all queues deserve, by path; zero amounts are left out.

    A queue that deserves the same as before has the same entry object.
    """

    def __init__(
        self, paths: Sequence[str], resources: tuple[str, ...], amounts: Numbers, before: "DeservedByPath | None" = None
    ) -> None:
        self.resources, self.amounts = resources, amounts
        self.shares: dict[str, Amounts] = {}
        """Path -> what the queue deserves."""
        rows = list(range(len(paths)))
        if before and before.resources == resources:
            self.shares = before.shares.copy()
            rows = np.flatnonzero((amounts != before.amounts).any(axis=1)).tolist()
        for row, line in zip(rows, amounts[rows].tolist(), strict=True):
            deserved = zip(resources, line, strict=True)
            self.shares[paths[row]] = {name: amount for name, amount in deserved if amount}


def _kind(tree: QueueTree, asked: int, capacity: Mapping[str, int]) -> type:
    """Return the number type of arrays: 64-bit integers if all sums fit in them, otherwise Python integers."""
    return np.int64 if asked + 2 * sum(capacity.values()) + _promised(tree) <= SAFE else object


def _positive(amounts: list[int]) -> int:
    return sum(amounts) if min(amounts, default=0) >= 0 else sum(amount for amount in amounts if amount > 0)


def _sum(rows: Numbers) -> int:
    return sum(map(sum, rows.tolist()))


@lru_cache(maxsize=16)
def _promised(tree: QueueTree) -> int:
    return sum(max(amount, 0) for queue in tree.queues.values() for amount in queue.guaranteed.values())

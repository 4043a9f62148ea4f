"""Represents a queue tree as arrays: one row per queue, level by level, with siblings adjacent and sorted by name."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import gcd

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.model.queue_tree import QueueTree

_UNCAPPED, _UNCAPPED_LONG = 2 * SAFE, 2**400


class Frame:
    """The properties of a queue tree, for some resources, that do not depend on requests."""

    def __init__(self, tree: QueueTree, resources: tuple[str, ...], kind: type) -> None:
        self.tree, self.resources, self.kind = tree, resources, kind
        self.paths = [tree.root]
        self.below: list[slice] = []
        """Row -> the rows of the queue's children."""
        above = [0]
        for row, path in enumerate(self.paths):  # the list grows during the loop
            children = sorted(tree.children[path])
            self.below.append(slice(len(self.paths), len(self.paths) + len(children)))
            self.paths += children
            above += [row] * len(children)
        self.above: Rows = np.array(above, np.intp)
        """Row -> the row of the queue's parent; the root is its own parent."""
        self.number = {path: row for row, path in enumerate(self.paths)}
        self.parents = [row for row, below in enumerate(self.below) if below.stop > below.start]
        """The rows of queues that have children, from the root down."""
        self.bottom: Flags = np.array([not tree.children[path] for path in self.paths])
        self.leaves = frozenset(tree.leaves)
        self.levels = self._levels()
        weights = _lowest([tree[path].weight for path in self.paths])
        self.weights: Numbers = np.array(weights, np.int64 if max(weights) <= SAFE else object)
        uncapped = _UNCAPPED if kind is np.int64 else _UNCAPPED_LONG
        self.caps = self.rows([tree[path].max for path in self.paths], uncapped)
        self.floors: Numbers = np.minimum(self.rows([tree[path].guaranteed for path in self.paths], 0), self.caps)

    def rows(self, amounts: Sequence[Mapping[str, int]], missing: int) -> Numbers:
        """Return amounts as rows of the divided resources, clipped to a value that is as good as no limit."""
        most = _UNCAPPED if self.kind is np.int64 else _UNCAPPED_LONG
        found: Numbers = np.empty((len(amounts), len(self.resources)), self.kind)
        for number, name in enumerate(self.resources):
            column = [one.get(name, missing) for one in amounts]
            found[:, number] = column if max(column, default=0) <= most else [min(amount, most) for amount in column]
        return found

    def _levels(self) -> list[slice]:
        """Return the rows of every level of the tree, from below the root down."""
        levels: list[slice] = []
        begin = 1
        while begin < len(self.paths):
            end = max(self.below[row].stop for row in range(levels[-1].start if levels else 0, begin))
            levels.append(slice(begin, end))
            begin = end
        return levels


@lru_cache(maxsize=16)
def frame_of(tree: QueueTree, resources: tuple[str, ...], kind: type) -> Frame:
    """Return the frame of a tree for some resources, which is cached."""
    return Frame(tree, resources, kind)


def _lowest(weights: list[int]) -> list[int]:
    common = gcd(*weights) or 1
    return [weight // common for weight in weights]

"""The queues of a tree by number, with what is known of them without looking at pods."""

import numpy as np
from numpy.typing import NDArray

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, QueueTree

Floats = NDArray[np.float64]


class QueueNumbers:
    """The queues of a tree, numbered in its order. The number after the last, ``nobody``, means no queue.

    It does not refer to the tree, which keeps it for all snapshots.
    """

    def __init__(self, tree: QueueTree) -> None:
        self.paths = tuple(tree.walk())
        self.number = {path: number for number, path in enumerate(self.paths)}
        self.nobody = len(self.paths)
        lineages = [[self.number[path] for path in reversed(tree.lineage(path))] for path in self.paths]
        self.depth = np.array([*map(len, lineages), 1], np.int64) - 1
        self.ancestors = np.full((int(self.depth.max()) + 1, self.nobody + 1), self.nobody, np.intp)
        """Depth -> queue -> its ancestor (or itself) at that depth, ``nobody`` if the queue is less deep."""
        for number, lineage in enumerate(lineages):
            self.ancestors[: len(lineage), number] = lineage
        self.above: Rows = np.where(
            self.depth > 0, self.ancestors[self.depth - 1, np.arange(self.nobody + 1)], self.nobody
        )
        """Queue -> its parent, ``nobody`` for the root."""
        queues = [tree[path] for path in self.paths]
        self.weights: Floats = np.array([*(max(queue.weight, 1) for queue in queues), 1], np.float64)
        """Queue -> its weight as a float, which may be rounded; at least 1."""
        self.promised = self._promised(tree)
        """Resource that any queue guarantees -> queue -> the guarantee, -1 if there is none."""
        off = [queue.preemption_policy is PreemptionPolicy.DISABLED for queue in queues]
        off[0] = False  # on the root it has no effect
        self.disabled: Flags = np.asarray(np.array([*off, False])[self.ancestors].any(axis=0), np.bool_)
        """Queue -> whether it, or a queue above it, disables preemption."""
        self.priorities_narrowed = any(
            queue.priority_offset or queue.priority_policy is PriorityPolicy.FENCE for queue in queues
        )
        """Whether any queue has priority settings."""

    def _promised(self, tree: QueueTree) -> dict[str, Numbers]:
        names = {resource for queue in tree.queues.values() for resource in queue.guaranteed}
        found = {}
        for resource in sorted(names):
            amounts = [tree[path].guaranteed.get(resource, -1) for path in self.paths]
            found[resource] = np.array([*amounts, -1], np.int64 if max(amounts) <= SAFE else object)
        return found

    def below(self, path: str) -> Flags:
        """Return for each queue whether it is the given queue or lies in its subtree."""
        number = self.number[path]
        return np.asarray(self.ancestors[self.depth[number]] == number, np.bool_)

    def distance(self, leaf: str) -> Numbers:
        """Return for each queue its distance from a leaf in steps through the tree."""
        own = self.number.get(leaf, 0)
        lineage = self.ancestors[: self.depth[own] + 1]
        shared = (lineage == lineage[:, [own]]).sum(axis=0)
        shared[self.nobody] = 1
        steps: Numbers = self.depth[own] + self.depth - 2 * (shared - 1)
        return steps


def queue_numbers_of(tree: QueueTree) -> QueueNumbers:
    """Return the queue numbers of a tree. They are built once, and all snapshots under the tree share them."""
    return tree.once(QueueNumbers, lambda: QueueNumbers(tree))

"""What is left of the guarantees that count for every leaf, all leaves at once."""

from collections.abc import Iterable

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.policies.yunikorn.pod_table import UNLIMITED, PodTable
from engine.policies.yunikorn.queue_balances import QueueBalances


class GuaranteeLevel:
    """By leaf one of the queues whose guarantees count for it: the nearest, the next one and so on."""

    def __init__(self, queue: Rows, depth: Rows, left: Numbers) -> None:
        self.queue, self.depth, self.left = queue, depth, left
        """Leaf -> its number, -1 where there is none; how deep it lies; of each resource what is left."""


class RemainingGuarantees:
    """For one asker. Leaves by the table's numbers; the last one, pods of no leaf, has none that counts."""

    def __init__(self, table: PodTable, books: QueueBalances, asker: str) -> None:
        self.table, self.names = table, table.guaranteed
        cuts = books.cuts(asker)
        counting = [table.counting[leaf] if not cuts else tuple(books.counting(leaf, asker)) for leaf in table.leaves]
        self.unlimited: Flags = np.array([not one for one in counting] + [True], np.bool_)
        """Leaf -> whether no guarantee counts for it."""
        left = self._left(books)
        self.lines = [
            GuaranteeLevel(queue, table.depth[queue], np.where((queue >= 0)[:, None], left[queue], UNLIMITED))
            for queue in (table.base_lines if not cuts else table.lines_of(counting))
        ]

    def _left(self, books: QueueBalances) -> Numbers:
        """Queue -> of each resource that is guaranteed anywhere, what is left."""
        left: Numbers = self.table.left.copy()
        for path in books.changed:
            guaranteed = books.tree[path].guaranteed
            for column, name in enumerate(self.names):
                if name in guaranteed:
                    left[self.table.queue[path], column] = guaranteed[name] - books.used(path, name)
        return left

    @property
    def within(self) -> Flags:
        """Leaf -> whether some guarantee counts for it, and in no resource more is used."""
        within = ~self.unlimited
        for line in self.lines:
            within &= (line.left >= 0).all(axis=1)
        return np.asarray(within, np.bool_)

    def columns(self, names: Iterable[str]) -> list[tuple[int, int]]:
        """Where the resources that are guaranteed anywhere stand: among ``names``, and here."""
        return [(place, self.names.index(name)) for place, name in enumerate(names) if name in self.names]

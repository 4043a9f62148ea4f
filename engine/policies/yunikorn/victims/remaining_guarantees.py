"""What is left of the guarantees that count for each leaf, computed for all leaves at once.

Source: QueuePreemptionSnapshot.GetRemainingGuaranteedResource of yunikorn-core.
"""

from collections.abc import Iterable

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.policies.yunikorn.pod_table import UNLIMITED, PodTable
from engine.policies.yunikorn.queue_balances import QueueBalances


class GuaranteeLevel:
    """For each leaf, one queue whose guarantees count for it: on the first level the nearest, then the next nearest."""

    def __init__(self, queue: Rows, depth: Rows, left: Numbers) -> None:
        self.queue, self.depth, self.left = queue, depth, left
        """For each leaf: the queue's number (-1 if there is none), its depth, and what is left of each resource."""


class RemainingGuarantees:
    """The remaining guarantees of all leaves, as they count for one preemptor (``preemptor_leaf``).

    Leaves have the numbers of the pod table. No guarantee counts for the last number, pods of no leaf.
    """

    def __init__(self, table: PodTable, balances: QueueBalances, preemptor_leaf: str) -> None:
        self.table, self.names = table, table.guaranteed
        cuts = balances.cuts(preemptor_leaf)
        self.unlimited: Flags = table.unlimited
        """Leaf -> whether no guarantee counts for it."""
        counted = table.base_levels
        if cuts:
            counting = [tuple(balances.counting(leaf, preemptor_leaf)) for leaf in table.leaves]
            self.unlimited = np.array([*(not paths for paths in counting), True], np.bool_)
            counted = table.levels_of(counting)
        left = self._left(balances)
        self.levels = [
            GuaranteeLevel(queue, table.depth[queue], np.where((queue >= 0)[:, None], left[queue], UNLIMITED))
            for queue in counted
        ]

    def _left(self, balances: QueueBalances) -> Numbers:
        """Return for each queue (by number) and guaranteed resource what is left of the guarantee."""
        left: Numbers = self.table.left.copy()
        for path in balances.changed:
            guaranteed = balances.tree[path].guaranteed
            for column, name in enumerate(self.names):
                if name in guaranteed:
                    left[self.table.queue[path], column] = guaranteed[name] - balances.used(path, name)
        return left

    @property
    def within(self) -> Flags:
        """Return for each leaf whether a guarantee counts for it and usage exceeds it in no resource."""
        within = ~self.unlimited
        for level in self.levels:
            within &= (level.left >= 0).all(axis=1)
        return np.asarray(within, np.bool_)

    def columns(self, names: Iterable[str]) -> list[tuple[int, int]]:
        """Return for each guaranteed resource in ``names`` its index in ``names`` and its index in the columns here."""
        return [(place, self.names.index(name)) for place, name in enumerate(names) if name in self.names]

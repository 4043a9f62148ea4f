"""What is used of the quota, and what is still to be had. Source: Kueue's pkg/cache/scheduler, resource_node.go."""

from collections.abc import Iterable

from engine.model import quota
from engine.model.quota import FlavorResource, Quantities, QuotaTree


class Usage(quota.QuotaUsage):
    """Of every node of a tree, in dictionaries by node. A cohort's is what its members use beyond what they keep."""

    def __init__(self, tree: QuotaTree) -> None:
        super().__init__(tree)
        self._by_node: list[dict[FlavorResource, int]] = [{} for _ in tree.names]

    def add(self, node: int, amounts: Quantities, sign: int = 1) -> None:
        """Let a queue use so much more, or with ``sign`` -1 so much less."""
        for of, amount in amounts.items():
            self._add(node, of, sign * amount)

    def _add(self, node: int, of: FlavorResource, amount: int) -> None:
        at: int | None = node
        while at is not None and amount:
            kept, before = self.tree.local[at].get(of, 0), self._by_node[at].get(of, 0)
            self._by_node[at][of] = before + amount
            amount = max(0, before + amount - kept) - max(0, before - kept)
            at = self.tree.parents[at]

    def used(self, node: int, of: FlavorResource) -> int:
        """How much."""
        return self._by_node[node].get(of, 0)

    def local_available(self, node: int, of: FlavorResource) -> int:
        """What is free of the part that it keeps to itself."""
        return max(0, self.tree.local[node].get(of, 0) - self.used(node, of))

    def available(self, queue: int, of: FlavorResource) -> int:
        """What a queue could use more right now, never below 0."""
        return max(0, self._available(queue, of))

    def _available(self, node: int, of: FlavorResource) -> int:
        tree, used = self.tree, self.used(node, of)
        own, kept, parent = tree.subtree[node].get(of, 0), tree.local[node].get(of, 0), tree.parents[node]
        if parent is None:
            return own - used
        lent = self._available(parent, of)
        limit = tree.quota(node, of).borrowing
        if limit is not None:
            lent = min(lent, own - kept - max(0, used - kept) + limit)
        return max(0, kept - used) + lent

    def borrows(self, node: int, of: FlavorResource, more: int = 0) -> bool:
        """Whether it uses more than its subtree has, with so much more."""
        return self.used(node, of) + more > self.tree.subtree[node].get(of, 0)

    def within_nominal(self, node: int, contested: Iterable[FlavorResource]) -> bool:
        """Whether it borrows none of these."""
        return not any(self.borrows(node, of) for of in contested)

"""The usage of quota, and what is still available. Source: Kueue's pkg/cache/scheduler, resource_node.go."""

from collections.abc import Iterable

from engine.model.objects import FlavorResource, Quantities
from engine.model.quota.quota_tree import QuotaTree


class _UsageColumns(dict[FlavorResource, list[int]]):
    """Columns that are created on first use, with a usage of 0."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self.nodes = nodes

    def __missing__(self, of: FlavorResource) -> list[int]:
        found = self[of] = [0] * self.nodes
        return found


class QuotaUsage:
    """The usage of every node of a tree. A cohort's is what its members use beyond what they keep to themselves."""

    def __init__(self, tree: QuotaTree) -> None:
        self.tree = tree
        self.columns = _UsageColumns(len(tree.names))
        """Flavor and resource -> the usage by node number."""

    def copy(self) -> "QuotaUsage":
        """Return a copy that can be changed independently."""
        other = QuotaUsage(self.tree)
        other.columns.update((of, used.copy()) for of, used in list(self.columns.items()))
        return other

    def add(self, node: int, amounts: Quantities, sign: int = 1) -> None:
        """Add amounts to a queue's usage, or subtract them with ``sign`` -1; the cohorts above follow."""
        parents, columns = self.tree.parents, self.tree.columns
        for of, amount in amounts.items():
            used, kept = self.columns[of], columns[of].kept
            more, at = sign * amount, node
            while more:
                before, local = used[at], kept[at]
                used[at] = after = before + more
                parent = parents[at]
                if parent is None:
                    break
                more = (after - local if after > local else 0) - (before - local if before > local else 0)
                at = parent

    def used(self, node: int, of: FlavorResource) -> int:
        """Return how much a node uses."""
        return self.columns[of][node]

    def local_available(self, node: int, of: FlavorResource) -> int:
        """Return what is free of the part that a node keeps to itself."""
        return max(0, self.tree.columns[of].kept[node] - self.used(node, of))

    def available(self, queue: int, of: FlavorResource) -> int:
        """Return how much more a queue could use now, never below 0."""
        return max(0, self.room(queue, of))

    def room(self, node: int, of: FlavorResource) -> int:
        """Return how much more a node could use now, below 0 if more is used than there is."""
        (own, kept, limits), used = self.tree.columns[of], self.columns[of]
        *below, root = self.tree.paths[node]
        room = own[root] - used[root]
        for at in reversed(below):
            free, limit = kept[at] - used[at], limits[at]
            if limit is not None:
                room = min(room, own[at] - kept[at] + min(0, free) + limit)
            room += max(0, free)
        return room

    def borrows(self, node: int, of: FlavorResource, more: int = 0) -> bool:
        """Return whether a node would use more than its subtree has, if it used ``more`` in addition."""
        return self.used(node, of) + more > self.tree.columns[of].own[node]

    def within_nominal(self, node: int, contested: Iterable[FlavorResource]) -> bool:
        """Return whether a node borrows none of the contested resources."""
        columns = self.tree.columns
        for of in contested:  # noqa: SIM110 - as a loop it takes half as long, and it runs for every workload
            if self.columns[of][node] > columns[of].own[node]:
                return False
        return True

    def lowest_that_holds(self, queue: int, of: FlavorResource, amount: int) -> tuple[int, bool]:
        """Return the height of the lowest subtree around a queue that has room for an amount.

        Also return whether that subtree is below another cohort. A height of 0 means the queue's own nominal quota. If
        no subtree has enough room, it is the height of the whole tree. Source: pkg/cache/scheduler,
        FindHeightOfLowestSubtreeThatFits.
        """
        tree = self.tree
        if tree.parents[queue] is None or not self.borrows(queue, of, amount):
            return 0, tree.parents[queue] is not None
        left = amount - self.local_available(queue, of)
        for node in tree.above(queue):
            if not self.borrows(node, of, left):
                return tree.heights[node], tree.parents[node] is not None
            left -= self.local_available(node, of)
        return tree.heights[tree.root(queue)], False

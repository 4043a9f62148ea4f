"""What is used of the quota, and what is still to be had. Source: Kueue's pkg/cache/scheduler, resource_node.go."""

from collections.abc import Iterable

from engine.model.objects import FlavorResource, Quantities
from engine.model.quota.quota_tree import QuotaTree


class _Columns(dict[FlavorResource, list[int]]):
    """Made when they are asked for: of what nobody used so far, nothing is used."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self.nodes = nodes

    def __missing__(self, of: FlavorResource) -> list[int]:
        found = self[of] = [0] * self.nodes
        return found


class QuotaUsage:
    """Of every node of a tree. A cohort's is what its members use beyond what they keep to themselves."""

    def __init__(self, tree: QuotaTree) -> None:
        self.tree = tree
        self.columns = _Columns(len(tree.names))
        """What every node uses, by its number."""

    def copy(self) -> "QuotaUsage":
        """The same, to be changed apart."""
        other = QuotaUsage(self.tree)
        other.columns.update((of, used.copy()) for of, used in list(self.columns.items()))
        return other

    def add(self, node: int, amounts: Quantities, sign: int = 1) -> None:
        """Let a queue use so much more, or with ``sign`` -1 so much less."""
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
        """How much."""
        return self.columns[of][node]

    def local_available(self, node: int, of: FlavorResource) -> int:
        """What is free of the part that it keeps to itself."""
        return max(0, self.tree.columns[of].kept[node] - self.used(node, of))

    def available(self, queue: int, of: FlavorResource) -> int:
        """What a queue could use more right now, never below 0."""
        return max(0, self.room(queue, of))

    def room(self, node: int, of: FlavorResource) -> int:
        """The same, below 0 where more is used than there is."""
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
        """Whether it uses more than its subtree has, with so much more."""
        return self.used(node, of) + more > self.tree.columns[of].own[node]

    def within_nominal(self, node: int, contested: Iterable[FlavorResource]) -> bool:
        """Whether it borrows none of these."""
        columns = self.tree.columns
        for of in contested:  # noqa: SIM110 - as a loop it takes half as long, and it is asked for every workload
            if self.columns[of][node] > columns[of].own[node]:
                return False
        return True

    def lowest_that_holds(self, queue: int, of: FlavorResource, amount: int) -> tuple[int, bool]:
        """The height of the lowest subtree around a queue with room for so much more, and whether others are above it.

        0 is the queue's own nominal quota. Where no subtree has room, the height of the whole tree.
        Source: pkg/cache/scheduler, FindHeightOfLowestSubtreeThatFits.
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

"""What is used of the quota, and what is still to be had. Source: Kueue's pkg/cache/scheduler, resource_node.go."""

from collections.abc import Iterable

from engine.quota.tree import QuotaTree
from engine.snapshot import FlavorResource, Quantities


class Usage:
    """Of every node of a tree. A cohort's is what its members use beyond what they keep to themselves."""

    def __init__(self, tree: QuotaTree) -> None:
        self.tree = tree
        self._used: dict[FlavorResource, list[int]] = {}

    def copy(self) -> "Usage":
        """The same, to be changed apart."""
        other = Usage(self.tree)
        other._used = {of: used.copy() for of, used in self._used.items()}
        return other

    def of_all(self, of: FlavorResource) -> list[int]:
        """What every node uses, by its number, now and as that changes."""
        found = self._used.get(of)
        if found is None:
            found = self._used[of] = [0] * len(self.tree.names)
        return found

    def add(self, node: int, amounts: Quantities, sign: int = 1) -> None:
        """Let a queue use so much more, or with ``sign`` -1 so much less."""
        parents, columns = self.tree.parents, self.tree.columns
        for of, amount in amounts.items():
            used, kept = self.of_all(of), columns[of].kept
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
        used = self._used.get(of)
        return 0 if used is None else used[node]

    def local_available(self, node: int, of: FlavorResource) -> int:
        """What is free of the part that it keeps to itself."""
        return max(0, self.tree.columns[of].kept[node] - self.used(node, of))

    def available(self, queue: int, of: FlavorResource) -> int:
        """What a queue could use more right now, never below 0."""
        return max(0, self.room(queue, of))

    def room(self, node: int, of: FlavorResource) -> int:
        """The same, below 0 where more is used than there is."""
        (own, kept, limits), used = self.tree.columns[of], self.of_all(of)
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
        return not any(self.borrows(node, of) for of in contested)

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

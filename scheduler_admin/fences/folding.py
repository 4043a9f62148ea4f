"""Which queues of a tree are drawn one by one, and which are folded into a box of their parent."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.model.queue_tree import QueueTree

MOST_BOXES = 36
"""So many are drawn without being asked for."""
MOST_CHILDREN = 30
"""So many of one queue's children are; the others are one box together."""


@dataclass(frozen=True)
class Drawn:
    """A queue as it is drawn: with the queues in it, or as one box that stands for its ``leaves``.

    ``rest``: it is no queue, but stands for those children of ``path`` that are left out.
    """

    path: str
    leaves: tuple[str, ...]
    children: tuple["Drawn", ...] = ()
    folded: bool = False
    rest: bool = False

    def boxes(self) -> Iterator["Drawn"]:
        """Itself where it is one box, else all boxes in it."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.boxes()


def drawn(
    tree: QueueTree, seen: Collection[str], wanted: Collection[str], folded: Collection[str] = (), top: str = ""
) -> list[Drawn]:
    """The tops of what a reader may see of a tree, or ``top`` alone.

    ``wanted`` queues are drawn open with all that is in them, and so is all above them; others, parents first, as long
    as the map stays readable, but for those that are to be ``folded``.
    """
    tops = [top] if top else [path for path in tree.walk() if path in seen and tree.parents[path] not in seen]
    kept = {above for path in wanted for above in tree.lineage(path)}
    opened = _opened(tree, seen, tops, kept, set(folded) - kept)
    leaves = _Leaves.seen_of(tree, seen)
    return [_drawn(tree, seen, path, opened, frozenset(wanted), kept, leaves) for path in tops]


def _opened(tree: QueueTree, seen: Collection[str], tops: list[str], kept: set[str], folded: set[str]) -> set[str]:
    """The parents to draw open: those that are asked for, and level by level all others while there is room."""

    def inside(path: str) -> list[str]:
        return [child for child in tree.children[path] if child in seen]

    def more(paths: Collection[str]) -> int:
        return sum(min(len(inside(path)), MOST_CHILDREN + 1) - 1 for path in paths)

    opened: set[str] = set()
    boxes, level = len(tops), list(tops)
    while level:
        parents = [path for path in level if inside(path) and path not in folded]
        asked = [path for path in parents if path in kept]
        chosen = parents if boxes + more(parents) <= MOST_BOXES else asked
        opened.update(chosen)
        boxes += more(chosen)
        level = [child for path in chosen for child in inside(path)]
    return opened


class _Leaves(NamedTuple):
    """The leaves that a reader sees, in the order of the tree, each with its position in it."""

    leaves: tuple[str, ...]
    positions: Sequence[int]

    @classmethod
    def seen_of(cls, tree: QueueTree, seen: Collection[str]) -> "_Leaves":
        leaves = tuple([leaf for leaf in tree.leaves if leaf in seen])
        return cls(leaves, [tree.turn[leaf] for leaf in leaves])

    def below(self, tree: QueueTree, path: str) -> tuple[str, ...]:
        """Those in a subtree."""
        first, end = tree.span(path)
        return self.leaves[bisect_left(self.positions, first) : bisect_left(self.positions, end)]


def _drawn(
    tree: QueueTree,
    seen: Collection[str],
    path: str,
    opened: set[str],
    wanted: frozenset[str],
    kept: set[str],
    every: _Leaves,
) -> Drawn:
    leaves = every.below(tree, path)
    children = [child for child in tree.children[path] if child in seen]
    if not children or path not in opened:
        return Drawn(path, leaves, folded=bool(children))
    shown = children
    if len(children) > MOST_CHILDREN + 1 and path not in wanted:
        room = MOST_CHILDREN - sum(child in kept for child in children)
        others = [child for child in children if child not in kept][: max(0, room)]
        shown = [child for child in children if child in kept or child in others]
    inside = [_drawn(tree, seen, child, opened, wanted, kept, every) for child in shown]
    if len(shown) < len(children):
        rest = [child for child in children if child not in shown]
        left = tuple(leaf for child in rest for leaf in every.below(tree, child))
        inside.append(Drawn(path, left, rest=True))
    return Drawn(path, leaves, tuple(inside))

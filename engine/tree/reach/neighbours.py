"""The borders between one queue and every other leaf, of trees of tens of thousands of leaves."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from engine.model.queue_tree import QueueTree
from engine.tree.reach.borders import Border, BorderReason, Reach


class Neighbour(msgspec.Struct, frozen=True, gc=False):
    """Another leaf, and the borders to it and back."""

    path: str
    out: Border
    into: Border


def neighbours(tree: QueueTree, path: str, rules: Reach) -> tuple[Neighbour, ...]:
    """Return all leaves but the queue itself; for a parent, what any leaf below it may do to leaves that are not.

    Of the borders of a parent's leaves, the first open one counts, otherwise one whose reason is the most frequent.
    """
    inside = {leaf for leaf in tree.walk(path) if tree.is_leaf(leaf)}
    if not inside:
        return ()
    every = tree.once(("leaves that are alike", rules), lambda: _alike(tree, rules))
    own = [alike for group in every if (alike := [leaf for leaf in group if leaf in inside])]
    found = dict[str, Neighbour]()
    for group in every:
        others = [leaf for leaf in group if leaf not in inside]
        if not others:
            continue
        other = others[0]
        out = _foremost((rules.border(tree, one[0], other), one) for one in own)
        into = _foremost((rules.border(tree, other, one[0]), one) for one in own)
        for leaf in others:
            found[leaf] = Neighbour(leaf, _renamed(out, other, leaf), _renamed(into, other, leaf))
    return tuple(found[leaf] for leaf in tree.leaves if leaf in found)


def _alike(tree: QueueTree, rules: Reach) -> list[list[str]]:
    """Return groups of leaves with the same borders but for their own names, each group in the order of the tree."""
    groups: dict[object, list[str]] = {}
    for leaf in tree.leaves:
        groups.setdefault((tree.parents[leaf], rules.kind(tree, leaf)), []).append(leaf)
    return list(groups.values())


def _foremost(borders: Iterable[tuple[Border, Sequence[str]]]) -> Border:
    """Return the first open border, otherwise one whose reason is the most frequent.

    ``borders``: for each group of leaves that are alike, the border of its first leaf, and the group. If a border is
    shut by that leaf itself, those of the others are shut by each of them.
    """
    shut: dict[tuple[BorderReason, str], Border] = {}
    times = Counter[tuple[BorderReason, str]]()
    for border, alike in borders:
        if border.allowed:
            return border
        reason = border.reason, border.queue
        times[reason] += 1 if border.queue == alike[0] else len(alike)
        shut.setdefault(reason, border)
    return shut[max(times, key=times.__getitem__)]


def _renamed(border: Border, name: str, new: str) -> Border:
    """Return a border of another leaf, of which the same is true."""
    if new == name:
        return border
    return Border(
        preemptor=new if border.preemptor == name else border.preemptor,
        victim=new if border.victim == name else border.victim,
        reason=border.reason,
        queue=new if border.queue == name else border.queue,
    )

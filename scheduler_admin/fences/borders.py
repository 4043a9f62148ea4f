"""The borders of a tree that pages ask for again and again."""

from functools import lru_cache

from engine.model.queue_tree import QueueTree
from engine.tree.reach import Border, Reach

_MOST = 100_000
"""Borders of a tree; one takes some 200 bytes."""


class Borders:
    """Borders between leaves, each worked out once.

    What happened changes every minute, but in a large cluster by few of some tens of thousands of pairs.
    """

    def __init__(self, tree: QueueTree, rules: Reach) -> None:
        self._tree, self._rules = tree, rules
        self._known = dict[tuple[str, str], Border]()

    def between(self, asker: str, victim: str) -> Border:
        """Return the border from an asker to a victim."""
        found = self._known.get((asker, victim))
        if found is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[asker, victim] = self._rules.border(self._tree, asker, victim)
        return found


@lru_cache(maxsize=2)
def borders_of(tree: QueueTree, rules: Reach) -> Borders:
    """Return the borders of a tree: the same ones while few trees are looked at."""
    return Borders(tree, rules)

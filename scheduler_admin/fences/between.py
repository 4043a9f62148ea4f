"""What really went between the leaves that a reader may see; kept while nothing else happens."""

from collections import Counter
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from engine.model.queue_tree import QueueTree
from engine.tree.reach import CLAIMS, Reach
from scheduler_admin.counts.selectors.pairs import Happened, Pair
from scheduler_admin.fences.borders import borders_of

_Made = TypeVar("_Made")
_MOST_KEPT = 16


class Between:
    """Of so many pairs as a large cluster has in a week nothing is worked out twice."""

    def __init__(self, happened: Happened, tree: QueueTree, rules: Reach, seen: frozenset[str]) -> None:
        self._pairs, self._tree, self._borders = happened.pairs, tree, borders_of(tree, rules)
        self._leaves = seen.intersection(tree.leaves)
        self._kept = dict[Hashable, Any]()

    def once(self, what: Hashable, make: Callable[[], _Made]) -> _Made:
        """What ``make`` makes of it, made once."""
        return _once(self._kept, what, make)

    @cached_property
    def pods(self) -> Counter[tuple[str, str]]:
        """(asker, victim) -> pods that went; both are leaves that the reader may see."""
        found: Counter[tuple[str, str]] = Counter()
        leaves = self._leaves
        for pair in self._pairs:
            if pair.asker in leaves and pair.victim in leaves:
                found[pair.asker, pair.victim] += pair.pods
        return found

    @cached_property
    def total(self) -> int:
        """All pods that went, be they in the map or not."""
        return sum(pair.pods for pair in self._pairs)

    @cached_property
    def with_others(self) -> int:
        """Pods that went for asks, or out of, leaves that the reader may not see."""
        others = set(self._tree.leaves).difference(self._leaves)
        return sum(pair.pods for pair in self._pairs if pair.asker in others or pair.victim in others)

    @cached_property
    def elsewhere(self) -> int:
        """Pods that went where asker or pod ran in no leaf of today's tree."""
        return self.total - self.pods.total() - self.with_others

    @cached_property
    def odd(self) -> list[Pair]:
        """What went through borders that are shut to it, the most pods first."""
        return [pair for pair in self._pairs if (pair.asker, pair.victim) in self.pods and self._is_shut(pair)]

    @cached_property
    def odd_ones(self) -> frozenset[tuple[str, str]]:
        """The same as asker and victim."""
        return frozenset((pair.asker, pair.victim) for pair in self.odd)

    def _is_shut(self, pair: Pair) -> bool:
        found = self._borders.between(pair.asker, pair.victim)
        return not found.allowed and (pair.ordinary or found.reason not in CLAIMS)


_KEPT = WeakKeyDictionary[Happened, dict[Hashable, Between]]()


def between(happened: Happened, tree: QueueTree, rules: Reach, seen: frozenset[str]) -> Between:
    """The same one for as long as what happened is kept, too."""
    of_readers = _KEPT.setdefault(happened, {})
    return _once(of_readers, (tree, rules, seen), lambda: Between(happened, tree, rules, seen))


def _once(kept: dict[Hashable, Any], what: Hashable, make: Callable[[], _Made]) -> _Made:
    found: _Made | None = kept.get(what)
    if found is None:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        found = kept[what] = make()
    return found

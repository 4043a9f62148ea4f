"""What really went between the leaves that a reader may see: the sum of what some counts say, each worked out once."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from heapq import nsmallest
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from engine.model.queue_tree import QueueTree
from engine.tree.reach import CLAIMS, Reach
from scheduler_admin.counts.selectors.pairs import Pair, PairCount
from scheduler_admin.fences.borders import Borders, borders_of

_Made = TypeVar("_Made")
_MOST_KEPT = 16


class Flow:
    """One count, as far as it is about leaves that a reader may see.

    In a large cluster, a count of what is over has some tens of thousands of pairs, and stays for an hour or more.
    """

    def __init__(self, counted: Counter[Pair], tree: QueueTree, rules: Reach, seen: frozenset[str]) -> None:
        self.total = counted.total()
        """All pods that went, be they in the map or not."""
        self.inside = 0
        """Pods that went where both are leaves that the reader may see."""
        self.with_others = 0
        """Pods that went for asks, or out of, leaves that the reader may not see."""
        self.victims = defaultdict[str, Counter[str]](Counter)
        """Asker -> victim -> pods of those inside."""
        self.odd = Counter[Pair]()
        """Those inside that went through borders that are shut to it."""
        leaves, borders = seen.intersection(tree.leaves), borders_of(tree, rules)
        others = set(tree.leaves).difference(leaves)
        for pair, pods in counted.items():
            if pair.asker in leaves and pair.victim in leaves:
                self.inside += pods
                self.victims[pair.asker][pair.victim] += pods
                if _is_shut(borders, pair):
                    self.odd[pair] = pods
            elif pair.asker in others or pair.victim in others:
                self.with_others += pods
        self.odd_ones = frozenset((pair.asker, pair.victim) for pair in self.odd)
        """The same as asker and victim."""
        self._kept = dict[Hashable, Any]()

    def once(self, what: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return what ``make`` makes of it, made once."""
        return _once(self._kept, what, make)


class Between:
    """The sum of what several counts say."""

    def __init__(self, flows: Sequence[Flow]) -> None:
        self.flows = flows
        self.total = sum(flow.total for flow in flows)
        self.inside = sum(flow.inside for flow in flows)
        self.with_others = sum(flow.with_others for flow in flows)

    @property
    def elsewhere(self) -> int:
        """Return how many pods went where asker or pod ran in no leaf of today's tree."""
        return self.total - self.inside - self.with_others

    def pods(self, asker: str, victim: str) -> int:
        """Return how many pods of one leaf went for asks of another."""
        return sum(flow.victims[asker][victim] for flow in self.flows if asker in flow.victims)

    def is_odd(self, asker: str, victim: str) -> bool:
        """Return whether pods of a leaf went for asks of another through a border that is shut to those."""
        return any((asker, victim) in flow.odd_ones for flow in self.flows)

    def odd(self, most: int, wanted: Callable[[Pair], bool]) -> list[tuple[Pair, int]]:
        """Return the wanted pairs whose pods went through a border that is shut to it, the most pods first."""
        together = Counter[Pair]()
        for flow in self.flows:
            together.update(flow.odd)
        return nsmallest(most, (one for one in together.items() if wanted(one[0])), key=lambda one: (-one[1], one[0]))


def _is_shut(borders: Borders, pair: Pair) -> bool:
    found = borders.between(pair.asker, pair.victim)
    return not found.allowed and (pair.ordinary or found.reason not in CLAIMS)


_KEPT = WeakKeyDictionary[PairCount, dict[Hashable, Flow]]()
_LOCK = Lock()


def between(happened: Sequence[PairCount], tree: QueueTree, rules: Reach, seen: frozenset[str]) -> Between:
    """Return what happened as a reader may see it. Each count is looked through once, while it is kept."""
    return Between([_flow(counted, tree, rules, seen) for counted in happened])


def _flow(counted: PairCount, tree: QueueTree, rules: Reach, seen: frozenset[str]) -> Flow:
    with _LOCK:  # who needs the same waits for it
        of_readers = _KEPT.setdefault(counted, {})
        return _once(of_readers, (tree, rules, seen), lambda: Flow(counted.pods, tree, rules, seen))


def _once(kept: dict[Hashable, Any], what: Hashable, make: Callable[[], _Made]) -> _Made:
    found: _Made | None = kept.get(what)
    if found is None:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        found = kept[what] = make()
    return found

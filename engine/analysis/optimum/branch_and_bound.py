"""Search the sets of candidates on each node with branch and bound; the result is exact if the search completes."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile

import msgspec

from engine.feasibility.checks import RuleCheck
from engine.policies.common.weighing import Cost, NeededAmount, Weighing

MOST_CANDIDATES = 30
"""Maximum number of candidates on a node; a node with more is left out."""
_MOST_STEPS = 200_000
"""Maximum number of search steps on all nodes together; then the current node and the remaining ones are left out."""
_A_NODE = 100
"""Number of steps that starting with a node counts as."""

DEAREST: Cost = (2**62,)


class _Candidate(msgspec.Struct, frozen=True, gc=False):
    uid: str
    row: int
    cost: Cost
    """The cost of the pod alone."""
    gives: tuple[int, ...]
    """How much the pod contributes to each needed amount."""
    takes: tuple[int, ...]
    """How much the pod uses of each amount that may be evicted."""
    kind: tuple[object, ...]
    """Two candidates of the same kind differ only in the tie-breaking parts of their cost."""


class OptimumSearch:
    """A search over all nodes on which evictions might help, with the least costly set found so far."""

    def __init__(self, weighing: Weighing, least: Cost) -> None:
        self.weighing, self.least = weighing, least
        self.rows: tuple[int, ...] = ()
        self.steps = 0
        self.left_out: list[int] = []

    def everywhere(self) -> None:
        """Search every node that can have a less costly set."""
        first, others = self.weighing.places()
        self._on(first)
        if len(others):
            bound = self.weighing.bound()
            ranked = sorted((bound(place), place) for place in others)
            self._on(place for _, place in takewhile(lambda item: item[0] < self.least, ranked))
        self.left_out.sort()

    def _on(self, places: Iterable[int]) -> None:
        for place in places:
            if not self._in_time(place):
                self.left_out.append(place)

    def _in_time(self, place: int) -> bool:
        """Search a node, and return whether the search completed."""
        self.steps += _A_NODE
        rows = self.weighing.candidates(place) if self.steps <= _MOST_STEPS else ()
        return 0 < len(rows) <= MOST_CANDIDATES and _Node(self, place, rows).search()


class _Node:
    """A search on one node that first keeps, then evicts, each candidate, and abandons branches that cannot win."""

    def __init__(self, search: OptimumSearch, place: int, rows: Sequence[int]) -> None:
        self.optimum, self.weighing, feasibility = search, search.weighing, search.weighing.feasibility
        self.spot, self.leaving = feasibility.on(place), tuple(self.weighing.leaving(place))
        self.refused = any(isinstance(check, RuleCheck) and check.refused[place] for check in feasibility.checks)
        needs, spares = self.weighing.needs(place, rows), self.weighing.spares(rows)
        self.needs, self.spares = (tuple(line.amount for line in lines) for lines in (needs, spares))
        ordered = [self._candidate(number, row, needs, spares) for number, row in enumerate(rows)]
        ordered.sort(key=self._sort_key)
        self.candidates = tuple(ordered)
        self.remaining = [_RemainingBounds(ordered[first:], self.weighing) for first in range(len(ordered) + 1)]

    def _candidate(
        self, number: int, row: int, needs: Sequence[NeededAmount], spares: Sequence[NeededAmount]
    ) -> _Candidate:
        limits, cost = self.weighing.feasibility.limits, self.weighing.alone(row)
        gives, takes = (tuple(int(line.weights[number]) for line in lines) for lines in (needs, spares))
        every = tuple((int(limit.weight[row]), int(limit.unless_weight[row])) for limit in limits)
        kind = (cost[: -self.weighing.ties], every, gives, takes)
        return _Candidate(self.weighing.columns.pods[row].uid, row, cost, gives, takes, kind)

    def _sort_key(self, candidate: _Candidate) -> tuple[object, ...]:
        """Return a sort key: the most costly candidates first, and within a kind the least costly first."""
        ties = self.weighing.ties
        return tuple(-part for part in candidate.cost[:-ties]), candidate.kind, candidate.cost[-ties:]

    def search(self) -> bool:
        """Search the node, and return whether the search completed."""
        return self.refused or self._from(0, (), self.weighing.nothing, self.needs, self.spares)

    def _from(
        self, place: int, evicted: tuple[_Candidate, ...], cost: Cost, needs: tuple[int, ...], spares: tuple[int, ...]
    ) -> bool:
        optimum = self.optimum
        optimum.steps += 1
        if optimum.steps > _MOST_STEPS:
            return False
        if self.remaining[place].bound(cost, needs) >= optimum.least:
            return True
        if evicted and max(needs, default=0) <= 0 and self._fits(evicted):
            optimum.least, optimum.rows = cost, tuple(sorted(candidate.row for candidate in evicted))
            return True
        if place == len(self.candidates):
            return True
        candidate = self.candidates[place]
        same_kind = place > 0 and self.candidates[place - 1].kind == candidate.kind
        if not self._from(place + 1, evicted, cost, needs, spares):
            return False
        if same_kind and (not evicted or evicted[-1] is not self.candidates[place - 1]):
            return True  # prefer to evict the previous candidate, which costs no more
        if any(0 < used > spare for used, spare in zip(candidate.takes, spares, strict=True)):
            return True
        needs = tuple(need - gained for need, gained in zip(needs, candidate.gives, strict=True))
        spares = tuple(spare - used for spare, used in zip(spares, candidate.takes, strict=True))
        return self._from(place + 1, (*evicted, candidate), self.weighing.together(cost, candidate.cost), needs, spares)

    def _fits(self, evicted: Iterable[_Candidate]) -> bool:
        return self.spot.refusal([*self.leaving, *(candidate.uid for candidate in evicted)]) is None


class _RemainingBounds:
    """The most that the candidates not yet considered can contribute."""

    def __init__(self, candidates: Sequence[_Candidate], weighing: Weighing) -> None:
        self.weighing = weighing
        by_line = list(zip(*(candidate.gives for candidate in candidates), strict=True))
        self.largest = [tuple(accumulate(sorted(gains, reverse=True))) for gains in by_line]
        self.least = tuple(map(min, zip(*(candidate.cost for candidate in candidates), strict=True)))
        self.rising = [_Rising(candidates, part) for part in weighing.levels]

    def bound(self, cost: Cost, needs: Sequence[int]) -> Cost:
        """Return a lower bound for a set with more of these candidates, or DEAREST if all of them are not enough."""
        more, short = 0, [(line, need) for line, need in enumerate(needs) if need > 0]
        if not short:
            return cost
        for line, need in short:
            if not self.largest or self.largest[line][-1] < need:
                return DEAREST
            more = max(more, bisect_left(self.largest[line], need) + 1)
        levels = [max(rising.level(line, need) for line, need in short) for rising in self.rising]
        return self.weighing.at_least(cost, more, self.least, levels)


class _Rising:
    """The amounts that candidates can contribute, in ascending order of one part of their cost."""

    def __init__(self, candidates: Sequence[_Candidate], part: int) -> None:
        ordered = sorted(candidates, key=lambda candidate: candidate.cost[part])
        self.parts = tuple(candidate.cost[part] for candidate in ordered)
        self.upto = [
            tuple(accumulate(gains)) for gains in zip(*(candidate.gives for candidate in ordered), strict=True)
        ]

    def level(self, line: int, need: int) -> int:
        """Return the least value of the cost part up to which candidates together satisfy a need."""
        return self.parts[bisect_left(self.upto[line], need)]

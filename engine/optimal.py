"""The least victims that policy ``priority`` could have taken, worked out exactly by branch and bound on every node.

The policy is greedy: it takes all pods of lower priority away, puts back one by one, and never tries again. Here every
set of those pods counts without which the ask passes the filters. The least is what the policy itself would prefer of
two nodes; disruption budgets are counted as it counts them, spent on all pods of lower priority of the node.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import msgspec
import numpy as np

from engine.decision import Decision, Outcome
from engine.feasibility.checks import Limit, Rule
from engine.policies.priority_nodes import Survey
from engine.policies.priority_victims import PRIORITY_SHIFT
from engine.snapshot import Pod, Snapshot
from engine.snapshot.columns import Numbers, Rows, running

MOST_CANDIDATES = 30
"""A node with more pods that may go is left out."""
_MOST_STEPS = 200_000
"""When the search has taken so many on all nodes together, the node that it is at and those after it are left out."""

Cost = tuple[int, int, int, int, int]
"""Violations, highest priority, sum of (priority + 2**31), victims, minus the earliest start of the highest."""
_DEAREST: Cost = (2**62,) * 5
_NOTHING: Cost = (0, -(2**31), 0, 0, -(2**62))


class Optimal(msgspec.Struct, frozen=True, kw_only=True):
    """The least set of victims, and how far the policy's own is from it."""

    node: str
    victims: tuple[str, ...]
    """``namespace/name``, most important first."""
    pdb_violations: int
    same: bool
    """Whether the policy's own victims cost no more; then these are they."""
    distance: dict[str, int] = {}
    """What the policy's own have more of: violations, highest priority, sum of priorities, victims, and how many
    milliseconds earlier they started. Of those that differ, the first decides; empty where the policy found none."""
    left_out: tuple[str, ...] = ()
    """Nodes on which it was not worked out: too many pods that may go, or too long a search."""


class _Candidate(msgspec.Struct, frozen=True, gc=False):
    uid: str
    row: int
    cost: Cost
    """Alone."""
    weights: tuple[int, ...]
    """In the lines that bound the search."""
    every: tuple[tuple[int, int], ...]
    """In every limit."""

    @property
    def kind(self) -> tuple[int, int, tuple[tuple[int, int], ...]]:
        """Two of the same kind differ in their start alone."""
        return self.cost[0], self.cost[1], self.every


def optimal(snapshot: Snapshot, ask: Pod, decision: Decision) -> Optimal | None:
    """The least victims beside the policy's ``decision``; None where no set helps, none is needed, or none may go."""
    found = Survey(snapshot.without_reservation(ask.uid), ask)
    if decision.outcome not in (Outcome.PREEMPT, Outcome.NO_CANDIDATE) or found.nowhere:
        return None
    greedy = _greedy(found)
    search = _Search(found, greedy[0] if greedy else _DEAREST)
    search.everywhere()
    own = greedy[1] if greedy else ()
    rows = search.rows or own
    if not rows:
        return None
    return Optimal(
        node=found.columns.nodes[found.columns.node[rows[0]]].name,
        victims=tuple(found.columns.pods[row].key for row in rows),
        pdb_violations=search.least[0],
        same=rows == own,
        distance=_distance(found, own, rows) if own else {},
        left_out=tuple(found.columns.nodes[place].name for place in search.left_out),
    )


def _greedy(found: Survey) -> tuple[Cost, tuple[int, ...]] | None:
    if found.best is None:
        return None
    rows = tuple(found.victims_on(found.best))
    return _together([_alone(found, row) for row in rows]), rows


def _alone(found: Survey, row: int) -> Cost:
    columns = found.columns
    priority = int(columns.priority[row])
    return int(found.budgets.violating[row]), priority, priority + PRIORITY_SHIFT, 1, -int(columns.started[row])


def _together(costs: Sequence[Cost]) -> Cost:
    total = _NOTHING
    for cost in costs:
        total = _with(total, cost)
    return total


def _with(cost: Cost, one: Cost) -> Cost:
    """A set's cost with one more in it; it is never less than before."""
    start = max(cost[4], one[4]) if cost[1] == one[1] else cost[4] if cost[1] > one[1] else one[4]
    return cost[0] + one[0], max(cost[1], one[1]), cost[2] + one[2], cost[3] + one[3], start


def _distance(found: Survey, own: Sequence[int], least: Sequence[int]) -> dict[str, int]:
    ours, best = (_together([_alone(found, row) for row in rows]) for rows in (own, least))
    more = [one - other for one, other in zip(ours, best, strict=True)]
    more[2] -= more[3] * PRIORITY_SHIFT
    names = ("violations", "priority", "priority_sum", "victims", "started_ms")
    return {name: amount for name, amount in zip(names, more, strict=True) if amount}


class _Search:
    """Over all nodes on which evictions might help, with what was the least so far."""

    def __init__(self, found: Survey, least: Cost) -> None:
        self.found, self.least = found, least
        self.rows: tuple[int, ...] = ()
        self.steps = 0
        self.left_out: list[int] = []

    def everywhere(self) -> None:
        """The nodes that the policy would take first, so that the others are soon given up."""
        found = self.found
        places = np.flatnonzero(found.curable & ~found.reserved & (found.leaving.counts > 0))
        first = [place for place, *_ in found.costs.ranked]
        self._on(first)
        bound = _bounds(found)
        self._on(place for place in map(int, places) if place not in first and bound(place) < self.least)
        self.left_out.sort()

    def _on(self, places: Iterable[int]) -> None:
        for place in places:
            if self.found.leaving.counts[place] > MOST_CANDIDATES or not _Node(self, place).search():
                self.left_out.append(place)


def _bounds(found: Survey) -> Callable[[int], Cost]:
    """Place -> a cost that no set of candidates there is below; all nodes worked out at once."""
    columns, ends = found.columns, found.columns.first[1:]
    violations = np.zeros(len(columns.nodes), np.int64)
    top = np.full(len(columns.nodes), _NOTHING[1])
    count = np.ones(len(columns.nodes), np.int64)
    for limit in found.feasibility.limits:
        if limit.mends or limit.unless is not None:
            continue
        weight = np.where(found.candidates, limit.weight, 0)
        need = limit.held - limit.cap + (np.maximum(limit.more(), 0) if limit.added else 0)
        short = np.flatnonzero((need > 0) & (columns.sums(weight) >= need))
        upto = running(weight)
        # Of the least important ones that are enough together, the most important:
        top[short] = np.maximum(top[short], columns.priority[_last(upto, upto[ends[short]] - need[short])])
        stretches = np.stack([columns.first[short], ends[short]], axis=1).ravel()
        largest = np.maximum.reduceat(np.append(weight, 0), stretches)[::2] if len(short) else need[short]
        count[short] = np.maximum(count[short], -(-need[short] // largest))
        within = columns.sums(np.where(found.budgets.violating, 0, weight))
        violations[short] |= within[short] < need[short]

    def bound(place: int) -> Cost:
        highest, victims = int(top[place]), int(count[place])
        more = (victims - 1) * (int(columns.priority[ends[place] - 1]) + PRIORITY_SHIFT)
        return int(violations[place]), highest, highest + PRIORITY_SHIFT + more, victims, _NOTHING[4]

    return bound


def _last(upto: Numbers, amount: Numbers) -> Rows:
    """The last row before which no more than so much is."""
    return (np.searchsorted(upto, amount, side="right") - 1).astype(np.intp)


class _Node:
    """The search on one node: each candidate in turn stays, then goes; a branch that can't win is given up."""

    def __init__(self, search: _Search, place: int) -> None:
        found = search.found
        self.over, self.feasibility = search, found.feasibility
        self.spot = found.feasibility.on(place)
        self.refused = any(isinstance(check, Rule) and check.refused[place] for check in found.feasibility.checks)
        lines = [limit for limit in found.feasibility.limits if not limit.mends and limit.unless is None]
        self.needs = tuple(_need(limit, place) for limit in lines)
        rows = [row for row in found.columns.rows(place) if found.candidates[row]]
        ordered = sorted((self._candidate(row, lines) for row in rows), key=_turn)
        self.candidates = tuple(ordered)
        self.rest = [_Rest(ordered[first:], len(lines)) for first in range(len(ordered) + 1)]

    def _candidate(self, row: int, lines: Sequence[Limit]) -> _Candidate:
        found = self.over.found
        every = tuple((int(limit.weight[row]), int(limit.unless_weight[row])) for limit in self.feasibility.limits)
        weights = tuple(int(limit.weight[row]) for limit in lines)
        return _Candidate(found.columns.pods[row].uid, row, _alone(found, row), weights, every)

    def search(self) -> bool:
        """Whether it came to its end."""
        if self.refused:
            return True
        return self._from(0, (), _NOTHING, self.needs)

    def _from(self, place: int, gone: tuple[_Candidate, ...], cost: Cost, needs: tuple[int, ...]) -> bool:
        over = self.over
        over.steps += 1
        if over.steps > _MOST_STEPS:
            return False
        if self.rest[place].bound(cost, needs) >= over.least:
            return True
        if gone and max(needs, default=0) <= 0 and self.spot.refusal([one.uid for one in gone]) is None:
            over.least, over.rows = cost, tuple(sorted(one.row for one in gone))
            return True
        if place == len(self.candidates):
            return True
        one = self.candidates[place]
        alike = place > 0 and self.candidates[place - 1].kind == one.kind
        if not self._from(place + 1, gone, cost, needs):
            return False
        if alike and (not gone or gone[-1] is not self.candidates[place - 1]):
            return True  # the one before it, which started later, goes rather than this
        left = tuple(need - weight for need, weight in zip(needs, one.weights, strict=True))
        return self._from(place + 1, (*gone, one), _with(cost, one.cost), left)


def _need(limit: Limit, place: int) -> int:
    return int(limit.held[place]) - int(limit.cap[place]) + max(limit.added.get(place, 0), 0)


def _turn(one: _Candidate) -> tuple[int, int, object, int]:
    """Those that cost most first; of a kind the one that started last."""
    return -one.cost[0], -one.cost[1], one.every, one.cost[4]


class _Rest:
    """What the candidates that are still to be looked at can give, at best."""

    def __init__(self, candidates: Sequence[_Candidate], lines: int) -> None:
        by_line = (sorted((one.weights[line] for one in candidates), reverse=True) for line in range(lines))
        self.largest = [tuple(accumulate(weights)) for weights in by_line]
        rising = sorted(candidates, key=lambda one: one.cost[1])
        self.priorities = tuple(one.cost[1] for one in rising)
        self.lowest = [tuple(accumulate(one.weights[line] for one in rising)) for line in range(lines)]
        self.least = min((one.cost[2] for one in candidates), default=0)

    def bound(self, cost: Cost, needs: Sequence[int]) -> Cost:
        """No set that has one more of these costs less; _DEAREST where all of them together are not enough."""
        more, top = 0, cost[1]
        for need, largest, lowest in zip(needs, self.largest, self.lowest, strict=True):
            if need > 0:
                if not largest or largest[-1] < need:
                    return _DEAREST
                more = max(more, bisect_left(largest, need) + 1)
                top = max(top, self.priorities[bisect_left(lowest, need)])
        start = cost[4] if top == cost[1] else _NOTHING[4]
        return cost[0], top, cost[2] + more * self.least, cost[3] + more, start

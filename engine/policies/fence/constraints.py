"""What keeps an ask out of nodes, line by line, and what pods that go from there give it."""

from collections.abc import Callable

import numpy as np

from engine.model.columns.node_columns import SAFE, Flags, Numbers, Rows
from engine.policies.common.attempt import PreemptionAttempt


class Constraint:
    """At each of some places the ask is kept out while ``over``, less the weight of each pod that goes, is above 0.

    ``mends``: whether weights are below 0, of pods that the ask wants to be near. ``unless``: a second sum, of weight
    ``unless_weight``, which lifts the line once it is down to nothing.
    """

    def __init__(
        self,
        weight: Numbers,
        over: Numbers,
        *,
        on_node: bool,
        mends: bool = False,
        unless: Numbers | None = None,
        unless_weight: Numbers | None = None,
    ) -> None:
        self.weight, self.over, self.mends = weight, over, mends
        self.unless, self.unless_weight = unless, weight if unless_weight is None else unless_weight
        self.short: Flags = self.exceeded(np.arange(len(over))) & on_node
        """Of the places, whether something is missing on the node itself to begin with."""

    def exceeded(self, at: Rows) -> Flags:
        """Of these places (as so many-th), whether the line keeps the ask out."""
        exceeded = np.asarray(self.over[at] > 0, np.bool_)
        return exceeded if self.unless is None else exceeded & np.asarray(self.unless[at] > 0, np.bool_)

    def give(self, at: Rows, rows: Rows, times: int) -> None:
        """One pod (row) of each of these places goes, or with ``times`` -1 comes back."""
        self.over[at] -= self.weight[rows] * times
        if self.unless is not None:
            self.unless[at] -= self.unless_weight[rows] * times


class Constraints:
    """Whether the ask has room at some places, while pods go and come back."""

    def __init__(self, attempt: PreemptionAttempt, places: Rows) -> None:
        self.lines = [line for lines in LINES.values() for line in lines(attempt, places)]
        self._near = [line for line in self.lines if line.mends]
        none_short = np.ones(len(places), np.bool_)
        for line in self.lines:
            none_short &= ~line.short
        self._none_short = none_short

    def shut(self, at: Rows) -> Flags:
        """Of these places (as so many-th), whether the ask is kept out."""
        shut = np.zeros(len(at), np.bool_)
        for line in self.lines:
            shut |= line.exceeded(at)
        return shut

    def helps(self, at: Rows, rows: Rows) -> Flags:
        """One pod (row) of each place: whether it holds something of what is missing there, if anything is."""
        helps = self._none_short[at]
        for line in self.lines:
            helps = helps | (line.short[at] & np.asarray(line.weight[rows] > 0, np.bool_))
        return helps

    def wanted_near(self, at: Rows, rows: Rows) -> Flags:
        """One pod (row) of each place: whether without it the ask would no longer be near what it wants to be near."""
        if not self._near:
            return np.zeros(len(at), np.bool_)
        before = self._far(at)
        for line in self._near:
            line.give(at, rows, 1)
        after = self._far(at)
        for line in self._near:
            line.give(at, rows, -1)
        return after & ~before

    def _far(self, at: Rows) -> Flags:
        far = np.zeros(len(at), np.bool_)
        for line in self._near:
            far |= line.exceeded(at)
        return far

    def give(self, at: Rows, rows: Rows, times: int = 1) -> None:
        """One pod (row) of each of these places goes, or with ``times`` -1 comes back."""
        for line in self.lines:
            line.give(at, rows, times)


def _on_node(attempt: PreemptionAttempt, places: Rows) -> list[Constraint]:
    """The limits of the nodes; room is left both with the pods nominated there and without."""
    found = []
    gone = attempt.leaving if attempt.emptying[places].any() else None
    for limit in attempt.feasibility.limits:
        over = limit.held[places] - limit.cap[places]
        if gone is not None:
            over = over - gone.of(limit.weight)[places]
        if limit.added:
            over = over + np.maximum(limit.more(), 0)[places]
        if not limit.mends and not np.any(over > 0):
            continue
        unless = None
        if limit.unless is not None:
            unless = np.full(len(places), limit.unless) - (gone.of(limit.unless_weight)[places] if gone else 0)
        found.append(
            Constraint(
                limit.weight,
                over,
                on_node=True,
                mends=limit.mends,
                unless=unless,
                unless_weight=limit.unless_weight,
            )
        )
    return found


def _under_max(attempt: PreemptionAttempt, places: Rows) -> list[Constraint]:
    """Every max above the ask's own queue: what goes from below it makes room under it."""
    ground = attempt.ground
    found = []
    for (path, resource), excess in attempt.excess().items():
        inside = ground.below(path)[ground.row_queue]
        weight = np.where(inside, ground.amounts(resource)[ground.kinds.of], 0)
        over = np.full(len(places), excess, np.int64 if excess <= SAFE else object)
        found.append(Constraint(weight, over, on_node=False))
    return found


LINES: dict[str, Callable[[PreemptionAttempt, Rows], list[Constraint]]] = {"node": _on_node, "max": _under_max}
"""What has to give way for the ask to have room."""

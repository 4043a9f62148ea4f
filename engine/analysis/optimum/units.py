"""Search the sets of units that make room for all members of a gang, on any nodes, for the least one."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from engine.policies.common.groups.unit_weighing import MembersToPlace, NodeShares, UnitRules, UnitWeighing, WeighedUnit
from engine.policies.common.weighing import Cost

MOST_MEMBERS = 6
"""Maximum number of members that need evictions; a larger gang is not searched."""
MOST_UNITS = 30
"""Maximum number of units that may be evicted on the nodes where members can be; more are not searched."""
_MOST_STEPS = 50_000
"""Maximum number of sets that are tried; then the search ends."""

_Rows = tuple[int, ...]


class UnitSearch:
    """A search over all nodes for all members, with the least costly set found so far."""

    def __init__(self, weighing: UnitWeighing, least: Cost) -> None:
        """Prepare the search. ``least``: sets must cost less than this."""
        self.weighing, self.least = weighing, least
        self.units: tuple[WeighedUnit, ...] = ()
        """The least set that was found."""
        self.nodes: dict[str, int] = {}
        """Key of a member -> the index of its node, for that set."""
        self.too_many: dict[str, int] = {}
        """What there is more of than the search can take: ``members`` or ``units``, with their number."""
        self.steps = 0

    @property
    def complete(self) -> bool:
        """Return whether everything was searched."""
        return not self.too_many and self.steps <= _MOST_STEPS

    def everywhere(self) -> None:
        """Search every choice of members, and every choice of nodes for them."""
        for choice in self.weighing.choices():
            if len(choice.members) > MOST_MEMBERS:
                self.too_many["members"] = max(len(choice.members), self.too_many.get("members", 0))
            elif choice.number_of_units > MOST_UNITS:
                self.too_many["units"] = max(choice.number_of_units, self.too_many.get("units", 0))
            else:
                self._place(choice, ())

    def _place(self, choice: MembersToPlace, places: tuple[int, ...]) -> None:
        """Try the nodes for the next member, the cheapest first: the set for the first members is a lower bound."""
        number = len(places)
        last, bounds = number + 1 == len(choice.members), list[tuple[Cost, int]]()
        for place in choice.nodes[number]:
            if choice.monotone and number and choice.alike(number - 1, number) and place < places[-1]:
                continue  # tried with the two changing places
            if not last and not choice.monotone:
                bounds.append((self.weighing.nothing, place))
                continue
            found = self._on(choice, (*places, place), last=last)
            if found is not None:
                bounds.append((found, place))
        for bound, place in sorted(bounds) if not last else ():
            if bound < self.least and self.complete:
                self._place(choice, (*places, place))

    def _on(self, choice: MembersToPlace, places: tuple[int, ...], *, last: bool) -> Cost | None:
        """Return the cost of the least set with the members on some nodes, None if none costs less than another."""
        search = _SetsOnNodes(self, choice.rules(places), monotone=choice.monotone, near=last)
        search.from_here((), tuple(range(len(search.rules.units))), self.weighing.nothing)
        if search.found is None:
            return None
        if last:
            self.least, self.units = search.least, tuple(search.rules.units[number] for number in search.found)
            placed = (*choice.placed, *zip(choice.members, places, strict=True))
            self.nodes = {pod.key: place for pod, place in placed}
        return search.least


class _SetsOnNodes:
    """A search over sets of units that first takes, then leaves out each of them, and drops what can't be less."""

    def __init__(self, search: UnitSearch, rules: UnitRules, *, monotone: bool, near: bool) -> None:
        self.search, self.rules, self._monotone, self._near = search, rules, monotone, near
        self.least, self._weighing = search.least, search.weighing
        self.found: _Rows | None = None
        self._nodes = tuple(rules.shares()) if monotone else ()

    def from_here(self, taken: _Rows, rest: _Rows, cost: Cost) -> None:
        """Try all sets with some units taken, and any of the ``rest``."""
        self.search.steps += 1
        if self.search.steps > _MOST_STEPS or cost >= self.least:
            return
        if self.rules.room(taken):
            if not self._near or self.rules.near(taken):
                self.least, self.found = cost, taken
                return
            if self._monotone:
                return  # with more of them, even fewer are needed
        least = self._at_least(taken, rest, cost)
        if not rest or least is None or least >= self.least:
            return
        if self._monotone and not self.rules.room((*taken, *rest)):
            return
        first, others = rest[0], rest[1:]
        if self.rules.may_go((*taken, first)):
            self.from_here((*taken, first), others, self._weighing.together(cost, self.rules.units[first].cost))
        self.from_here(taken, tuple(number for number in others if not self._no_better(number, first)), cost)

    def _at_least(self, taken: _Rows, rest: _Rows, cost: Cost) -> Cost | None:
        """Return a lower bound of the cost of a set with more of the ``rest``, None if all of them are not enough."""
        for node in self._nodes:
            needed = [
                amount - sum(node.freed[one][limit] for one in taken if one in node.freed)
                for limit, amount in enumerate(node.missing)
            ]
            short = [(limit, amount) for limit, amount in enumerate(needed) if amount > 0]
            if short:
                more = self._on_node(node, [number for number in rest if number in node.freed], short)
                if more is None:
                    return None
                cost = self._weighing.together(cost, more)
        return cost

    def _on_node(self, node: NodeShares, rest: Sequence[int], short: Sequence[tuple[int, int]]) -> Cost | None:
        """Return what units cost at least that free what a node is short of (limits with amounts), None: not enough."""
        count, levels = 1, {part: list[int]() for part in self._weighing.largest}
        for limit, amount in short:
            freed = sorted((node.freed[number][limit] for number in rest), reverse=True)
            enough = bisect_left(list(accumulate(freed)), amount)
            if enough == len(freed):
                return None
            count = max(count, enough + 1)
            for part in self._weighing.largest:
                ranked = sorted((node.costs[number][part], node.freed[number][limit]) for number in rest)
                upto = bisect_left(list(accumulate(amount for _, amount in ranked)), amount)
                levels[part].append(ranked[upto][0])
        parts = [sorted(part)[:count] for part in zip(*(node.costs[number] for number in rest), strict=True)]
        return tuple(max(*levels[n], part[-1]) if n in levels else sum(part) for n, part in enumerate(parts))

    def _no_better(self, number: int, left_out: int) -> bool:
        """Return whether a unit does no more than one that is left out already, at no lower cost in any part."""
        parts = zip(self.rules.units[left_out].cost, self.rules.units[number].cost, strict=True)
        return all(one <= other for one, other in parts) and self.rules.alike(number, left_out)

"""Who goes: always from the queue that has the most beyond what it deserves, counted anew after each."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from engine.feasibility import FITS
from engine.model.columns.departures import Going
from engine.model.objects import Pod
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.node_bounds import Cost, bounds
from engine.policies.deserved.node_pruning import hopeless_places
from engine.policies.deserved.other_sets import search
from engine.policies.deserved.placement_goal import Anywhere, OnNode, Room
from engine.policies.deserved.share_balances import Rank, ShareBalances

if TYPE_CHECKING:
    from engine.model.columns.node_columns import Flags

MOST_SEARCHED = 50
"""Nodes on which other sets are tried, the cheapest."""
CRITERIA = ("overused", "priority", "victims", "age", "name")
"""What nodes are compared by, in this order; the least wins."""


class Reclaimed(NamedTuple):
    """Who goes from a node, or from anywhere, in the order in which they were found."""

    victims: tuple[Pod, ...]
    put_back: tuple[Pod, ...]
    """Found, and then not needed."""
    cost: Cost
    """By CRITERIA."""
    place: int | None
    """The node's; None: anywhere."""

    def loses(self, best: "Reclaimed") -> str:
        """The first of CRITERIA in which it is dearer than the best."""
        pairs = zip(CRITERIA, self.cost, best.cost, strict=True)
        return next((name for name, own, other in pairs if own != other), CRITERIA[-1])


class NodeCandidates:
    """All nodes, as the ask finds them once some candidates are gone."""

    def __init__(self, question: ReclaimAttempt, candidates: Candidates) -> None:
        self.question, self.candidates = question, candidates
        there = question.nodes
        gone = _going(question, candidates)
        self.counts = gone.counts
        """Place -> how many candidates there are."""
        self.refusing = there.feasibility.refusing(gone, surely=there.leaving)
        """Place -> the number of the check that refuses the ask whichever of them are gone."""
        self.dearer = there.open & (self.refusing == FITS) & (self.counts > 0)
        """Place -> whether it was not looked at closely: whoever went from there, another node is cheaper."""
        self._useful = self.dearer.copy()
        self.gave_up = False
        """Whether not all sets were tried, so that one may be there although none was found."""
        self.found = sorted(self._found(), key=lambda one: one.cost)
        """What others would lose where the ask can be given room, the cheapest first."""

    def end_below(self) -> bool:
        """Look again, where queues may end below what they deserve, as pods can't be divided; whether that helps."""
        if self.question.outranks or not self._useful.any():
            return False
        self.dearer = self._useful.copy()
        self.found = sorted(self._found(below=True), key=lambda one: one.cost)
        return self.best is not None

    @property
    def best(self) -> Reclaimed | None:
        """Who goes; None where nobody does."""
        return self.found[0] if self.found else None

    def other_sets(self) -> bool:
        """Look at sets that no turn comes to, on the cheapest nodes; whether one helps; ``gave_up``: not at all."""
        if not self.question.parameters.node_fit:
            self.gave_up = bool(self._useful.any()) and not _lacks_all(self.question, self.candidates)
            return False
        places = [place for _least, place in bounds(self.question, self.candidates, self._useful)]
        self.gave_up = len(places) > MOST_SEARCHED
        for place in places[:MOST_SEARCHED]:
            pods = sorted(self.candidates.on(place), key=self._first)
            tried = search(self.question, self.candidates, place, pods)
            rows, put_back = tried.victims() or ([], [])
            self.gave_up |= tried.gave_up
            if rows:
                going, kept = ([pods[row] for row in some] for some in (rows, put_back))
                self.found.append(Reclaimed(tuple(going), tuple(kept), _cost(self.candidates, going, place), place))
        self.found.sort(key=lambda one: one.cost)
        return self.best is not None

    def _first(self, pod: Pod) -> tuple[Rank, int, int, str]:
        return self.candidates.books.rank(pod.queue or ""), pod.priority, -pod.created_ms, pod.key

    def _found(self, *, below: bool = False) -> Iterator[Reclaimed]:
        if not self.question.parameters.node_fit:
            self.dearer[:] = False
            if anywhere := _at(self.question, self.candidates, None, self.candidates.pods, below=below):
                yield anywhere
            return
        best: Cost | None = None
        hopeless: Flags | None = None
        for least, place in bounds(self.question, self.candidates, self.dearer):
            if best is not None and least > best:
                return
            self.dearer[place] = False
            if hopeless is not None and hopeless[place]:
                continue
            if one := looked_at(self.question, self.candidates, place, below=below):
                best = one.cost if best is None else min(best, one.cost)
                yield one
            elif hopeless is None and not below:  # most often the first one is of use
                hopeless = hopeless_places(self.question, self.candidates)


def _going(question: ReclaimAttempt, candidates: Candidates) -> Going:
    """All of them, as they leave together; gone on with from the survey before."""
    there = question.nodes
    kept: dict[str, Going] = question.snapshot.once("deserved going", question.tree, dict)
    kept["latest"] = found = Going(there.columns, candidates.going, also=there.leaving, before=kept.get("latest"))
    return found


def looked_at(question: ReclaimAttempt, candidates: Candidates, place: int, *, below: bool = False) -> Reclaimed | None:
    """What a node would lose; None where the ask can't be given room.

    ``below``: a queue gives also after it has come down to what it deserves.
    """
    return _at(question, candidates, place, candidates.on(place), below=below)


def _at(
    question: ReclaimAttempt, candidates: Candidates, place: int | None, pods: Sequence[Pod], *, below: bool
) -> Reclaimed | None:
    room: Room = Anywhere(question) if place is None else OnNode(question, place)
    turn = _Turn(question, candidates, room, below=below)
    taken = turn.take(pods)
    if not taken:
        return None
    victims = turn.needed(taken)
    put_back = tuple(pod for pod in taken if pod not in victims)
    return Reclaimed(tuple(victims), put_back, _cost(candidates, victims, place), place)


def _cost(candidates: Candidates, victims: Sequence[Pod], place: int | None) -> Cost:
    return (
        candidates.books.rank(victims[0].queue or ""),
        max(pod.priority for pod in victims),
        len(victims),
        -max(pod.created_ms for pod in victims),
        -1 if place is None else place,  # in the order of names
    )


def _lacks_all(question: ReclaimAttempt, candidates: Candidates) -> bool:
    """Whether the ask has no room anywhere though all of them went."""
    return _Turn(question, candidates, Anywhere(question), below=True).lacks(candidates.pods)


class _Turn:
    """Pods that go from one place for an ask."""

    def __init__(self, question: ReclaimAttempt, candidates: Candidates, room: Room, *, below: bool) -> None:
        self.question, self.candidates, self.room, self._below = question, candidates, room, below

    def take(self, pods: Sequence[Pod]) -> list[Pod]:
        """Those who go, in their order, until the ask has room; none where it can't have any."""
        books, taken, lines = ShareBalances(self.question), list[Pod](), _lines(pods)
        while self.lacks(taken):
            pod = next(self._open(books, taken, lines), None)
            if pod is None:
                return []
            books.give(pod)
            taken.append(pod)
        return taken

    def needed(self, taken: Sequence[Pod]) -> list[Pod]:
        """Those of them without whom the ask has no room, the last one asked first."""
        needed = list(taken)
        for pod in reversed(taken):
            others = [one for one in needed if one is not pod]
            if others and not self.lacks(others):
                needed = others
        return needed

    def _open(self, books: ShareBalances, taken: list[Pod], lines: Mapping[str, "_Line"]) -> Iterator[Pod]:
        """Those who may go next, the most overused queue's first."""
        short, gone = self.room.short(taken), {pod.uid for pod in taken}
        helps = self.room.helping(taken) if self.room.lacks(taken) else self._lies_under_hard
        for queue in sorted(lines, key=books.rank):
            beyond = self._beyond(books, queue, short)
            for pod in lines[queue].ordered if beyond else ():
                if (
                    (self.question.outranks or any(pod.requests.get(name, 0) > 0 for name in beyond))
                    and pod.uid not in gone
                    and helps(pod)
                    and not books.below_reserved(pod)
                    and self.candidates.budgets.allow([*taken, pod])
                ):
                    yield pod

    def _beyond(self, books: ShareBalances, queue: str, short: Collection[str]) -> Collection[str]:
        """The resources for which a queue may be taken from, of those that are short; of high priority for any."""
        if self.question.outranks:
            return short
        overused = books.was_overused if self._below else books.overused
        return [name for name in short if overused(queue, name)]

    def lacks(self, gone: Sequence[Pod]) -> bool:
        """Whether the ask has no room, or an area above it would exceed its hard cap, though these have gone."""
        return self.room.lacks(gone) or any(
            self._gone(path, name, gone) < more for (path, name), more in self.question.excess.items()
        )

    def _gone(self, path: str, name: str, gone: Sequence[Pod]) -> int:
        tree = self.question.tree
        return sum(pod.requests.get(name, 0) for pod in gone if tree.contains(path, pod.queue or ""))

    def _lies_under_hard(self, pod: Pod) -> bool:
        """Whether it holds some of what an area above the ask would have too much of."""
        tree = self.question.tree
        return any(
            pod.requests.get(name, 0) > 0 and tree.contains(path, pod.queue or "")
            for path, name in self.question.excess
        )


class _Line:
    """The pods of one queue; they are many where no node matters, and few queues' turn ever comes."""

    def __init__(self) -> None:
        self.pods: list[Pod] = []

    @cached_property
    def ordered(self) -> list[Pod]:
        """The lowest priority first, then the newest."""
        return sorted(self.pods, key=lambda pod: (pod.priority, -pod.created_ms, pod.key))


def _lines(pods: Iterable[Pod]) -> dict[str, _Line]:
    found: defaultdict[str, _Line] = defaultdict(_Line)
    for pod in pods:
        found[pod.queue or ""].pods.append(pod)
    return found

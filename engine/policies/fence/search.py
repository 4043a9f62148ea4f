"""Other sets on a node where greedy is stuck."""

from collections.abc import Iterable

from engine.policies.fence.question import Question
from engine.policies.fence.spare import Spared
from engine.snapshot.columns import Rows

_TRIES = 500
"""Sets tried on a node; among very many unlike pods a lawful one may go unfound."""


class Search:
    """Tries sets of pods depth first, the most expendable first, those like one that was left out left out too."""

    def __init__(self, question: Question, spared: Spared, place: int, rows: Rows) -> None:
        self.question, self.spared = question, spared
        self.rows = tuple(map(int, rows))
        """The candidates, the most expendable first."""
        self.spot = question.feasibility.on(place)
        self.tries = _TRIES
        columns, ground = question.columns, question.ground
        self.leaving = tuple(columns.pods[row].uid for row in columns.rows(place) if columns.terminating[row])
        self.excess = [(ground.below(path), name, more) for (path, name), more in question.excess().items()]

    def victims(self) -> tuple[list[int], list[int]] | None:
        """Who goes, and who was taken too but may stay; None where no lawful set was found."""
        taken = self._lawful((), self.rows)
        if taken is None:
            return None
        kept, put_back = list(taken), []
        for row in reversed(taken):
            without = [other for other in kept if other != row]
            if self._room_without(without):
                kept = without
                put_back.append(row)
        return kept, put_back

    def _lawful(self, taken: tuple[int, ...], rest: tuple[int, ...]) -> tuple[int, ...] | None:
        """``taken`` with some of ``rest`` that together make room and keep all guarantees, None when none was found.

        Taking more never mends a broken guarantee nor makes less room, so both bound the search; only a pod that the
        ask wants to be near may be needed where it is.
        """
        if self._room_without(taken):
            return taken
        self.tries -= 1
        if self.tries < 0 or not rest or not self._room_without((*taken, *rest), surely=taken):
            return None
        first, others = rest[0], rest[1:]
        if self._keeps_guarantees((*taken, first)):
            found = self._lawful((*taken, first), others)
            if found is not None:
                return found
        return self._lawful(taken, tuple(row for row in others if not self._alike(row, first)))

    def _room_without(self, rows: Iterable[int], *, surely: Iterable[int] | None = None) -> bool:
        """Whether the ask fits on the node and under every max above it.

        With ``surely`` whether it may, as more than those need not go.
        """
        columns = self.question.columns
        pods = [columns.pods[row] for row in rows]
        going = [*self.leaving, *(pod.uid for pod in pods)]
        sure = None if surely is None else [*self.leaving, *(columns.pods[row].uid for row in surely)]
        if self.spot.refusal(going, surely=sure) is not None:
            return False
        queue_of = self.question.ground.queue_of
        return all(
            sum(pod.requests.get(name, 0) for pod in pods if below[queue_of(pod.queue)]) >= more
            for below, name, more in self.excess
        )

    def _keeps_guarantees(self, rows: Iterable[int]) -> bool:
        """Law 2 for all of them together."""
        ground = self.question.ground
        gone: dict[tuple[str, int], int] = {}
        for row in rows:
            pod = self.question.columns.pods[row]
            for path in ground.tree.lineage(pod.queue or ground.tree.root):
                for name in self.spared:
                    at = (name, ground.number[path])
                    gone[at] = gone.get(at, 0) + pod.requests.get(name, 0)
        return all(amount <= 0 or amount <= self.spared[name][number] for (name, number), amount in gone.items())

    def _alike(self, one: int, other: int) -> bool:
        """Whether it makes no difference to room and guarantees which of the two goes."""
        first, second = (self.question.columns.pods[row] for row in (one, other))
        weights = self.spot.weights
        same = (first.queue, first.requests) == (second.queue, second.requests)
        return same and weights(first.uid) == weights(second.uid)

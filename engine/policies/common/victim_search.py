"""A search for sets of victims on a node, for use where the greedy choice of one pod after the other fails."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from engine.feasibility import NodeChecks
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree

Rows = tuple[int, ...]
_TRIES = 500
"""The largest number of sets tried on a node. Among many different pods, an allowed set may not be found."""


class SetRules(Protocol):
    """The rules that a set of victims must satisfy; each victim is given by a number."""

    def room(self, rows: Rows, surely: Rows | None = None) -> bool:
        """Return whether these victims make enough room; with ``surely``: whether they may if not all of them go."""

    def may_go(self, rows: Rows) -> bool:
        """Return whether these victims may be evicted together. If not, no larger set may be either."""

    def alike(self, one: int, other: int) -> bool:
        """Return whether two victims are equivalent: in what they free, and in what the policy counts."""


class VictimSetRules(ABC):
    """The rules that a set of victims on one node must satisfy. Each policy adds which pods may be evicted together."""

    def __init__(
        self,
        checks: NodeChecks,
        pods: Mapping[int, Pod],
        *,
        leaving: Iterable[str] = (),
        excess: Iterable[tuple[frozenset[int], str, int]] = (),
    ) -> None:
        """Prepare the rules.

        ``checks``: those of the pending pod on the node. ``pods``: row -> candidate. ``leaving``: the uids of pods that
        leave the node in any case. ``excess``: sets of rows that have to free an amount of a resource together.
        """
        self.checks, self.pods, self._leaving, self._excess = checks, pods, tuple(leaving), tuple(excess)

    def room(self, rows: Rows, surely: Rows | None = None) -> bool:
        """Return whether the pending pod fits on the node and under every max above it without these pods.

        With ``surely``, return whether it possibly fits, because only the pods in ``surely`` are sure to be evicted.
        """
        sure = None if surely is None else self._departed(surely)
        if self.checks.refusal(self._departed(rows), surely=sure) is not None:
            return False
        return all(
            sum(self.pods[row].requests.get(name, 0) for row in rows if row in below) >= more
            for below, name, more in self._excess
        )

    def _departed(self, rows: Rows) -> list[str]:
        return [*self._leaving, *(self.pods[row].uid for row in rows)]

    @abstractmethod
    def may_go(self, rows: Rows) -> bool:
        """Return whether these pods may be evicted together. If not, no larger set may be either."""

    def alike(self, one: int, other: int) -> bool:
        """Return whether two pods are equivalent as victims: in what they free, and in what the policy counts."""
        first, second = self.pods[one], self.pods[other]
        same = first.requests == second.requests and self.counted_alike(one, other)
        return same and self.checks.weights(first.uid) == self.checks.weights(second.uid)

    @abstractmethod
    def counted_alike(self, one: int, other: int) -> bool:
        """Return whether ``may_go`` counts two pods with equal requests alike."""


class VictimSetSearch:
    """A depth-first search over sets of pods that tries the most expendable pods first.

    Once a pod is left out of a set, equivalent pods are left out too.
    """

    def __init__(self, rows: Sequence[int], rules: SetRules, tries: int | None = None) -> None:
        """Prepare the search. ``rows``: the candidates, the most expendable first. ``tries``: the most sets tried."""
        self._rows, self._rules = tuple(map(int, rows)), rules
        self.tries = _TRIES if tries is None else tries
        """How many more sets are tried; negative: not all were."""

    @property
    def gave_up(self) -> bool:
        """Return whether the search ended before all sets were tried, so that an allowed set may exist anyway."""
        return self.tries < 0

    def victims(self) -> tuple[list[int], list[int]] | None:
        """Return the victims, and the pods that were selected at first but reprieved; None if no set was found."""
        taken = self._allowed((), self._rows)
        if taken is None:
            return None
        kept, put_back = list(taken), []
        for row in reversed(taken):
            without = [other for other in kept if other != row]
            if self._rules.room(tuple(without), None):
                kept = without
                put_back.append(row)
        return kept, put_back

    def _allowed(self, taken: Rows, rest: Rows) -> Rows | None:
        """Return ``taken`` with pods of ``rest`` that make enough room and may be evicted together, None if not found.

        A larger set never becomes allowed again and never makes less room, so both conditions bound the search. The
        exception is a pod that the pending pod's affinity needs, which makes room only while it is kept.
        """
        if self._rules.room(taken, None):
            return taken
        self.tries -= 1
        if self.tries < 0 or not rest or not self._rules.room((*taken, *rest), taken):
            return None
        first, others = rest[0], rest[1:]
        if self._rules.may_go((*taken, first)):
            found = self._allowed((*taken, first), others)
            if found is not None:
                return found
        return self._allowed(taken, tuple(row for row in others if not self._rules.alike(row, first)))


def rows_below(tree: QueueTree, path: str, pods: Mapping[int, Pod]) -> frozenset[int]:
    """Return the rows of the pods whose queue is ``path`` or lies below it."""
    return frozenset(row for row, pod in pods.items() if tree.contains(path, pod.queue or tree.root))

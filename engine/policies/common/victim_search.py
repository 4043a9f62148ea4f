"""A search for sets of victims on a node, for use where the greedy choice of one pod after the other fails."""

from collections.abc import Callable, Sequence

Rows = tuple[int, ...]
_TRIES = 500
"""The largest number of sets tried on a node. Among many different pods, an allowed set may not be found."""


class VictimSetSearch:
    """A depth-first search over sets of pods that tries the most expendable pods first.

    Once a pod is left out of a set, equivalent pods are left out too. ``room``: whether the pending pod fits without
    some rows; given a second set, whether it possibly fits, as only the pods of that set are sure to be evicted.
    ``may_go``: whether all of these pods may be evicted together; if it is false for a set, it is false for every
    larger set. ``alike``: whether two pods are equivalent as victims.
    """

    def __init__(
        self,
        rows: Sequence[int],
        *,
        room: Callable[[Rows, Rows | None], bool],
        may_go: Callable[[Rows], bool],
        alike: Callable[[int, int], bool],
    ) -> None:
        """Prepare the search. ``rows``: the candidates, the most expendable first."""
        self._rows, self._room, self._may_go, self._alike = tuple(map(int, rows)), room, may_go, alike
        self._tries = _TRIES

    @property
    def gave_up(self) -> bool:
        """Return whether the search ended before all sets were tried, so that an allowed set may exist anyway."""
        return self._tries < 0

    def victims(self) -> tuple[list[int], list[int]] | None:
        """Return the victims, and the pods that were selected at first but reprieved; None if no set was found."""
        taken = self._lawful((), self._rows)
        if taken is None:
            return None
        kept, put_back = list(taken), []
        for row in reversed(taken):
            without = [other for other in kept if other != row]
            if self._room(tuple(without), None):
                kept = without
                put_back.append(row)
        return kept, put_back

    def _lawful(self, taken: Rows, rest: Rows) -> Rows | None:
        """Return ``taken`` with pods of ``rest`` that make enough room and may be evicted together, None if not found.

        A larger set never becomes allowed again and never makes less room, so both conditions bound the search. The
        exception is a pod that the pending pod's affinity needs, which makes room only while it is kept.
        """
        if self._room(taken, None):
            return taken
        self._tries -= 1
        if self._tries < 0 or not rest or not self._room((*taken, *rest), taken):
            return None
        first, others = rest[0], rest[1:]
        if self._may_go((*taken, first)):
            found = self._lawful((*taken, first), others)
            if found is not None:
                return found
        return self._lawful(taken, tuple(row for row in others if not self._alike(row, first)))

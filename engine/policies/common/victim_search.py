"""Which pods of a node go together, where taking them one after the other comes to a standstill."""

from collections.abc import Callable, Sequence

Rows = tuple[int, ...]
_TRIES = 500
"""Sets tried on a node; among very many unlike pods one that may go can go unfound."""


class VictimSetSearch:
    """Tries sets of pods depth first, the most expendable first, those like one that was left out left out too.

    ``room``: whether the ask has room with some rows gone; given a second set, whether it may have, as only that one
    is sure to go. ``may_go``: whether all of these may go together; never true of more where it is not of fewer.
    ``alike``: whether it makes no difference which of two goes.
    """

    def __init__(
        self,
        rows: Sequence[int],
        *,
        room: Callable[[Rows, Rows | None], bool],
        may_go: Callable[[Rows], bool],
        alike: Callable[[int, int], bool],
    ) -> None:
        """``rows``: the candidates, the most expendable first."""
        self._rows, self._room, self._may_go, self._alike = tuple(map(int, rows)), room, may_go, alike
        self._tries = _TRIES

    @property
    def gave_up(self) -> bool:
        """Whether not all sets were tried, so that one may be there although none was found."""
        return self._tries < 0

    def victims(self) -> tuple[list[int], list[int]] | None:
        """Who goes, and who was taken too but may stay; None where no set was found."""
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
        """``taken`` with some of ``rest`` that together make room and may go, None when none was found.

        Taking more never mends what a set may not do nor makes less room, so both bound the search; only a pod that
        the ask wants to be near may be needed where it is.
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

"""Which rows of a draft's grid are shown, and where each stands in the tree."""

from collections.abc import Sequence

import msgspec

from scheduler_admin.queues.drafts.selectors import DraftRow
from scheduler_admin.queues.pages.editor.address import Shown


class Fold(msgspec.Struct, frozen=True, gc=False):
    """Where a row stands: its place among so many siblings, whether it holds others, and what of that is shown."""

    place: int
    siblings: int
    holds: bool
    folded: bool
    hidden: bool
    """Whether a queue above it is folded."""
    wrong: int
    """Errors in the queues below it."""


def folds(rows: Sequence[DraftRow], shown: Shown) -> list[Fold]:
    """Where each row stands, in their order: parents before children."""
    below: dict[int | None, int] = {}
    wrong: dict[int | None, int] = {}
    places = [(row.placed.pk, row.placed.above) for row in rows]
    for row, (own, above) in zip(reversed(rows), reversed(places), strict=True):
        below[above] = below.get(above, 0) + 1
        wrong[above] = wrong.get(above, 0) + len(row.errors) + wrong.get(own, 0)
    place: dict[int | None, int] = {}
    hidden: set[int | None] = set()
    found = []
    for own, above in places:
        place[above] = place.get(above, 0) + 1
        holds = own in below
        folded = holds and own in shown.folded
        if folded or above in hidden:
            hidden.add(own)
        found.append(Fold(place[above], below[above], holds, folded, above in hidden, wrong.get(own, 0)))
    return found

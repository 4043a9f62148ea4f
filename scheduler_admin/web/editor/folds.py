"""Which rows of a draft's grid are shown, and where each stands in the tree."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.formats.notes import Severity
from scheduler_admin.queues.draft_selectors import DraftRow
from scheduler_admin.web.editor.shown import Shown


@dataclass(frozen=True)
class Fold:
    """Where a row stands: its place among so many siblings, whether it holds others, and what of that is shown."""

    place: int
    siblings: int
    holds: bool
    folded: bool
    hidden: bool
    """Whether a queue above it is folded."""
    wrong: int
    """Errors in the queues below it."""
    href: str
    """Folds it, or unfolds it again."""


def folds(rows: Sequence[DraftRow], shown: Shown) -> list[Fold]:
    """Where each row stands, in their order: parents before children."""
    below: dict[int | None, int] = {}
    wrong: dict[int | None, int] = {}
    for row in reversed(rows):
        queue = row.placed.row
        below[queue.parent_id] = below.get(queue.parent_id, 0) + 1
        errors = sum(note.severity is Severity.ERROR for note in row.notes) if row.notes else 0
        wrong[queue.parent_id] = wrong.get(queue.parent_id, 0) + errors + wrong.get(queue.pk, 0)
    place: dict[int | None, int] = {}
    hidden: set[int | None] = set()
    found = []
    for row in rows:
        queue, above = row.placed.row, row.placed.row.parent_id
        place[above] = place.get(above, 0) + 1
        folded = queue.pk in shown.folded and queue.pk in below
        if folded or above in hidden:
            hidden.add(queue.pk)
        href = f"{shown.toggled(queue.pk).closed}#n{queue.pk}" if queue.pk in below else ""
        found.append(
            Fold(place[above], below[above], queue.pk in below, folded, above in hidden, wrong.get(queue.pk, 0), href)
        )
    return found

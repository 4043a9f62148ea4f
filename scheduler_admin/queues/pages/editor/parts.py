"""Which rows of a draft's grid a page draws: all, or of a large tree a part that its address names."""

from collections.abc import Sequence

from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.grid import Row

MOST = 2_000
"""A tree of so many queues is drawn as a whole, which takes 3 MB."""
PART = 500
"""So many rows are drawn of a larger one, if its levels allow that."""


def drawn_rows(rows: Sequence[Row], shown: Shown) -> list[Row]:
    """Return the rows to draw, parents before children; ``rows``: all of them, likewise.

    Of a tree that is too large these are a queue, those above it, and of those below it as many levels as fit. The
    queue is the one that the address names, or the one above the queue that is looked for or unfolded, or the root.
    """
    if len(rows) <= MOST:
        return list(rows)
    by_pk = {row.pk: row for row in rows}
    top = _top(rows, by_pk, shown)
    above = set[int]()
    at: int | None = top
    while at is not None and at in by_pk:
        above.add(at)
        at = by_pk[at].of.placed.above
    inside, below = {top}, list[Row]()
    for row in rows:
        if row.of.placed.above in inside:
            inside.add(row.pk)
            below.append(row)
    level = _deepest(below)
    chosen = by_pk.get(shown.queue)
    return [
        row
        for row in rows
        if row.pk in above or (row.pk in inside and row.level <= level) or (chosen is not None and row.pk == chosen.pk)
    ]


def undrawn(rows: Sequence[Row], drawn: Sequence[Row]) -> frozenset[int]:
    """Return the queues (pks) that are drawn, but nothing of what they hold."""
    if len(rows) == len(drawn):
        return frozenset()
    return frozenset(row.pk for row in drawn if row.fold.holds) - {row.of.placed.above for row in drawn}


def _top(rows: Sequence[Row], by_pk: dict[int, Row], shown: Shown) -> int:
    if shown.inside in by_pk:
        return shown.inside
    wanted = next((row for row in rows if row.of.path == shown.path), None) if shown.path else by_pk.get(shown.queue)
    if wanted is None:
        return rows[0].pk
    return wanted.pk if wanted.fold.holds else wanted.of.placed.above or rows[0].pk


def _deepest(below: Sequence[Row]) -> int:
    """The deepest level that is drawn of these rows; the first one always is."""
    counts: dict[int, int] = {}
    for row in below:
        counts[row.level] = counts.get(row.level, 0) + 1
    drawn, level = 0, 0
    for level in sorted(counts):
        drawn += counts[level]
        if drawn + counts.get(level + 1, 0) > PART:
            break
    return level

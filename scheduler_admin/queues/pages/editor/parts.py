"""Which rows of a draft's grid a page draws: all, or of a large tree a part that its address names."""

from collections import Counter
from collections.abc import Mapping, Sequence

from scheduler_admin.queues.drafts.selectors import DraftRow
from scheduler_admin.queues.drafts.tree_document import Placed
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.grid import Row

MOST = 2_000
"""A tree of so many queues is drawn as a whole, which takes 3 MB."""
PART = 500
"""So many rows are drawn of a larger one, if its levels allow that."""


def drawn_places(rows: Sequence[DraftRow], shown: Shown) -> list[int]:
    """Return the places in ``rows`` of those to draw; ``rows``: all of them, parents before children.

    Of a tree that is too large these are a queue, those above it, and of those below it as many levels as fit. The
    queue is the one that the address names, or the one above the queue that is looked for or unfolded, or the root.
    """
    if len(rows) <= MOST:
        return list(range(len(rows)))
    queues = [row.placed for row in rows]
    place_of = {one.pk: place for place, one in enumerate(queues)}
    top = _top(queues, place_of, shown)
    drawn = set[int]()
    at: int | None = top
    while at is not None and at in place_of:
        drawn.add(place_of[at])
        at = queues[place_of[at]].above
    inside, below = {top}, list[int]()
    for place, one in enumerate(queues):
        if one.above in inside:
            inside.add(one.pk)
            below.append(place)
    deepest = _deepest(Counter([queues[place].depth for place in below]))
    drawn.update(place for place in below if queues[place].depth <= deepest)
    if shown.queue in place_of:
        drawn.add(place_of[shown.queue])
    return sorted(drawn)


def undrawn(drawn: Sequence[Row], *, whole: bool) -> frozenset[int]:
    """Return the queues (pks) that are drawn, but nothing of what they hold; ``whole``: all queues are drawn."""
    if whole:
        return frozenset()
    return frozenset(row.pk for row in drawn if row.fold.holds) - {row.of.placed.above for row in drawn}


def _top(queues: Sequence[Placed], place_of: Mapping[int, int], shown: Shown) -> int:
    if shown.inside in place_of:
        return shown.inside
    first = queues[0].pk
    if shown.path:
        wanted = next((one for one in queues if one.path == shown.path), None)
    else:
        wanted = queues[place_of[shown.queue]] if shown.queue in place_of else None
    if wanted is None:
        return first
    holds = any(one.above == wanted.pk for one in queues)
    return wanted.pk if holds else wanted.above or first


def _deepest(counts: Mapping[int, int]) -> int:
    """The deepest level that is drawn of rows, of which there are so many by level; the first one always is."""
    drawn, level = 0, 0
    for level in sorted(counts):
        drawn += counts[level]
        if drawn + counts.get(level + 1, 0) > PART:
            break
    return level

"""The queues of a draft as this process read them last: an act changes a few of a thousand."""

from collections.abc import Mapping
from functools import partial

from django.db import transaction
from django.db.models import Count, Sum

from scheduler_admin.queues.drafts.kept import kept_of
from scheduler_admin.queues.drafts.tree_document import Placed, placed, placed_in_base, rows_of_base
from scheduler_admin.queues.models import Draft, DraftQueue

_FEW = 100
"""Of rows that are read by their keys rather than all at once."""


def rows_of(draft: Draft) -> dict[int, DraftQueue]:
    """All queues of a draft by their keys, as they are now.

    To be looked at and never changed: other readers are given the same.
    """
    kept = kept_of(draft).rows
    rows = _renewed(draft, dict(kept)) if kept else {row.pk: row for row in draft.queues.all()}
    transaction.on_commit(partial(_keep, kept, rows))  # what is taken back never was
    return rows


def placed_rows(draft: Draft) -> list[Placed]:
    """The same in their places; of those that stayed as and where they were, what was worked out is still known."""
    if draft.pk < 0:  # nobody changed it yet: see unstarted
        return [placed_in_base(row) for row in rows_of_base(draft)]
    known = kept_of(draft).placed
    found = placed(rows_of(draft).values(), dict(known))
    known.clear()
    known.update((one.pk, one) for one in found)
    return found


def _keep(kept: dict[int, DraftQueue], rows: dict[int, DraftQueue]) -> None:
    kept.clear()
    kept.update(rows)


def _renewed(draft: Draft, had: dict[int, DraftQueue]) -> dict[int, DraftQueue]:
    """The same as they are now. Acts count versions up, so that what is new has a higher one than all that was known.

    Where that does not come to as many rows, of as many versions together, as there are, each of them is asked for.
    """
    there = draft.queues.aggregate(rows=Count("id"), versions=Sum("changed_in"))
    if _summed(had) == there:
        return had
    newest = max(row.changed_in for row in had.values())
    found = had | {row.id: row for row in draft.queues.filter(changed_in__gt=newest)}
    if _summed(found) != there:
        return _compared(draft, had)
    return found if len(found) == len(had) else dict(sorted(found.items()))  # one may be back under its own key


def _summed(rows: Mapping[int, DraftQueue]) -> dict[str, int]:
    return {"rows": len(rows), "versions": sum(row.changed_in for row in rows.values())}


def _compared(draft: Draft, had: dict[int, DraftQueue]) -> dict[int, DraftQueue]:
    stamps = list(draft.queues.values_list("pk", "changed_in"))
    stale = [pk for pk, changed_in in stamps if pk not in had or had[pk].changed_in != changed_in]
    if stale:
        fresh = draft.queues.filter(pk__in=stale) if len(stale) <= _FEW else draft.queues.all()
        had |= {row.pk: row for row in fresh}
    return {pk: had[pk] for pk, _changed_in in stamps if pk in had}  # one may have gone meanwhile

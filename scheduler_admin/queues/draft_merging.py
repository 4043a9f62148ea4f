"""A draft brought onto the revision that was published meanwhile: all changes of both; what both changed is chosen."""

from typing import Any, Literal

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engine.formats.form import write_queue
from engine.merging import EXISTS, Merged, merge
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services import record
from scheduler_admin.queues.draft_form import assign, fields_of, flat_draft, flat_tree, queues_of
from scheduler_admin.queues.drafting import changed, locked, subtree
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.services import tree_of

Side = Literal["mine", "theirs"]


@transaction.atomic
def merge_draft(*, draft: Draft, actor: User) -> Draft:
    """Put the revision in force under the draft. What both changed stays as the draft has it, in ``conflicts``."""
    draft = locked(draft)
    current = draft.hierarchy.current
    if current is None or not draft.outdated:
        return draft
    base, theirs = tree_of(draft.base), tree_of(current)
    mine, rows = flat_draft(queues_of(draft), base)
    merged = merge(flat_tree(base), flat_tree(theirs), mine)
    gone = [row.pk for identity, row in rows.items() if identity not in merged.queues]
    rows = _put(draft, merged, mine, rows)
    for identity, row in rows.items():
        row.origin = identity if identity in theirs else ""
    draft.conflicts = [_stored(one, rows) for one in msgspec.to_builtins(merged.conflicts)]
    draft.base = current
    draft.save(update_fields=["conflicts", "base"])
    draft = changed(draft, actor, *rows.values())
    DraftQueue.objects.filter(pk__in=gone).delete()
    record(actor=actor, verb="draft.merge", target=str(draft), details={"base": str(current)})
    return draft


def _put(
    draft: Draft, merged: Merged, mine: dict[str, dict[str, str]], rows: dict[str, DraftQueue]
) -> dict[str, DraftQueue]:
    """The rows of the merged tree: those of mine with what was merged into them, and new ones."""
    found: dict[str, DraftQueue] = {}
    for identity, settings in merged.queues.items():
        row = rows.get(identity) or DraftQueue.objects.create(draft=draft, name=settings["name"])
        had = mine.get(identity, {})
        for setting in dict.fromkeys((*settings, *had)):
            if setting not in ("name", "parent") and settings.get(setting) != had.get(setting):
                assign(row, setting, settings.get(setting, ""))
        row.name = settings["name"]
        found[identity] = row
    for identity, settings in merged.queues.items():
        found[identity].parent = found[settings["parent"]] if "parent" in settings else None
    return found


def _stored(conflict: dict[str, Any], rows: dict[str, DraftQueue]) -> dict[str, Any]:
    row = rows.get(conflict["queue"])
    return conflict | {"row": row.pk if row else None}


@transaction.atomic
def choose(*, draft: Draft, queue: str, setting: str, side: Side, actor: User) -> Draft:
    """Settle what both changed: one setting of a queue (as it stands in ``conflicts``), or whether it is there.

    What is no conflict any more is left alone. Raises ValidationError where the parent of a queue to be put back is
    gone itself.
    """
    draft = locked(draft)
    found = next((one for one in draft.conflicts if (one["queue"], one["setting"]) == (queue, setting)), None)
    if found is None:
        return draft
    draft.conflicts = [one for one in draft.conflicts if one is not found]
    draft.save(update_fields=["conflicts"])
    row = draft.queues.filter(pk=found["row"]).first()
    if setting == EXISTS:
        if found[side] and row is None:
            row = _put_back(draft, queue)
        elif not found[side] and row is not None:
            DraftQueue.objects.filter(pk__in=[one.pk for one in subtree(draft, row)]).delete()
            row = None
    elif row is not None:
        assign(row, setting, found[side])
    return changed(draft, actor, *([row] if row else []))


def _put_back(draft: Draft, path: str) -> DraftQueue:
    queue = tree_of(draft.base)[path]
    parent = draft.queues.filter(origin=queue.parent or "").first()
    if parent is None:
        raise ValidationError(_("Its parent %(queue)s is gone: settle that first.") % {"queue": queue.parent})
    return DraftQueue(draft=draft, parent=parent, name=queue.name, origin=path, **fields_of(write_queue(queue)))

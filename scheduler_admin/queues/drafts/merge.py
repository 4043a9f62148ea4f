"""A draft brought onto the revision that was published meanwhile: all changes of both; what both changed is chosen."""

from typing import Any, Literal

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from engine.formats.tree_json.diff import renamed_paths
from engine.formats.tree_json.document import write_queue
from engine.tree.three_way_merge import EXISTS, Merged, merge
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.queues.drafts.edits import is_below, subtree
from scheduler_admin.queues.drafts.paths import joined, remember_path
from scheduler_admin.queues.drafts.storage import changed, locked
from scheduler_admin.queues.drafts.texts import listed, typed
from scheduler_admin.queues.drafts.tree_document import DRAFT, PLACE, assign, flat_draft, flat_tree, queues_of, text_of
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.queues.subtrees import FOREIGN, GIVEN

Side = Literal["mine", "theirs"]


@transaction.atomic
def merge_draft(*, draft: Draft, actor: User) -> Draft:
    """Put the revision in force under the draft. What both changed stays as the draft has it, in ``conflicts``.

    Raises ValidationError where the last merge left any: they would count as the draft's own changes, unasked.
    """
    draft = locked(draft)
    current = draft.hierarchy.current
    if current is None or not draft.outdated:
        return draft
    if draft.conflicts:
        raise ValidationError(_("Resolve the conflicts first."))
    known = renamed_paths(tree_of(draft.base), tree_of(current))
    now = {was: path for path, was in known.items()}
    theirs = flat_tree(current, known)
    mine, rows = flat_draft(draft, queues_of(draft))
    merged = merge(flat_tree(draft.base), theirs, mine)
    _assign(draft, merged.queues.pop(DRAFT), mine[DRAFT])
    gone = [row for identity, row in rows.items() if identity not in merged.queues]
    rows = _put(draft, merged, mine, rows)
    for identity, row in rows.items():
        row.origin = now.get(identity, identity) if identity in theirs else ""
    found = [_stored(one, rows, now) for one in msgspec.to_builtins(merged.conflicts)]
    for one in merged.conflicts:
        if one.setting in PLACE and one.queue in rows:  # the pods that came meanwhile name theirs
            own = rows[one.queue]
            had = listed(text_of(own, "former_paths"))
            assign(own, "former_paths", joined(dict.fromkeys([*had, own.origin])))
    draft.conflicts = found
    draft.base = current
    draft = changed(draft, actor, *rows.values(), gone=gone)
    record(actor=actor, verb="draft.merge", target=str(draft), details={"base": str(current)})
    return draft


def _put(
    draft: Draft, merged: Merged, mine: dict[str, dict[str, str]], rows: dict[str, DraftQueue]
) -> dict[str, DraftQueue]:
    """The rows of the merged tree: those of mine with what was merged into them, and new ones."""
    found: dict[str, DraftQueue] = {}
    for identity, settings in merged.queues.items():
        row = rows.get(identity) or DraftQueue(draft=draft, name=settings["name"])
        _assign(row, settings, mine.get(identity, {}))
        row.name = settings["name"]
        found[identity] = row
    for identity, settings in merged.queues.items():
        found[identity].parent = found[settings["parent"]] if "parent" in settings else None
    return found


def _assign(row: DraftQueue | Draft, settings: dict[str, str], had: dict[str, str]) -> None:
    for setting in dict.fromkeys((*settings, *had)):
        if setting not in ("name", "parent") and settings.get(setting) != had.get(setting):
            assign(row, setting, settings.get(setting, ""))


def _stored(conflict: dict[str, Any], rows: dict[str, DraftQueue], now: dict[str, str]) -> dict[str, Any]:
    """A conflict with the row that it is about, and with queues by their paths in the revision that is in force."""
    row = rows.get(conflict["queue"])
    paths = ("queue", "base", "theirs", "mine") if conflict["setting"] == "parent" else ("queue",)
    renamed = {name: now.get(conflict[name], conflict[name]) for name in paths}
    return conflict | renamed | {"row": row.pk if row else None}


@transaction.atomic
def choose(*, draft: Draft, queue: str, setting: str, side: Side, actor: User) -> Draft:
    """Settle what both changed: one setting of a queue (as it stands in ``conflicts``), or whether it is there.

    Choosing mine keeps what the draft says by now. What is no conflict any more is left alone. Raises ValidationError
    for what is not the actor's to change.
    """
    draft = locked(draft)
    found = next((one for one in draft.conflicts if (one["queue"], one["setting"]) == (queue, setting)), None)
    if found is None:
        return draft
    scope = scope_of(actor, "edit")
    if not scope.may_change(queue):
        raise ValidationError(_(GIVEN) if scope.has_path(queue) else _(FOREIGN))
    draft.conflicts = [one for one in draft.conflicts if one is not found]
    if queue == DRAFT:
        if side == "theirs":
            assign(draft, setting, found["theirs"])
        return changed(draft, actor)
    row = draft.queues.filter(Q(pk=found["row"]) | Q(origin=queue)).first()
    if setting == EXISTS:
        return _settle(draft, row, found, side, actor)
    if side == "mine" or row is None:
        return changed(draft, actor)
    if setting == "parent":
        _put_below(draft, row, found["theirs"])
    else:
        assign(row, setting, found["theirs"])
    return changed(draft, actor, row, *(remember_path(draft, row) if setting in PLACE else ()))


def _put_below(draft: Draft, row: DraftQueue, path: str) -> None:
    """Move a queue below another of the base. Raises ValidationError where that is gone, or lies below the queue."""
    parent = draft.queues.filter(origin=path).first()
    if parent is None:
        raise ValidationError(_("This draft no longer contains queue %(name)s.") % {"name": path})
    if is_below(draft, parent, row):
        raise ValidationError(_("A queue can't be moved below itself."))
    row.parent = parent


def _settle(draft: Draft, row: DraftQueue | None, conflict: dict[str, Any], side: Side, actor: User) -> Draft:
    """Whether a queue is there: it is deleted with all below it, or put back."""
    gone = subtree(draft, row) if row is not None and not conflict[side] else []
    back = _put_back(draft, conflict["queue"]) if row is None and side == "theirs" and conflict["theirs"] else []
    return changed(draft, actor, *back, gone=gone)


def _put_back(draft: Draft, path: str) -> list[DraftQueue]:
    """A queue of the base, after those above it that are gone as well."""
    tree, there = tree_of(draft.base), {row.origin: row for row in draft.queues.exclude(origin="")}
    made = []
    for each in reversed(tree.lineage(path)):
        if each not in there:
            parent = there[tree[each].parent or ""]
            texts = typed(write_queue(tree[each]))
            there[each] = DraftQueue(draft=draft, parent=parent, name=tree[each].name, origin=each, settings=texts)
            made.append(there[each])
    return made

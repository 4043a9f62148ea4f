"""What may be done to a draft by REST. Each action is done to the draft as it was read, with nobody else at it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.drafts import copies, edits, merge, undo
from scheduler_admin.queues.drafts.storage import said, said_itself
from scheduler_admin.queues.drafts.terms import set_term
from scheduler_admin.queues.drafts.tree_document import PLACEMENT, queues_of, text_of
from scheduler_admin.queues.models import Draft, DraftQueue

Given = Mapping[str, Any]
Action = Callable[[Draft, User, Given], int | None]
"""Does it as a body says; the row that it was about. Raises what the services raise."""


def _row(draft: Draft, given: Given, member: str = "queue") -> DraftQueue:
    """The queue that a body names. Raises ValidationError."""
    found = next((one.row for one in queues_of(draft) if one.path == given[member]), None)
    if found is None:
        raise ValidationError({member: _("Queue %(name)s does not exist.") % {"name": given[member]}})
    return found


@transaction.atomic
def _edit(draft: Draft, actor: User, given: Given) -> int | None:
    row = _row(draft, given) if given["queue"] else None
    for setting, text in given["settings"].items():
        try:
            _set(draft, row, setting, text, actor)
        except ValidationError as error:
            place = setting.replace("~", "~0").replace("/", "~1")
            raise ValidationError({f"settings/{place}": error.messages}) from error
    return row.pk if row else None


def _set(draft: Draft, row: DraftQueue | None, setting: str, text: str, actor: User) -> None:
    """``was`` is what it says now: that this is what its writer read was seen by the draft's version."""
    if row is None:
        set_term(draft=draft, setting=setting, text=text, was=_said(draft, setting), actor=actor)
    else:
        edits.edit(draft=draft, row=row.pk, setting=setting, text=text, was=_said(row, setting), actor=actor)


def _said(holder: Draft | DraftQueue, setting: str) -> str:
    """What a setting says now: one set before it may have changed it, as a policy does the dialect."""
    now = said_itself(Draft.objects.get(pk=holder.pk)) if isinstance(holder, Draft) else said(holder)
    return str(now.get(setting, ""))


def _place(draft: Draft, actor: User, given: Given) -> None:
    text = json.dumps(given["placement"], sort_keys=True, separators=(",", ":")) if given["placement"] else ""
    set_term(draft=draft, setting=PLACEMENT, text=text, was=text_of(draft, PLACEMENT), actor=actor)


def _add(draft: Draft, actor: User, given: Given) -> int:
    above = _row(draft, given, "parent")
    return edits.add(draft=draft, parent=above.pk, name=given["name"], actor=actor)[1].pk


def _rename(draft: Draft, actor: User, given: Given) -> int:
    row = _row(draft, given)
    edits.rename(draft=draft, row=row.pk, name=given["name"], was=row.name, actor=actor)
    return row.pk


def _move(draft: Draft, actor: User, given: Given) -> int:
    row, above = _row(draft, given), _row(draft, given, "parent")
    edits.move(draft=draft, row=row.pk, parent=above.pk, was=row.parent_id or 0, actor=actor)
    return row.pk


def _copy(draft: Draft, actor: User, given: Given) -> int:
    row, above = _row(draft, given), _row(draft, given, "parent")
    return copies.copy(draft=draft, row=row.pk, parent=above.pk, actor=actor)[1].pk


def _delete(draft: Draft, actor: User, given: Given) -> None:
    edits.delete(draft=draft, row=_row(draft, given).pk, version=draft.version, actor=actor)


def _undo(draft: Draft, actor: User, _given: Given) -> int | None:
    return undo.undo(draft=draft, actor=actor)[1]


def _redo(draft: Draft, actor: User, _given: Given) -> int | None:
    return undo.redo(draft=draft, actor=actor)[1]


def _merge(draft: Draft, actor: User, _given: Given) -> None:
    merge.merge_draft(draft=draft, actor=actor)


def _choose(draft: Draft, actor: User, given: Given) -> None:
    found = {name: given[name] for name in ("queue", "setting", "side")}
    merge.choose(draft=draft, actor=actor, **found)


def _approve(draft: Draft, actor: User, _given: Given) -> None:
    edits.approve(draft=draft, version=draft.version, actor=actor)


ACTIONS: dict[str, Action] = {
    "edit": _edit,
    "set-placement": _place,
    "add": _add,
    "rename": _rename,
    "move": _move,
    "copy": _copy,
    "delete": _delete,
    "undo": _undo,
    "redo": _redo,
    "merge": _merge,
    "resolve-conflict": _choose,
    "approve": _approve,
}
"""Their bodies are draft_serializers.BODIES."""

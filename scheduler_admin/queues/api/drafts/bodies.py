"""What is told of a draft, as far as its reader sees it."""

from collections.abc import Iterable
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from engine.model.notes import Note
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.queues.api.drafts.serializers import DraftSerializer
from scheduler_admin.queues.api.proposals import differing
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.drafts.selectors import DraftRow, DraftState
from scheduler_admin.queues.drafts.storage import said, said_itself
from scheduler_admin.queues.drafts.summaries import DraftSummary, summaries
from scheduler_admin.queues.drafts.tree_document import DRAFT, PLACEMENT, text_of
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.notes import remedy, setting_of
from scheduler_admin.queues.notes import said as sentence
from scheduler_admin.rest.locations import location

_PLACE = {"parent", "name", "origin"}
_BESIDE = {"base_id", "conflicts", PLACEMENT}
_UNSEEN = "namespaces"
"""Of a queue; some of its namespaces may be another tenant's."""


def in_lines(user: Who, drafts: Iterable[Draft]) -> list[DraftSummary]:
    """Each, as far as the user sees it."""
    sees = scope_of(user, "view")
    return [summary.part(sees) for summary in summaries(drafts)]


def created(request: Request, user: Who, draft: Draft) -> Response:
    """Return the answer to a request that made a draft."""
    place = location(request, "draft-detail", name=draft.hierarchy.name, pk=draft.pk)
    return Response(whole(user, draft), status=201, headers={"ETag": selectors.tag(draft), **place})


def whole(user: Who, draft: Draft) -> dict[str, Any]:
    """All that there is to say about a draft."""
    sees = scope_of(user, "view")
    state = selectors.state_for(user, draft, editable=selectors.may_edit(user, draft))
    steps = selectors.steps(user, draft)
    beside = {name: str(text) for name, text in said_itself(draft).items() if name not in _BESIDE}
    return {
        **DraftSerializer(state).data,
        "settings": {name: text for name, text in beside.items() if sees.everything or "capacity" not in name},
        "placement": draft.placement if sees.everything else None,
        "queues": [_queue(row, sees) for row in state.rows],
        "findings": [_note(note, state) for note in state.notes],
        "changes": differing(state.changes, state.beside),
        "conflicts": _conflicts(state, sees),
        "undoable": steps.undo,
        "redoable": steps.redo,
    }


def _queue(row: DraftRow, sees: Scope) -> dict[str, Any]:
    found = {name: text for name, text in said(row.placed.row).items() if text and name not in _PLACE}
    if not sees.everything:
        found.pop(_UNSEEN, None)
    return {"path": row.path, "base_path": row.placed.row.origin or None, "leaf": row.leaf, "settings": found}


def _note(note: Note, state: DraftState) -> dict[str, Any]:
    told = {"severity": note.severity.value, "queue": note.path, "sentence": sentence(note), "remedy": remedy(note)}
    return {**told, "pointer": _pointer(note, state)}


def _pointer(note: Note, state: DraftState) -> str:
    """To the queue, or to the setting; one that is not set has its place all the same."""
    setting = setting_of(note)
    at = next((index for index, row in enumerate(state.rows) if note.path and row.path == note.path), None)
    index = note.index if note.index is not None else at
    if index is None and setting.startswith(PLACEMENT):
        return f"/{note.field}"
    above = "" if index is None else f"/queues/{index}"
    return f"{above}/settings/{setting.replace('~', '~0').replace('/', '~1')}" if setting else above


def _conflicts(state: DraftState, sees: Scope) -> list[dict[str, Any]]:
    """What a merge left; ``mine`` is what the draft says by now."""
    rows = {row.placed.row.pk: row.placed.row for row in state.rows}
    found = []
    for one in state.draft.conflicts:
        if not (sees.everything if one["queue"] == DRAFT else sees.has_path(one["queue"])):
            continue
        holder = state.draft if one["queue"] == DRAFT else rows.get(one["row"])
        mine = text_of(holder, one["setting"]) if holder and one["setting"] else one["mine"]
        found.append(
            {name: one[name] for name in ("queue", "setting", "base")} | {"published": one["theirs"], "draft": mine}
        )
    return found

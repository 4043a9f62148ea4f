"""What stands beside a draft's grid: its checks, its changes, and what keeps it from being published."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.model.notes import Note, Severity
from scheduler_admin.core.words import comma
from scheduler_admin.queues.drafts.selectors import DraftRow, DraftState
from scheduler_admin.queues.drafts.texts import setting_named
from scheduler_admin.queues.drafts.tree_document import DRAFT, PLACEMENT, Placed, text_of
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.notes import remedy, said, setting_of
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.grid import Column
from scheduler_admin.queues.presenters.changes import MOST, Lines
from scheduler_admin.queues.presenters.setting_words import setting_name, text_in_words

_KINDS = {Severity.ERROR: "stop", Severity.WARNING: "warn", Severity.INFO: "none"}


@dataclass(frozen=True)
class Place:
    """A queue, or one of its settings, that a check is about."""

    name: str
    """Empty: the whole tree."""
    href: str


@dataclass(frozen=True)
class Check:
    """A line of the panel: a word of state, a sentence, what to do about it, and the places that it is about."""

    kind: str
    word: str
    text: str
    remedy: str
    places: Sequence[Place]
    """At most MOST of them."""
    count: int
    """How many places there are."""


@dataclass(frozen=True)
class Choice:
    """What both changed, as the three say it."""

    queue: str
    setting: str
    place: str
    base: str
    theirs: str
    mine: str


def checks(state: DraftState, columns: Sequence[Column], shown: Shown) -> Lines[Check]:
    """Errors, warnings, what holds: the same sentence once, with all queues and fields that it is about."""
    notes, seen = state.notes, frozenset(column.setting for column in columns)
    about = {note.path for note in notes if note.index is None}
    by_path = {row.placed.path: row.placed for row in state.rows if row.placed.path in about}
    alike: dict[tuple[str, str, str, str], list[Place]] = {}
    for note in notes:
        queue = state.rows[note.index].placed if note.index is not None else by_path.get(note.path)
        alike.setdefault((*_state_of(note), said(note), remedy(note)), []).append(_place(note, queue, seen, shown))
    found = [Check(*line, places=places[:MOST], count=len(places)) for line, places in alike.items()]
    return Lines(found[:MOST], max(0, len(found) - MOST))


def _state_of(note: Note) -> tuple[str, str]:
    """The kind and the word of its state."""
    if note.severity is Severity.INFO and not note.remedy:
        return "ok", _("passed")
    words = {Severity.ERROR: _("error"), Severity.WARNING: _("warning"), Severity.INFO: _("note")}
    return _KINDS[note.severity], words[note.severity]


def _place(note: Note, queue: Placed | None, seen: Collection[str], shown: Shown) -> Place:
    """``seen``: the settings that have a column."""
    setting = setting_of(note)
    href = place = ""
    if queue is not None and (note.remedy or note.severity is not Severity.INFO):
        name = queue.row.name
        # What is found in a tree names the setting itself; what is wrong with a text is about that text alone.
        place = f"{name}, {setting_name(setting)}" if setting and note.index is not None else name
        field = f"f{queue.pk}-{setting}" if setting in seen else f"n{queue.pk}"
        href = f"#{field}"
        if setting not in seen and setting_named(setting) and queue.pk != shown.queue:
            href = f"{shown.address(queue.pk)}#f{queue.pk}-{setting}"
    if setting.startswith("capacity"):
        href = f"#f0-{setting}"
    elif not note.path and setting:
        place = setting_name(setting)
        href = "#draft-placement" if setting.startswith(PLACEMENT) else f"#f0-{setting}"
    return Place(place, href)


def obstacles(state: DraftState) -> str:
    """Why it can't be published as it is, in one sentence; empty: it can."""
    if state.draft.conflicts:
        left = len(state.draft.conflicts)
        text = ngettext(
            "Resolve %(n)s conflict first.",
            "Resolve %(n)s conflicts first.",
            left,
        )
        return text % {"n": left}
    if state.draft.outdated:
        return _("Merge first: this draft is not based on the current revision.")
    if state.errors:
        left, first = len(state.errors), state.errors[0]
        setting = setting_of(first)
        name = first.path.rpartition(".")[2]
        place = comma().join(part for part in (name, setting_name(setting) if setting else "") if part)
        text = ngettext("Fix %(n)s error first: %(place)s.", "Fix %(n)s errors first, starting with %(place)s.", left)
        return text % {"n": left, "place": place}
    return "" if state.differs else _("This draft has no changes yet.")


def choices(state: DraftState) -> list[Choice]:
    """What a merge left to choose from."""
    rows = {row.placed.pk: row.placed for row in state.rows}
    return [_choice(state.draft, one, rows.get(one["row"])) for one in state.draft.conflicts]


def _choice(draft: Draft, one: dict[str, Any], placed: Placed | None) -> Choice:
    setting, path = one["setting"], placed.path if placed else one["queue"]
    if setting:
        holder = draft if one["queue"] == DRAFT else placed.row if placed else None
        mine = text_of(holder, setting) if holder else one["mine"]
        texts = [text_in_words(setting, text) for text in (one["base"], one["theirs"], mine)]
        place = comma().join(part for part in (path, setting_name(setting)) if part)
        return Choice(one["queue"], setting, place, *texts)
    texts = [_("exists") if one[side] else _("deleted") for side in ("base", "theirs", "mine")]
    return Choice(one["queue"], setting, path, *texts)


def below(rows: Sequence[DraftRow], queue: DraftQueue) -> list[DraftRow]:
    """The row of a queue, and those of all below it."""
    place = next(index for index, row in enumerate(rows) if row.placed.pk == queue.pk)
    found = [rows[place]]
    for row in rows[place + 1 :]:
        if row.placed.depth <= found[0].placed.depth:
            break
        found.append(row)
    return found

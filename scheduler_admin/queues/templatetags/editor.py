"""Tags of the editor: the grid's cells, written without templates as there are so many."""

from collections.abc import Sequence

from django import template
from django.utils.safestring import SafeString

from engine.model.notes import Note
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.pages.editor import cells
from scheduler_admin.queues.pages.editor.grid import Field, Row, Wrong
from scheduler_admin.queues.presenters import setting_words as words

register = template.Library()
_MOST_LINES = 8


@register.simple_tag
def field_cell(row: Row, field: Field) -> SafeString:
    """A cell of the grid."""
    return cells.cell(row, field)


@register.simple_tag
def field_control(row: Row, field: Field) -> SafeString | str:
    """Where a setting without a column is typed, or what it says where it may not be edited."""
    return cells.control(row, field) if row.editable else words.text_in_words(field.setting, field.text)


@register.simple_tag
def parent_choices(row: Row, parents: Sequence[Row]) -> SafeString:
    """The queues below which one may be put."""
    return cells.parents(row, parents)


@register.simple_tag
def former_text(field: Field) -> SafeString:
    """What a setting said in the base, where that is something else."""
    return cells.former(field)


@register.simple_tag
def wrong_sentence(row: Row, one: Wrong) -> SafeString:
    """What is wrong, its suggestions as buttons."""
    return cells.wrong(row, one)


@register.filter
def setting_words(setting: str) -> str:
    """A setting's name as people read it."""
    return words.setting_name(setting)


@register.filter
def setting_hint(setting: str) -> str:
    """What a setting does, in a sentence; empty where it needs none."""
    return words.hint(setting)


@register.filter
def note_said(note: Note) -> str:
    """A note in the reader's language."""
    return said(note)


@register.filter
def linecount(text: str) -> int:
    """How many lines a field needs, within reason."""
    return min(max(1, text.count("\n") + 1), _MOST_LINES)

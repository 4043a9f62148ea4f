"""The grid's cells. A thousand queues have eight thousand of them, so they are written here and not by templates."""

from collections.abc import Mapping, Sequence
from html import escape as escaped

from django.utils.html import conditional_escape, escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from scheduler_admin.core.translation import template
from scheduler_admin.queues.pages.editor.grid import Field, Row, Wrong
from scheduler_admin.queues.presenters.setting_words import setting_name, text_in_words

_NOTHING, _DISABLED, _CHOSEN = SafeString(""), SafeString(" disabled"), SafeString(" selected")
_FITS = 9
"""Characters that a field has room for by itself, as in the editor's script."""
_OPTION = '<option value="{}"{}>{}</option>'
# Without a maxlength, which would cut silently what is pasted: the draft says what is too long.
_INPUT = (
    '<input id="{}" name="{}" data-setting aria-label="{}"{} value="{}" placeholder="{}"{}{}'
    ' autocomplete="off" spellcheck="false">'
)
# Off also where it is chosen: else browsers keep every choice anew whenever the address changes.
_SELECT = '<select id="{}" name="{}" data-setting aria-label="{}"{} data-default="{}"{} autocomplete="off">{}</select>'


def cell(row: Row, field: Field) -> SafeString:
    """A cell of the grid: the field, or the mere text where it may not be edited, with what it said before."""
    kinds = [
        kind
        for kind, holds in (
            ("grp", field.column.first),
            ("n", not field.column.options),
            ("chg", field.was is not None),
            ("bad", bool(field.errors)),
        )
        if holds
    ]
    inner = control(row, field) if row.editable else text_in_words(field.setting, field.text)
    return _html('<td role="gridcell" class="{}">{}{}</td>', " ".join(kinds), inner, former(field))


def former(field: Field) -> SafeString:
    """What a percentage comes to, and what it said in the base."""
    amount = format_html('<span class="was">= {}</span>', field.amount) if field.amount else _NOTHING
    if field.was is None:
        return amount
    was = format_html("<del>{}</del>", text_in_words(field.setting, field.was))
    return amount + format_html('<span class="was">{}</span>', _filled(_("was %(text)s"), {"text": was}))


def control(row: Row, field: Field) -> SafeString:
    """Where a setting is typed or chosen. Without JavaScript only the unfolded row's are good for anything."""
    state = format_html(' form="save-{}"', field.row) if row.act else _DISABLED
    if field.errors:
        state += format_html(' aria-invalid="true" aria-describedby="{}"', field.error_id)
    said = (field.id, field.setting, field.label, state)
    text, sentence = field.inherited
    title = _html(' title="{}"', sentence) if sentence else _NOTHING
    if field.options:
        return _html(_SELECT, *said, field.options[0][1], title, _choices(field))
    longest = max(len(field.text), len(text))
    size = _html(' size="{}"', str(longest)) if longest > _FITS else _NOTHING
    return _html(_INPUT, *said, field.text, text or "–", title, size)


def _choices(field: Field) -> SafeString:
    choices = (
        (text, _CHOSEN if text == field.text else _NOTHING, word if text else field.inherited[0] or word)
        for text, word in field.options
    )
    return SafeString("".join(_html(_OPTION, *choice) for choice in choices))


def parents(row: Row, below: Sequence[Row]) -> SafeString:
    """The choices of a queue to put one below, its own parent chosen."""
    choices = ((str(one.pk), _CHOSEN if one.pk == row.of.placed.above else _NOTHING, one.of.path) for one in below)
    return SafeString("".join(_html(_OPTION, *choice) for choice in choices))


def _html(pattern: str, *texts: str) -> SafeString:
    """As format_html, of texts alone, in less than half its time."""
    return SafeString(pattern.format(*(text if isinstance(text, SafeString) else escaped(text) for text in texts)))


def wrong(row: Row, one: Wrong) -> SafeString:
    """An error in words; what it suggests are buttons that put it in."""
    words: dict[str, SafeString | str] = {name: str(value) for name, value in one.note.message.params.items()}
    if row.editable and one.field is not None:
        words |= {name: _suggestion(one.setting, words[name]) for name in ("one", "other") if name in words}
    sentence = _filled(template(one.note.message), words)
    if one.field is None and one.setting:  # it stands below the queue's name, not at its field
        return format_html("{}: {}", setting_name(one.setting), sentence)
    return sentence


def _suggestion(setting: str, text: str) -> SafeString:
    return format_html('<button class="link" name="{}" value="{}">{}</button>', setting, text, text)


def _filled(sentence: str, words: Mapping[str, SafeString | str]) -> SafeString:
    return mark_safe(escape(sentence) % {name: conditional_escape(word) for name, word in words.items()})  # noqa: S308 - escaped

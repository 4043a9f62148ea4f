"""The grid's cells. A thousand queues have eight thousand of them, so they are written here and not by templates."""

from collections.abc import Mapping

from django.utils.html import conditional_escape, escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from scheduler_admin.web.editor.grid import Field, Row, Wrong
from scheduler_admin.web.editor.words import text_in_words

_NOTHING, _DISABLED = SafeString(""), SafeString(" disabled")
# Without a maxlength, which would cut silently what is pasted: the draft says what is too long.
_INPUT = SafeString(
    '<input id="{}" name="{}" data-setting aria-label="{}"{} value="{}" placeholder="{}"{}'
    ' autocomplete="off" spellcheck="false">'
)


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
    return format_html('<td role="gridcell" class="{}">{}{}</td>', " ".join(kinds), inner, former(field))


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
    title = format_html(' title="{}"', sentence) if sentence else _NOTHING
    if field.options:
        state += format_html(' data-default="{}"{}', field.options[0][1], title)
        said = (*said[:-1], state)
        return format_html(
            '<select id="{}" name="{}" data-setting aria-label="{}"{}>{}</select>', *said, _choices(field)
        )
    return format_html(_INPUT, *said, field.text, text or "–", title)


def _choices(field: Field) -> SafeString:
    return format_html_join(
        "",
        '<option value="{}"{}>{}</option>',
        (
            (text, SafeString(" selected") if text == field.text else "", word if text else field.inherited[0] or word)
            for text, word in field.options
        ),
    )


def wrong(row: Row, one: Wrong) -> SafeString:
    """An error in words; what it suggests are buttons that put it in."""
    words: dict[str, SafeString | str] = dict(one.note.params)
    if row.editable and one.field is not None:
        words |= {name: _suggestion(one.setting, words[name]) for name in ("one", "other") if name in words}
    return _filled(_(one.note.message), words)


def _suggestion(setting: str, text: str) -> SafeString:
    return format_html('<button class="link" name="{}" value="{}">{}</button>', setting, text, text)


def _filled(sentence: str, words: Mapping[str, SafeString | str]) -> SafeString:
    return mark_safe(escape(sentence) % {name: conditional_escape(word) for name, word in words.items()})  # noqa: S308 - escaped

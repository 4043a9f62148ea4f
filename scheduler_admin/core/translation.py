"""Messages of the engine in the reader's language, as plain text and for pages."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import reduce

from django.utils.html import conditional_escape, escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.model.message import After, Before, Cores, Message, Name, Param, Timestamp, Topic

_TAGS: dict[type, str] = {Name: "code", Topic: "b", Before: "del", After: "ins"}
"""How pages mark what a parameter is."""


def text(message: Message) -> str:
    """Return the message as plain text in the active language.

    Without parameters it may be another's text, with a per cent sign in it.
    """
    params = {name: _plain(value) for name, value in message.params.items()}
    return template(message) % params if params else template(message)


def join_sentences(messages: Iterable[Message]) -> str:
    """Return whole sentences as one plain text: English has a blank between two of them, Chinese has none."""
    return reduce(_joined, map(text, messages), "")


def _joined(before: str, after: str) -> str:
    return _("%(before)s %(after)s") % {"before": before, "after": after} if before else after


def html(message: Message) -> SafeString:
    """Return the message for a page: names in a fixed-width type, moments as times that the browser localises."""
    params = {name: _marked(value) for name, value in message.params.items()}
    found = escape(template(message))
    return mark_safe(found % params if params else found)  # noqa: S308 - the template is escaped, and every parameter


def marked_up(sentence: str, **params: str | int) -> SafeString:
    """Return a translated sentence that has tags of its own for a page, with its parameters escaped and filled in."""
    escaped = {name: value if isinstance(value, int) else conditional_escape(value) for name, value in params.items()}
    return mark_safe(sentence % escaped)  # noqa: S308 - the translation is ours, and every parameter is escaped


def template(message: Message) -> str:
    """Return the text of a message in the active language, its parameters not filled in."""
    if message.count is not None:
        return ngettext(message.id, message.plural, message.count)
    return _(message.id) if message.id else ""  # gettext of nothing is the catalog's head


def _plain(value: Param) -> str:
    if isinstance(value, Timestamp):
        return f"{_utc(value):%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, Cores):
        return ngettext("%(n)s core", "%(n)s cores", value) % {"n": int(value)}
    return str(value)


def _marked(value: Param) -> SafeString:
    if isinstance(value, Timestamp):
        at = _utc(value)
        return format_html(
            '<time datetime="{}" title="{}" data-clock>{}</time>', at.isoformat(), _plain(value), f"{at:%H:%M:%S} UTC"
        )
    tag = _TAGS.get(type(value))
    return format_html(f"<{tag}>{{}}</{tag}>", value) if tag else escape(_plain(value))


def _utc(value: Timestamp) -> datetime:
    return datetime.fromtimestamp(value / 1000, UTC)

"""Reading of a queue's settings in the product's own format; a value that can't be read is an error and stays unset."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.durations import DurationError, parse_duration
from engine.formats.tree_json.percentages import is_share, read_share
from engine.formats.tree_json.weights import read_weight
from engine.model.message import gettext_noop
from engine.model.notes import DocumentPlace, NoteCollector
from engine.model.quantities import Amounts, is_resource_name
from engine.model.queue_settings import SETTINGS, TEMPLATE_SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import LONGEST_DELAY_MS, Queue, Settings, Shares

FIELDS = ("path", *(setting.name for setting in SETTINGS), "template")
"""The members of a queue."""
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")
_Read = Callable[[Any, QueueSetting, DocumentPlace, NoteCollector], dict[str, Any]]
"""Returns the fields of Queue that a value gives; none if it can't be read."""


def read_settings(fields: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> Queue:
    """Return the queue at ``place``; each invalid setting is an error at its place."""
    note_unknown(fields, FIELDS, place, book)
    template = _template(fields.get("template"), place.at("template"), book)
    return Queue(path=place.path, template=template, **read_values(fields, SETTINGS, place, book))


def note_unknown(mapping: Mapping[Any, Any], known: Iterable[str], place: DocumentPlace, book: NoteCollector) -> None:
    """Add an error for every member that is not a known setting."""
    for name in sorted({str(key) for key in mapping} - set(known)):
        message = gettext_noop("%(name)s is not a known setting. Known settings: %(known)s.")
        book.error(place.at(name), message, name=name, known=", ".join(known))


def read_values(
    values_by_name: Mapping[str, Any], settings: Iterable[QueueSetting], place: DocumentPlace, book: NoteCollector
) -> dict[str, Any]:
    """Return what is given of these settings, as fields of Queue; each invalid value is an error at its place."""
    read: dict[str, Any] = {}
    for setting in settings:
        if (value := values_by_name.get(setting.name)) is not None:
            read |= _READERS[setting.kind](value, setting, place, book)
    return read


def _template(fields: Any, place: DocumentPlace, book: NoteCollector) -> Settings | None:
    if fields is None:
        return None
    if not isinstance(fields, Mapping):
        book.error(place, gettext_noop("%(key)s must be a mapping."), key="template")
        return None
    note_unknown(fields, [setting.name for setting in TEMPLATE_SETTINGS], place, book)
    return Settings(**read_values(fields, TEMPLATE_SETTINGS, place, book))


def read_capacity(document: Mapping[str, Any], book: NoteCollector) -> Amounts:
    """Return the amounts that a document gives as the base of percentages of the cluster."""
    if (listed := document.get("capacity")) is None:
        return {}
    message = gettext_noop("The capacity that percentages refer to must be an amount, not a percentage.")
    return _plain_amounts(listed, "capacity", DocumentPlace(), book, message)


def _read_amounts(listed: Any, setting: QueueSetting, place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    if not setting.share_attribute:
        message = gettext_noop("Percentages are not allowed here. Enter an amount.")
        return {setting.attribute: _plain_amounts(listed, setting.name, place, book, message)}
    amounts, shares = _amounts(listed, setting.name, place, book)
    return {setting.attribute: amounts, setting.share_attribute: shares}


def _plain_amounts(listed: Any, key: str, place: DocumentPlace, book: NoteCollector, message: str) -> Amounts:
    """Return amounts that can't be given as shares; each share is an error with this message."""
    amounts, shares = _amounts(listed, key, place, book)
    for resource in shares:
        book.error(place.at(key, resource), message)
    return amounts


def _amounts(listed: Any, key: str, place: DocumentPlace, book: NoteCollector) -> tuple[Amounts, Shares]:
    """Return the values that are amounts, and those that are shares."""
    if not isinstance(listed, Mapping):
        book.error(place.at(key), gettext_noop("%(key)s must be a mapping."), key=key)
        return {}, {}
    amounts: Amounts = {}
    shares: Shares = {}
    for resource, value in listed.items():
        if not is_resource_name(resource):
            message = gettext_noop("%(name)s is not a valid resource name.")
            book.error(place.at(key, resource), message, name=repr(resource))
        elif isinstance(value, bool) or not isinstance(value, str | int | float):
            book.error(place.at(key, resource), gettext_noop("An amount must be a string or a number."))
        else:
            try:
                if is_share(str(value)):
                    shares[resource] = read_share(str(value))
                else:
                    amounts[resource] = read_amount(resource, str(value))
            except AmountError as error:
                book.error(place.at(key, resource), error.sentence)
    return amounts, shares


def _read_choice(value: Any, setting: QueueSetting, place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    for known in setting.values:
        if value == known:
            return {setting.attribute: known}
    if value != "":
        message = gettext_noop("%(value)s is not allowed. Allowed values: %(known)s.")
        book.error(place.at(setting.name), message, value=str(value), known=", ".join(setting.values))
    return {}


def _read_duration(value: Any, setting: QueueSetting, place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    if value == "":
        return {}
    try:
        milliseconds = parse_duration(str(value))
    except DurationError:
        milliseconds = 0
    if 0 < milliseconds <= LONGEST_DELAY_MS:
        return {setting.attribute: milliseconds}
    if _INTEGER.fullmatch(str(value)) and int(value) > 0:
        message = gettext_noop("%(value)s is not a valid duration. Did you mean %(one)s?")
        book.error(place.at(setting.name), message, value=str(value), one=f"{value}s")
    else:
        message = gettext_noop(
            "%(value)s is not a valid duration. Enter a duration above zero and up to 24 days, for example 1m30s."
        )
        book.error(place.at(setting.name), message, value=str(value))
    return {}


def _read_integer(value: Any, setting: QueueSetting, place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    text = str(value)
    if text == "":
        return {}
    if isinstance(value, bool) or not is_int32(text):
        message = gettext_noop("%(value)s is not a 32-bit integer.")
        book.error(place.at(setting.name), message, value=text)
        return {}
    return {setting.attribute: int(text)}


def is_int32(text: str) -> bool:
    """Return whether a text is a whole number of 32 bits, with or without a sign."""
    return _INTEGER.fullmatch(text) is not None and -(2**31) <= int(text) < 2**31


def _read_flag(value: Any, setting: QueueSetting, place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    if isinstance(value, bool):
        return {setting.attribute: value}
    book.error(place.at(setting.name), gettext_noop("%(key)s must be true or false."), key=setting.name)
    return {}


def _read_weight(value: Any, setting: QueueSetting, place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    if value == "":
        return {}
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        book.error(place.at(setting.name), gettext_noop("A weight must be a string or a number."))
        return {}
    try:
        return {setting.attribute: read_weight(str(value))}
    except AmountError as error:
        book.error(place.at(setting.name), error.sentence)
        return {}


def _read_names(value: Any, setting: QueueSetting, place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    """Read a list of names without duplicates; each name that is not allowed is an error at its place."""
    assert setting.is_allowed is not None
    if not isinstance(value, list):
        book.error(place.at(setting.name), gettext_noop("%(key)s must be a list."), key=setting.name)
        return {}
    names = []
    for index, name in enumerate(value):
        if isinstance(name, str) and setting.is_allowed(name):
            names.append(name)
        else:
            book.error(place.at(setting.name, str(index)), setting.not_allowed, name=repr(name))
    return {setting.attribute: tuple(dict.fromkeys(names))}


_READERS: Mapping[Kind, _Read] = {
    Kind.AMOUNTS: _read_amounts,
    Kind.CHOICE: _read_choice,
    Kind.DURATION: _read_duration,
    Kind.INTEGER: _read_integer,
    Kind.FLAG: _read_flag,
    Kind.WEIGHT: _read_weight,
    Kind.NAMES: _read_names,
}

"""Reading of a queue's settings in the product's own format; a value that can't be read is an error and stays unset."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.durations import DurationError, parse_duration
from engine.formats.tree_json.percentages import is_share, read_share
from engine.formats.tree_json.weights import read_weight
from engine.model.notes import DocumentPlace, NoteCollector, gettext_noop
from engine.model.quantities import Amounts, is_resource_name
from engine.model.queue_tree import (
    LONGEST_DELAY_MS,
    TAKES_RECLAIM,
    TAKES_WITHIN,
    WEIGHT_ONE,
    PreemptionPolicy,
    PriorityPolicy,
    Queue,
    Settings,
    Shares,
    Take,
    is_namespace,
    is_queue_path,
)

SHARING = ("weight", "lendable", "take_within", "take_reclaim", "take_borrowing", "take_threshold")
"""Settings of how a queue lends, borrows and preempts under policies that lend quota."""
FIELDS = (
    "path",
    "parent",
    "preemption_policy",
    "guaranteed",
    "max",
    "delay",
    "quota_delay",
    "priority_policy",
    "priority_offset",
    "namespaces",
    "former_paths",
    "evict_uncontrolled",
    *SHARING,
    "template",
)
TEMPLATE_FIELDS = (
    "preemption_policy",
    "guaranteed",
    "max",
    "delay",
    "quota_delay",
    "priority_policy",
    "priority_offset",
    "evict_uncontrolled",
    *SHARING,
)
"""Settings of a template: those that queues and templates have in common."""
NO_PATH = gettext_noop("%(name)s can't be the path of a queue: it begins with “root.”, then come names.")
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")
_Choice = TypeVar("_Choice", bound=StrEnum)


def read_settings(given: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> Queue:
    """Return the queue at ``place``; each invalid setting is an error at its place."""
    note_unknown(given, FIELDS, place, book)
    return Queue(
        path=place.path,
        namespaces=_namespaces(given, place, book),
        former_paths=_former_paths(given, place, book),
        parent_declared=_truth(given, "parent", place, book) or False,
        template=_template(given, place, book),
        **_common_settings(given, place, book),
    )


def note_unknown(mapping: Mapping[Any, Any], known: tuple[str, ...], place: DocumentPlace, book: NoteCollector) -> None:
    """Add an error for every member that is not a known setting."""
    for name in sorted({str(key) for key in mapping} - set(known)):
        message = gettext_noop("There is no setting %(name)s. Known are: %(known)s.")
        book.error(place.at(name), message, name=name, known=", ".join(known))


def _template(given: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> Settings | None:
    template = given.get("template")
    if template is None:
        return None
    if not isinstance(template, Mapping):
        book.error(place.at("template"), gettext_noop("%(key)s must be a mapping."), key="template")
        return None
    note_unknown(template, TEMPLATE_FIELDS, place.at("template"), book)
    return Settings(**_common_settings(template, place.at("template"), book))


def _common_settings(given: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    """Return the settings that queues and templates have in common, as fields of Settings."""
    guaranteed, guaranteed_share = _amounts(given, "guaranteed", place, book)
    most, most_share = _amounts(given, "max", place, book)
    return {
        "guaranteed": guaranteed,
        "max": most,
        "guaranteed_share": guaranteed_share,
        "max_share": most_share,
        "preemption_policy": _choice(given, "preemption_policy", PreemptionPolicy.DEFAULT, place, book),
        "delay_ms": _delay(given, "delay", place, book),
        "quota_delay_ms": _delay(given, "quota_delay", place, book),
        "priority_policy": _choice(given, "priority_policy", PriorityPolicy.DEFAULT, place, book),
        "priority_offset": _whole_number(given, "priority_offset", place, book) or 0,
        "evict_uncontrolled": _truth(given, "evict_uncontrolled", place, book) or False,
        **read_sharing(given, place, book),
    }


def read_sharing(given: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> dict[str, Any]:
    """Return how a queue lends, borrows and preempts, as fields of engine.model.queue_tree.Settings."""
    return {
        "weight": _weight(given, place, book),
        "lendable": _plain_amounts(given, "lendable", place, book),
        "take_within": _take(given, "take_within", TAKES_WITHIN, place, book),
        "take_reclaim": _take(given, "take_reclaim", TAKES_RECLAIM, place, book),
        "take_borrowing": _truth(given, "take_borrowing", place, book),
        "take_threshold": _whole_number(given, "take_threshold", place, book),
    }


def _weight(given: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> int:
    value = given.get("weight")
    if value is None or value == "":
        return WEIGHT_ONE
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        book.error(place.at("weight"), gettext_noop("A weight is a text or a number."))
        return WEIGHT_ONE
    try:
        return read_weight(str(value))
    except AmountError as error:
        book.error(place.at("weight"), error.message, **error.params)
        return WEIGHT_ONE


def _take(
    given: Mapping[str, Any], field: str, known: tuple[Take, ...], place: DocumentPlace, book: NoteCollector
) -> Take | None:
    value = given.get(field)
    if value is None or value == "":
        return None
    if value not in known:
        message = gettext_noop("%(value)s is not one of: %(known)s.")
        book.error(place.at(field), message, value=str(value), known=", ".join(known))
        return None
    return Take(value)


def _amounts(given: Mapping[str, Any], field: str, place: DocumentPlace, book: NoteCollector) -> tuple[Amounts, Shares]:
    """Return the values of a field that are amounts, and those that are shares."""
    listed = given.get(field)
    if listed is None:
        return {}, {}
    if not isinstance(listed, Mapping):
        book.error(place.at(field), gettext_noop("%(key)s must be a mapping."), key=field)
        return {}, {}
    amounts: Amounts = {}
    shares: Shares = {}
    for resource, value in listed.items():
        if not is_resource_name(resource):
            message = gettext_noop("%(name)s is not the name of a resource.")
            book.error(place.at(field, resource), message, name=repr(resource))
        elif isinstance(value, bool) or not isinstance(value, str | int | float):
            book.error(place.at(field, resource), gettext_noop("An amount is a text or a number."))
        else:
            try:
                if is_share(str(value)):
                    shares[resource] = read_share(str(value))
                else:
                    amounts[resource] = read_amount(resource, str(value))
            except AmountError as error:
                book.error(place.at(field, resource), error.message, **error.params)
    return amounts, shares


def read_capacity(given: Mapping[str, Any], book: NoteCollector) -> Amounts:
    """Return the amounts that a document gives as the base of percentages of the cluster."""
    message = gettext_noop("What percentages of the cluster are of is an amount itself.")
    return _plain_amounts(given, "capacity", DocumentPlace(), book, message)


def _plain_amounts(
    given: Mapping[str, Any],
    field: str,
    place: DocumentPlace,
    book: NoteCollector,
    message: str = gettext_noop("Percentages can't be said here: give an amount."),
) -> Amounts:
    """Return amounts that can't be given as shares; each share is an error with this message."""
    amounts, shares = _amounts(given, field, place, book)
    for resource in shares:
        book.error(place.at(field, resource), message)
    return amounts


def _choice(
    given: Mapping[str, Any], field: str, default: _Choice, place: DocumentPlace, book: NoteCollector
) -> _Choice:
    value = given.get(field) or default
    try:
        return type(default)(value)
    except ValueError:
        known = ", ".join(type(default))
        message = gettext_noop("%(value)s is not one of: %(known)s.")
        book.error(place.at(field), message, value=str(value), known=known)
        return default


def _delay(given: Mapping[str, Any], field: str, place: DocumentPlace, book: NoteCollector) -> int | None:
    value = given.get(field)
    if value is None or value == "":
        return None
    try:
        milliseconds = parse_duration(str(value))
    except DurationError:
        milliseconds = 0
    if _INTEGER.fullmatch(str(value)) and int(value) > 0:
        message = gettext_noop("%(value)s is not a duration. Did you mean %(one)s?")
        book.error(place.at(field), message, value=str(value), one=f"{value}s")
        return None
    if not 0 < milliseconds <= LONGEST_DELAY_MS:
        message = gettext_noop("%(value)s is not a duration above zero and up to 24 days, such as 1m30s.")
        book.error(place.at(field), message, value=str(value))
        return None
    return milliseconds


def _whole_number(given: Mapping[str, Any], field: str, place: DocumentPlace, book: NoteCollector) -> int | None:
    value = given.get(field)
    if value is None or value == "":
        return None
    text = str(value)
    if isinstance(value, bool) or not _INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        message = gettext_noop("%(value)s is not a whole number of 32 bits.")
        book.error(place.at(field), message, value=text)
        return None
    return int(text)


def _namespaces(given: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> tuple[str, ...]:
    return _names(given, "namespaces", is_namespace, gettext_noop("%(name)s can't name a namespace."), place, book)


def _former_paths(given: Mapping[str, Any], place: DocumentPlace, book: NoteCollector) -> tuple[str, ...]:
    return _names(given, "former_paths", is_queue_path, NO_PATH, place, book)


def _names(
    given: Mapping[str, Any],
    field: str,
    allowed: Callable[[str], bool],
    wrong: str,
    place: DocumentPlace,
    book: NoteCollector,
) -> tuple[str, ...]:
    """Return a list of texts without duplicates; each text that is not allowed is an error at its place."""
    value = given.get(field)
    if value is None:
        return ()
    if not isinstance(value, list):
        book.error(place.at(field), gettext_noop("%(key)s must be a list."), key=field)
        return ()
    found = []
    for index, name in enumerate(value):
        if isinstance(name, str) and allowed(name):
            found.append(name)
        else:
            book.error(place.at(field, str(index)), wrong, name=repr(name))
    return tuple(dict.fromkeys(found))


def _truth(given: Mapping[str, Any], field: str, place: DocumentPlace, book: NoteCollector) -> bool | None:
    """Return a true or false setting; None if it is missing or, with an error, is neither."""
    value = given.get(field)
    if value is not None and not isinstance(value, bool):
        book.error(place.at(field), gettext_noop("%(key)s is true or false."), key=field)
        return None
    return value

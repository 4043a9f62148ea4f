"""Reading of the settings of one queue in a queues.yaml into our fields."""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.durations import DurationError, parse_duration
from engine.formats.tree_json.settings import NO_PATH, SHARING, note_unknown, read_sharing
from engine.formats.yaml.documents import line_of, mapping_at
from engine.model.notes import DocumentPlace, NoteCollector, Severity, gettext_noop
from engine.model.quantities import CPU, Amounts, is_resource_name
from engine.model.queue_tree import (
    LONGEST_DELAY_MS,
    PreemptionPolicy,
    PriorityPolicy,
    Queue,
    Settings,
    is_namespace,
    is_queue_path,
)

VCORE = "vcore"
"""YuniKorn's name for the resource cpu."""
POLICY = "preemption.policy"
DELAY = "preemption.delay"
QUOTA_DELAY = "quota.preemption.delay"
PRIORITY_POLICY = "priority.policy"
PRIORITY_OFFSET = "priority.offset"
NAMESPACES = "scheduler-admin.io/namespaces"
FORMER_PATHS = "scheduler-admin.io/former-paths"
EVICT_UNCONTROLLED = "scheduler-admin.io/evict-uncontrolled"
LENDING = "scheduler-admin.io/lending"
"""Properties of this product; YuniKorn ignores properties that it does not know.

The last property holds settings in the product's own format, as JSON.
"""

READ_PROPERTIES = frozenset(
    {
        *(POLICY, DELAY, QUOTA_DELAY, PRIORITY_POLICY, PRIORITY_OFFSET),
        *(NAMESPACES, FORMER_PATHS, EVICT_UNCONTROLLED, LENDING),
    }
)
TEMPLATE = "childtemplate"
READ_TEMPLATE_FIELDS = frozenset({"resources", "properties"})
READ_FIELDS = READ_TEMPLATE_FIELDS | {"name", "parent", "queues", TEMPLATE}

_NO_DELAY = gettext_noop(
    "%(value)s is not a duration above zero and up to 24 days, such as 1m30s; the default of 30s applies."
)
_NO_QUOTA_DELAY = gettext_noop(
    "%(value)s is not a duration above zero and up to 24 days, such as 1m30s; nothing goes for a lowered max."
)
_NO_NAMESPACE = gettext_noop("%(name)s can't name a namespace.")
_AMOUNTS = ("guaranteed", "max")
_SPACED = re.compile(r"^\s*(\d+)\s+([A-Za-z]+)\s*$", re.ASCII)
"""YuniKorn accepts blanks between a number and its unit."""
_Choice = TypeVar("_Choice", bound=StrEnum)


def our_resource(name: str) -> str:
    """Return our name of a YuniKorn resource: cpu for ``vcore``; every other name is the same."""
    return CPU if name == VCORE else name


def read_queue(mapping: Mapping[str, Any], path: str, book: NoteCollector) -> Queue:
    """Return the queue with its own settings; notes about wrong or ineffective settings are added to ``book``."""
    properties = mapping_at(mapping, "properties", path, book)
    return Queue(
        path=path,
        namespaces=_names(properties, NAMESPACES, is_namespace, _NO_NAMESPACE, path, book),
        former_paths=_names(properties, FORMER_PATHS, is_queue_path, NO_PATH, path, book),
        parent_declared=is_true(mapping.get("parent")),
        template=_template(mapping, path, book),
        **_settings(mapping, path, book),
    )


def _template(mapping: Mapping[str, Any], path: str, book: NoteCollector) -> Settings | None:
    """Return the settings of a template, or None if it sets nothing.

    A template that sets anything overrides the templates of queues above, even if the setting means nothing here.
    """
    given = mapping_at(mapping, TEMPLATE, path, book)
    settings = Settings(**_settings(given, path, book))
    quiet = NoteCollector()
    resources = mapping_at(given, "resources", path, quiet)
    parts = [
        mapping_at(given, "properties", path, quiet),
        *(mapping_at(resources, name, path, quiet) for name in _AMOUNTS),
    ]
    said = given.get("maxapplications") or any(value for part in parts for value in part.values())
    return settings if said else None


def _settings(mapping: Mapping[str, Any], path: str, book: NoteCollector) -> dict[str, Any]:
    """Return the settings that queues and templates have in common, as fields of Settings."""
    resources = mapping_at(mapping, "resources", path, book)
    properties = mapping_at(mapping, "properties", path, book)
    return {
        "guaranteed": read_amounts(resources, "guaranteed", path, book),
        "max": read_amounts(resources, "max", path, book),
        "preemption_policy": _choice(properties, POLICY, PreemptionPolicy.DEFAULT, path, book),
        "delay_ms": _delay(properties, DELAY, path, book),
        "quota_delay_ms": _delay(properties, QUOTA_DELAY, path, book),
        "priority_policy": _choice(properties, PRIORITY_POLICY, PriorityPolicy.DEFAULT, path, book),
        "priority_offset": _offset(properties, path, book),
        "evict_uncontrolled": is_true(properties.get(EVICT_UNCONTROLLED)),
        **_lending(properties, path, book),
    }


def _lending(properties: Mapping[str, Any], path: str, book: NoteCollector) -> dict[str, Any]:
    line = line_of(properties, LENDING)
    try:
        said = json.loads(str(properties.get(LENDING) or "{}"))
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        book.add(Severity.ERROR, path, line, gettext_noop("%(key)s must hold an object in JSON."), key=LENDING)
        return {}
    found = NoteCollector()
    note_unknown(said, SHARING, DocumentPlace(path=path), found)
    read = read_sharing(said, DocumentPlace(path=path), found)
    book.notes += [msgspec.structs.replace(note, line=line, field="") for note in found.notes]
    return read


def is_true(value: Any) -> bool:
    """Return whether a value is YAML's true, or the word true."""
    return str(value).lower() == "true"


def read_amounts(resources: Mapping[str, Any], field: str, path: str, book: NoteCollector) -> Amounts:
    """Return guaranteed or max in our resource names and integer units; an invalid amount is an error."""
    given = mapping_at(resources, field, path, book)
    amounts: Amounts = {}
    for name, value in given.items():
        resource = our_resource(str(name))
        line = line_of(given, name)
        if str(name) == CPU:
            message = gettext_noop("YuniKorn calls cpu vcore; cpu is read as vcore here, but limits nothing there.")
            book.add(Severity.WARNING, path, line, message)
        if not is_resource_name(resource):
            message = gettext_noop("%(name)s is not the name of a resource.")
            book.add(Severity.ERROR, path, line, message, name=repr(resource))
        if resource in amounts:
            message = gettext_noop("%(field)s gives %(resource)s twice.")
            book.add(Severity.ERROR, path, line, message, field=field, resource=resource)
        amounts[resource] = _amount(resource, value, path, line, book)
    return amounts


def _amount(resource: str, value: Any, path: str, line: int | None, book: NoteCollector) -> int:
    try:
        return read_amount(resource, _SPACED.sub(r"\1\2", str(value)))
    except AmountError as error:
        book.add(Severity.ERROR, path, line, error.message, **error.params)
        return 0


def _choice(properties: Mapping[str, Any], key: str, default: _Choice, path: str, book: NoteCollector) -> _Choice:
    """Return a policy by its name, ignoring case as YuniKorn does."""
    value = str(properties.get(key) or default).lower()
    try:
        return type(default)(value)
    except ValueError:
        message = gettext_noop("%(value)s is no %(key)s; %(default)s applies. Known are: %(known)s.")
        known = ", ".join(type(default))
        given = str(properties[key])
        line = line_of(properties, key)
        book.add(Severity.WARNING, path, line, message, value=given, key=key, default=default, known=known)
        return default


def _delay(properties: Mapping[str, Any], key: str, path: str, book: NoteCollector) -> int | None:
    if key not in properties:
        return None
    value = str(properties[key])
    try:
        milliseconds = parse_duration(value)
    except DurationError:
        milliseconds = 0
    if not 0 < milliseconds <= LONGEST_DELAY_MS:
        message = _NO_DELAY if key == DELAY else _NO_QUOTA_DELAY
        book.add(Severity.WARNING, path, line_of(properties, key), message, value=value)
        return None
    return milliseconds


def _names(
    properties: Mapping[str, Any], key: str, allowed: Callable[[str], bool], wrong: str, path: str, book: NoteCollector
) -> tuple[str, ...]:
    """Return the names in a text, separated by commas or blanks; each name that is not allowed is an error."""
    names = tuple(part for part in re.split(r"[,\s]+", str(properties.get(key) or "")) if part)
    for name in names:
        if not allowed(name):
            book.add(Severity.ERROR, path, line_of(properties, key), wrong, name=repr(name))
    return names


def _offset(properties: Mapping[str, Any], path: str, book: NoteCollector) -> int:
    value = str(properties.get(PRIORITY_OFFSET) or 0)
    if not re.fullmatch(r"[+-]?[0-9]{1,10}", value) or not -(2**31) <= int(value) < 2**31:
        message = gettext_noop("%(value)s is no priority.offset (a 32-bit integer); 0 applies.")
        book.add(Severity.WARNING, path, line_of(properties, PRIORITY_OFFSET), message, value=value)
        return 0
    return int(value)

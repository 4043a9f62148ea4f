"""Reading of the settings of one queue in a queues.yaml into our fields.

Source: QueueConfig of yunikorn-core (pkg/common/configs, config.go), and its amounts (pkg/common/resources,
quantity.go).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.durations import DurationError, parse_duration
from engine.formats.tree_json.settings import is_int32, note_unknown, read_values
from engine.formats.yaml.documents import line_of, mapping_at
from engine.model.message import gettext_noop
from engine.model.notes import DocumentPlace, NoteCollector, Severity
from engine.model.quantities import CPU, Amounts, is_resource_name
from engine.model.queue_settings import LENDING_PROPERTY, LENDING_SETTINGS, SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import LONGEST_DELAY_MS, Queue, Settings

VCORE = "vcore"
"""YuniKorn's name for the resource cpu."""
PROPERTIES: tuple[QueueSetting, ...] = tuple(
    setting
    for setting in SETTINGS
    if setting.kind is not Kind.AMOUNTS and "." in setting.yunikorn and not setting.about_lending
)
"""The settings that have a property of their own; YuniKorn ignores ours, as it does not know them."""
READ_PROPERTIES = frozenset({LENDING_PROPERTY, *(setting.yunikorn for setting in PROPERTIES)})
TEMPLATE = "childtemplate"
READ_TEMPLATE_FIELDS = frozenset({"resources", "properties"})
READ_FIELDS = READ_TEMPLATE_FIELDS | {"name", "parent", "queues", TEMPLATE}

_AMOUNTS = ("guaranteed", "max")
_SPACED = re.compile(r"^\s*(\d+)\s+([A-Za-z]+)\s*$", re.ASCII)
"""YuniKorn accepts blanks between a number and its unit."""
_Read = Callable[[Mapping[str, Any], QueueSetting, str, NoteCollector], Any]
"""Returns the value of a property, None for one that is not set or can't be read."""


def our_resource(name: str) -> str:
    """Return our name of a YuniKorn resource: cpu for ``vcore``; every other name is the same."""
    return CPU if name == VCORE else name


def read_queue(mapping: Mapping[str, Any], path: str, book: NoteCollector) -> Queue:
    """Return the queue with its own settings; notes about wrong or ineffective settings are added to ``book``."""
    properties = mapping_at(mapping, "properties", path, book)
    return Queue(
        path=path,
        parent_declared=is_true(mapping.get("parent")),
        template=_template(mapping, path, book),
        **_settings(mapping, path, book),
        **_properties(properties, [setting for setting in PROPERTIES if not setting.in_template], path, book),
    )


def _template(mapping: Mapping[str, Any], path: str, book: NoteCollector) -> Settings | None:
    """Return the settings of a template, or None if it sets nothing.

    A template that sets anything overrides the templates of queues above, even if the setting means nothing here.
    """
    fields = mapping_at(mapping, TEMPLATE, path, book)
    settings = Settings(**_settings(fields, path, book))
    quiet = NoteCollector()
    resources = mapping_at(fields, "resources", path, quiet)
    parts = [
        mapping_at(fields, "properties", path, quiet),
        *(mapping_at(resources, name, path, quiet) for name in _AMOUNTS),
    ]
    is_set = fields.get("maxapplications") or any(value for part in parts for value in part.values())
    return settings if is_set else None


def _settings(mapping: Mapping[str, Any], path: str, book: NoteCollector) -> dict[str, Any]:
    """Return the settings that queues and templates have in common, as fields of Settings."""
    resources = mapping_at(mapping, "resources", path, book)
    properties = mapping_at(mapping, "properties", path, book)
    return {
        "guaranteed": read_amounts(resources, "guaranteed", path, book),
        "max": read_amounts(resources, "max", path, book),
        **_properties(properties, [setting for setting in PROPERTIES if setting.in_template], path, book),
        **_lending(properties, path, book),
    }


def _properties(
    properties: Mapping[str, Any], settings: Iterable[QueueSetting], path: str, book: NoteCollector
) -> dict[str, Any]:
    """Return what the properties say of these settings, as fields of Queue."""
    values = {setting.attribute: _READERS[setting.kind](properties, setting, path, book) for setting in settings}
    return {attribute: value for attribute, value in values.items() if value is not None}


def _lending(properties: Mapping[str, Any], path: str, book: NoteCollector) -> dict[str, Any]:
    if LENDING_PROPERTY not in properties:
        return {}
    line = line_of(properties, LENDING_PROPERTY)
    try:
        content = json.loads(str(properties.get(LENDING_PROPERTY) or "{}"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        book.add(Severity.ERROR, path, line, gettext_noop("%(key)s must contain a JSON object."), key=LENDING_PROPERTY)
        return {}
    own_notes = NoteCollector()
    note_unknown(content, [setting.name for setting in LENDING_SETTINGS], DocumentPlace(path=path), own_notes)
    read = read_values(content, LENDING_SETTINGS, DocumentPlace(path=path), own_notes)
    book.notes += [msgspec.structs.replace(note, line=line, field="") for note in own_notes.notes]
    return read


def is_true(value: Any) -> bool:
    """Return whether a value is YAML's true, or the word true."""
    return str(value).lower() == "true"


def read_amounts(resources: Mapping[str, Any], field: str, path: str, book: NoteCollector) -> Amounts:
    """Return guaranteed or max in our resource names and integer units; an invalid amount is an error."""
    texts = mapping_at(resources, field, path, book)
    amounts: Amounts = {}
    for name, value in texts.items():
        resource = our_resource(str(name))
        line = line_of(texts, name)
        if str(name) == CPU:
            message = gettext_noop(
                "YuniKorn’s name for CPU is vcore. Here cpu is read as vcore, but in YuniKorn it has no effect."
            )
            book.add(Severity.WARNING, path, line, message)
        if not is_resource_name(resource):
            message = gettext_noop("%(name)s is not a valid resource name.")
            book.add(Severity.ERROR, path, line, message, name=repr(resource))
        if resource in amounts:
            message = gettext_noop("%(field)s sets %(resource)s twice.")
            book.add(Severity.ERROR, path, line, message, field=field, resource=resource)
        amounts[resource] = _amount(resource, value, path, line, book)
    return amounts


def _amount(resource: str, value: Any, path: str, line: int | None, book: NoteCollector) -> int:
    try:
        return read_amount(resource, _SPACED.sub(r"\1\2", str(value)))
    except AmountError as error:
        book.add(Severity.ERROR, path, line, error.sentence)
        return 0


def _choice(properties: Mapping[str, Any], setting: QueueSetting, path: str, book: NoteCollector) -> StrEnum | None:
    """Return a policy by its name, ignoring case as YuniKorn does."""
    key = setting.yunikorn
    value = str(properties.get(key) or "").lower()
    choice = next((known for known in setting.values if known == value), None)
    if value and choice is None:
        message = gettext_noop("%(value)s is not a valid %(key)s, so %(default)s applies. Allowed values: %(known)s.")
        known, written = ", ".join(setting.values), str(properties[key])
        line, default = line_of(properties, key), str(setting.default)
        book.add(Severity.WARNING, path, line, message, value=written, key=key, default=default, known=known)
    return choice


def _delay(properties: Mapping[str, Any], setting: QueueSetting, path: str, book: NoteCollector) -> int | None:
    key = setting.yunikorn
    if key not in properties:
        return None
    value = str(properties[key])
    try:
        milliseconds = parse_duration(value)
    except DurationError:
        milliseconds = 0
    if not 0 < milliseconds <= LONGEST_DELAY_MS:
        message = gettext_noop(
            "%(value)s is not a duration above zero and up to 24 days, such as 1m30s. %(key)s is treated as not set."
        )
        book.add(Severity.WARNING, path, line_of(properties, key), message, value=value, key=key)
        return None
    return milliseconds


def _integer(properties: Mapping[str, Any], setting: QueueSetting, path: str, book: NoteCollector) -> int | None:
    key = setting.yunikorn
    value = str(properties.get(key) or 0)
    if not is_int32(value):
        message = gettext_noop("%(value)s is not a valid %(key)s (a 32-bit integer). %(key)s is treated as not set.")
        book.add(Severity.WARNING, path, line_of(properties, key), message, value=value, key=key)
        return None
    return int(value)


def _flag(properties: Mapping[str, Any], setting: QueueSetting, _path: str, _book: NoteCollector) -> bool | None:
    return is_true(properties.get(setting.yunikorn))


def _names(
    properties: Mapping[str, Any], setting: QueueSetting, path: str, book: NoteCollector
) -> tuple[str, ...] | None:
    """Return the names in a text, separated by commas or blanks; each name that is not allowed is an error."""
    assert setting.is_allowed is not None
    key = setting.yunikorn
    names = tuple(part for part in re.split(r"[,\s]+", str(properties.get(key) or "")) if part)
    for name in names:
        if not setting.is_allowed(name):
            book.add(Severity.ERROR, path, line_of(properties, key), setting.not_allowed, name=repr(name))
    return names


_READERS: Mapping[Kind, _Read] = {
    Kind.CHOICE: _choice,
    Kind.DURATION: _delay,
    Kind.INTEGER: _integer,
    Kind.FLAG: _flag,
    Kind.NAMES: _names,
}

"""Checks for what YuniKorn rejects in any queues.yaml: unknown keys, values of a wrong type and invalid amounts.

Source: yunikorn-core, pkg/common/configs/config.go, whose types are decoded with KnownFields, and
pkg/common/resources/quantity.go.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from engine.formats.yaml.documents import closest_match, line_of
from engine.formats.yunikorn.fields import VCORE
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity

PROPERTIES = frozenset(
    {
        *("application.sort.policy", "application.sort.priority"),
        *("application.unschedasks.backoff", "application.unschedasks.backoff.delay"),
        *("priority.policy", "priority.offset", "preemption.policy", "preemption.delay", "quota.preemption.delay"),
    }
)
"""Properties that YuniKorn uses; it also accepts any others, and ignores them."""
_MULTIPLIERS = {suffix: 1000**power for power, suffix in enumerate(("", "k", "M", "G", "T", "P", "E"))}
_MULTIPLIERS |= {f"{suffix}i": 1024**power for power, suffix in enumerate("KMGTPE", 1)}
_AMOUNT = re.compile(r"([0-9]+)\s*((?:[mkKMGTPE]i?)?)", re.ASCII)
_LARGEST = 2**63 - 1
_COUNTS = 2**64
_SWITCHES = frozenset({"y", "yes", "on", "n", "no", "off"})
"""Words that mean true or false in YAML 1.1, and in YuniKorn's reader still do."""

_INSIDE = gettext_noop("%(field)s belongs inside resources. YuniKorn rejects the document.")
_NEAR = gettext_noop("YuniKorn has no field %(field)s here and rejects the document. Did you mean %(near)s?")
_UNKNOWN = gettext_noop("YuniKorn has no field %(field)s here and rejects the document.")
_WHOLE = gettext_noop(
    "%(value)s is not a valid YuniKorn amount, so YuniKorn rejects the document. Use a whole number with "
    "a unit, such as 2Gi. The unit m, as in 500m, is allowed only for vcore."
)
_NO_TEXT = gettext_noop("%(field)s must be text. YuniKorn rejects the document.")
_NO_SWITCH = gettext_noop("%(field)s must be true or false. YuniKorn rejects the document.")
_NO_COUNT = gettext_noop("%(field)s must be zero or a positive number. YuniKorn rejects the document.")
_NO_LIST = gettext_noop("%(field)s must be a list. YuniKorn rejects the document.")
_NO_MAPPING = gettext_noop("%(field)s must be a mapping. YuniKorn rejects the document.")


class _ValuePlace(msgspec.Struct, frozen=True):
    """The place of a value in the document."""

    book: NoteCollector
    path: str = ""
    field: str = ""
    line: int | None = None

    def refuse(self, message: str, **params: str) -> None:
        """Add an error at this place."""
        self.book.add(Severity.ERROR, self.path, self.line, message, **params)

    def inside(self, mapping: Mapping[str, Any], key: Any) -> "_ValuePlace":
        """Return the place of a value in a mapping."""
        return _ValuePlace(self.book, self.path, str(key), line_of(mapping, key))


_Check = Callable[[Any, _ValuePlace], None]
_Fields = Mapping[str, _Check]


def check(document: Mapping[str, Any], book: NoteCollector) -> None:
    """Add an error for everything in a document that YuniKorn can't decode, in all partitions."""
    _record(document, _ValuePlace(book), _DOCUMENT)


def quantity(resource: str, value: Any) -> int | None:
    """Return an amount as YuniKorn reads it, vcore in thousandths; None if YuniKorn rejects it."""
    match = _AMOUNT.fullmatch(str(value).strip())
    if match is None or int(match[1]) > _LARGEST:
        return None
    milli = match[2] == "m"
    if (milli and resource != VCORE) or (not milli and match[2] not in _MULTIPLIERS):
        return None
    amount = int(match[1]) * _MULTIPLIERS.get(match[2], 1) * (1000 if resource == VCORE and not milli else 1)
    return amount if amount <= _LARGEST else None


def _record(value: Any, place: _ValuePlace, fields: _Fields) -> None:
    """Check a mapping whose keys must be known; a null value counts as missing."""
    if not isinstance(value, Mapping):
        place.refuse(_NO_MAPPING, field=place.field)
        return
    for key, field_value in value.items():
        at = place.inside(value, key)
        known = fields.get(key) if isinstance(key, str) else None
        if known is None:
            _refuse_key(at, fields)
        elif field_value is not None:
            known(field_value, at)


def _refuse_key(place: _ValuePlace, fields: _Fields) -> None:
    if place.field in _RESOURCES and "resources" in fields:
        place.refuse(_INSIDE, field=place.field)
    elif near := place.book.is_suggesting and closest_match(place.field, fields):
        place.refuse(_NEAR, field=place.field, near=near)
    else:
        place.refuse(_UNKNOWN, field=place.field)


def _record_of(fields: _Fields) -> _Check:
    return lambda value, place: _record(value, place, fields)


def _list_of(check_item: _Check) -> _Check:
    def check_all(value: Any, place: _ValuePlace) -> None:
        if not isinstance(value, list):
            place.refuse(_NO_LIST, field=place.field)
            return
        for item in value:
            if item is not None:
                check_item(item, place)

    return check_all


def _mapping_of(check_item: _Check) -> _Check:
    def check_all(value: Any, place: _ValuePlace) -> None:
        if not isinstance(value, Mapping):
            place.refuse(_NO_MAPPING, field=place.field)
            return
        for key, item in value.items():
            check_item(item, place.inside(value, key))

    return check_all


def _text(value: Any, place: _ValuePlace) -> None:
    if isinstance(value, Mapping | list):
        place.refuse(_NO_TEXT, field=place.field)


def _switch(value: Any, place: _ValuePlace) -> None:
    if not isinstance(value, bool) and str(value).lower() not in _SWITCHES:
        place.refuse(_NO_SWITCH, field=place.field)


def _count(value: Any, place: _ValuePlace) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _COUNTS:
        place.refuse(_NO_COUNT, field=place.field)


def _amount(value: Any, place: _ValuePlace) -> None:
    if quantity(place.field, "" if value is None else value) is None:
        place.refuse(_WHOLE, value=str(value))


def _queue(value: Any, place: _ValuePlace) -> None:
    name = str(value.get("name") or "") if isinstance(value, Mapping) else ""
    _record(value, msgspec.structs.replace(place, path=f"{place.path}.{name}" if place.path else name), _QUEUE)


_RESOURCES: _Fields = {"guaranteed": _mapping_of(_amount), "max": _mapping_of(_amount)}
_LIMIT: _Fields = {
    "limit": _text,
    "users": _list_of(_text),
    "groups": _list_of(_text),
    "maxapplications": _count,
    "maxresources": _mapping_of(_amount),
}
_TEMPLATE: _Fields = {
    "maxapplications": _count,
    "properties": _mapping_of(_text),
    "resources": _record_of(_RESOURCES),
}
_QUEUE: dict[str, _Check] = {
    **_TEMPLATE,
    "name": _text,
    "parent": _switch,
    "adminacl": _text,
    "submitacl": _text,
    "childtemplate": _record_of(_TEMPLATE),
    "queues": _list_of(_queue),
    "limits": _list_of(_record_of(_LIMIT)),
}
_PARTITION: _Fields = {
    "name": _text,
    "queues": _list_of(_queue),
    "placementrules": _list_of(lambda _value, _place: None),  # engine.formats.tree_json.placement checks the rules
    "limits": _list_of(_record_of(_LIMIT)),
    "preemption": _record_of({"enabled": _switch, "quotapreemptionenabled": _switch}),
    "nodesortpolicy": _record_of({"type": _text, "resourceweights": _mapping_of(_count)}),
    "usergroupresolver": _record_of({"type": _text}),
}
_DOCUMENT: _Fields = {"partitions": _list_of(_record_of(_PARTITION)), "checksum": _text}
DOCUMENT, PARTITION, QUEUE = frozenset(_DOCUMENT), frozenset(_PARTITION), frozenset(_QUEUE)
TEMPLATE = frozenset(_TEMPLATE)

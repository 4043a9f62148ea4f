"""Validates fields that many kinds share: names, label values, selectors, quantities.

Every check yields the causes of a 422 with the field's path; a wrong JSON type raises ApiError 400.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from engine.model.quantities import QuantityError, parse_quantity
from simulator.status import Cause, UndecodableError, cause

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from fractions import Fraction

    from simulator.kinds import ApiResource

HUGE_PAGES = "hugepages-"
_LONGEST_NAME = 63
_LONGEST_PREFIX = 253
_LONGEST_VALUE = 63
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PERCENT = re.compile(r"[0-9]+%")
_NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_PREFIX_RULE = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_PERCENT_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)
_IN_CONTAINERS = ("cpu", "memory", "ephemeral-storage")
_COUNTED = (
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
)  # fmt: skip
_IN_QUOTAS = (
    *_COUNTED, *_IN_CONTAINERS, "storage", "requests.storage",
    *(f"{part}.{name}" for part in ("requests", "limits") for name in _IN_CONTAINERS),
)  # fmt: skip
_VALUES_NEEDED = ("In", "NotIn")
_VALUES_FORBIDDEN = ("Exists", "DoesNotExist")
_ONE_NUMBER = ("Gt", "Lt")


# Wrong types


def strings(mapping: Any, path: str) -> Mapping[str, str]:
    """Return a field that maps strings to strings, empty where it is missing. Raises ApiError 400."""
    if mapping is None:
        return {}
    if not isinstance(mapping, dict):
        raise _wrong_type(mapping, path, "map[string]string")
    for value in mapping.values():
        if value is not None and not isinstance(value, str):
            raise _wrong_type(value, path, "string")
    return {name: value or "" for name, value in mapping.items()}


def integer(value: Any, path: str) -> int | None:
    """Return a field that is a whole number, None where it is missing. Raises ApiError 400."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise _wrong_type(value, path, "int32")
    return value


def quantity(kind: ApiResource, text: Any) -> Fraction:
    """Return the value of a quantity. Raises ApiError 400."""
    number = isinstance(text, (str, int, float)) and not isinstance(text, bool)
    try:
        return parse_quantity(text if number else "")
    except QuantityError:
        rule = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        where = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}'
        raise UndecodableError(f"{where}: {rule}") from None


def _wrong_type(value: Any, path: str, type_name: str) -> UndecodableError:
    json_type = {bool: "bool", str: "string", list: "array", dict: "object"}.get(type(value), "number")
    return UndecodableError(f"json: cannot unmarshal {json_type} into Go struct field {path} of type {type_name}")


# Wrong values


def required(path: str, why: str = "") -> Cause:
    """Return the cause for a field that is missing."""
    return cause("FieldValueRequired", f"Required value: {why}" if why else "Required value", path)


def wrong(path: str, value: object, why: str) -> Cause:
    """Return the cause for a value that breaks a rule."""
    shown = f'"{value}"' if isinstance(value, str) else value
    return cause("FieldValueInvalid", f"Invalid value: {shown}: {why}", path)


def duplicate(path: str, value: str, why: str = "") -> Cause:
    """Return the cause for a value that occurs twice where it must be unique."""
    return cause("FieldValueDuplicate", f'Duplicate value: "{value}"{f": {why}" if why else ""}', path)


def forbidden(path: str, why: str) -> Cause:
    """Return the cause for a field that may not be set here."""
    return cause("FieldValueForbidden", f"Forbidden: {why}", path)


def one_of(value: Any, known: Collection[str], path: str) -> Iterator[Cause]:
    """Check a field that must have one of a few values."""
    if not value:
        yield required(path)
    elif value not in known:
        supported = ", ".join(f'"{option}"' for option in known)
        yield cause("FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {supported}', path)


def not_negative(value: Any, path: str) -> Iterator[Cause]:
    """Check an optional whole number that must not be negative."""
    number = integer(value, path)
    if number is not None and number < 0:
        yield wrong(path, number, "must be greater than or equal to 0")


def count_or_percent(value: Any, path: str) -> Iterator[Cause]:
    """Check a field such as minAvailable: a whole number or a percentage of at most 100 %."""
    if not isinstance(value, str):
        yield from not_negative(value, path)
    elif not _PERCENT.fullmatch(value):
        yield wrong(path, value, _PERCENT_RULE)
    elif int(value[:-1]) > 100:  # noqa: PLR2004 - per cent
        yield wrong(path, value, "must not be greater than 100%")


def qualified_name(name: str, path: str) -> Iterator[Cause]:
    """Check the key of a label, an annotation or a taint, or a resource's name: ``[domain/]name``."""
    prefix, slash, last = name.rpartition("/")
    if slash and (len(prefix) > _LONGEST_PREFIX or not _PREFIX.fullmatch(prefix)):
        yield wrong(path, name, _PREFIX_RULE)
    if not last:
        yield wrong(path, name, "name part must be non-empty")
    elif len(last) > _LONGEST_NAME:
        yield wrong(path, name, f"name part must be no more than {_LONGEST_NAME} bytes")
    if not _NAME.fullmatch(last):
        yield wrong(path, name, _NAME_RULE)


def label_value(value: str, path: str) -> Iterator[Cause]:
    """Check the value of a label or a taint."""
    if len(value) > _LONGEST_VALUE:
        yield wrong(path, value, f"must be no more than {_LONGEST_VALUE} bytes")
    if value and not _NAME.fullmatch(value):
        yield wrong(path, value, _VALUE_RULE)


def labels(mapping: Any, path: str) -> Iterator[Cause]:
    """Check labels, or the labels of a selector."""
    for name, text in strings(mapping, path).items():
        yield from qualified_name(name, path)
        yield from label_value(text, path)


def annotation_keys(mapping: Any) -> Iterator[Cause]:
    """Check annotations, whose values are free."""
    for name in strings(mapping, "metadata.annotations"):
        yield from qualified_name(name.lower(), "metadata.annotations")


def selector(label_selector: Mapping[str, Any] | None, path: str) -> Iterator[Cause]:
    """Check a label selector with its labels and expressions."""
    label_selector = label_selector or {}
    yield from labels(label_selector.get("matchLabels"), f"{path}.matchLabels")
    for index, expression in enumerate(label_selector.get("matchExpressions") or ()):
        yield from requirement(expression, f"{path}.matchExpressions[{index}]", numbers=False)


def requirement(expression: Mapping[str, Any], path: str, *, numbers: bool) -> Iterator[Cause]:
    """Check one expression of a selector; ``numbers``: whether Gt and Lt are allowed, as for nodes."""
    operator, values = expression.get("operator", ""), expression.get("values") or ()
    if operator in _VALUES_NEEDED:
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in _VALUES_FORBIDDEN:
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif numbers and operator in _ONE_NUMBER:
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield wrong(f"{path}.operator", operator, "not a valid selector operator")
    yield from qualified_name(expression.get("key", ""), f"{path}.key")
    for index, value in enumerate(values):
        yield from label_value(value, f"{path}.values[{index}]")


# Resources


def is_native(name: str) -> bool:
    """Return whether a resource is native to Kubernetes rather than an extended resource."""
    return "/" not in name or "kubernetes.io/" in name


def allows_overcommit(name: str) -> bool:
    """Return whether a container may request less of a resource than its limit."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


def resource_name(name: str, path: str, *, quota: bool = False) -> Iterator[Cause]:
    """Check the name of a resource in a container's resources, or in a quota."""
    causes = [*qualified_name(name, path)]
    known = name in (_IN_QUOTAS if quota else _IN_CONTAINERS) or name.startswith(HUGE_PAGES)
    if not causes and "/" not in name and not known:
        if name not in _IN_QUOTAS:
            causes.append(wrong(path, name, "must be a standard resource type or fully qualified"))
        causes.append(wrong(path, name, f"must be a standard resource for {'quota' if quota else 'containers'}"))
    yield from causes


def quantities(
    kind: ApiResource, amounts: Mapping[str, Any] | None, path: str, form: str = "{path}[{name}]"
) -> Iterator[Cause]:
    """Check amounts of resources: none may be negative, and devices and counts must be whole numbers."""
    for name, text in (amounts or {}).items():
        value, place = quantity(kind, text), form.format(path=path, name=name)
        if value < 0:
            yield wrong(place, str(text), "must be greater than or equal to 0")
        whole = name in _COUNTED or not is_native(name)
        if whole and value.denominator != 1:
            yield wrong(place, str(text), "must be an integer")

"""Grafana's schema of dashboards, as its own Python types have it."""

import json
import typing
import warnings
from collections.abc import Iterator
from enum import Enum
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # there is a newer schema beside this one
    from grafana_foundation_sdk.models.dashboard import Dashboard

register_default_plugins()  # panels and queries have types of their own


def mistakes(dashboard: dict[str, Any]) -> list[str]:
    """Return where a dashboard has members that Grafana does not know, or values of another type."""
    read = Dashboard.from_json(dashboard)
    written = json.loads(JSONEncoder().encode(read))
    return [*_lost(dashboard, written, ""), *_mistyped(read, Dashboard, "")]


def _lost(value: Any, written: Any, at: str) -> Iterator[str]:
    """What Grafana's types did not take over: they ignore what they do not know."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name in written:
                yield from _lost(one, written[name], f"{at}.{name}")
            else:
                yield f"{at}.{name} is not known"
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _lost(one, written[number], f"{at}[{number}]")
    elif value != written:
        yield f"{at} is read as {written!r}"


def _mistyped(value: Any, kind: Any, at: str) -> Iterator[str]:
    """What is of another type than Grafana's annotation says."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        found = [list(_mistyped(value, one, at)) for one in arguments if (one is type(None)) is (value is None)]
        yield from min(found, key=len, default=[f"{at} must not be {value!r}"])
    elif origin is typing.Literal:
        if value not in arguments:
            yield f"{at} must be one of {arguments}, not {value!r}"
    elif not _is_a(value, origin or kind):
        yield f"{at} must be a {kind}, not {value!r}"
    elif origin is list:
        for number, one in enumerate(value):
            yield from _mistyped(one, arguments[0], f"{at}[{number}]")
    elif origin is dict:
        for name, one in value.items():
            yield from _mistyped(one, arguments[1], f"{at}.{name}")
    elif hasattr(value, "to_json"):
        for name, one in typing.get_type_hints(type(value)).items():
            yield from _mistyped(getattr(value, name), one, f"{at}.{name}")


def _is_a(value: Any, kind: type[Any]) -> bool:
    if kind in (object, Any):
        return True
    if issubclass(kind, Enum):
        return value in {one.value for one in kind}
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))

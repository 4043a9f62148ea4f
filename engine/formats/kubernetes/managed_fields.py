"""Who wrote a field of an object last, and when, as the API server keeps it in ``metadata.managedFields``."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from engine.formats.kubernetes.wire import FieldsOfManager

_NEVER = datetime.min.replace(tzinfo=UTC)


class Writer(NamedTuple):
    """Who, and when; neither where the API server does not tell."""

    name: str = ""
    at: datetime | None = None


def last_writer(entries: Iterable[FieldsOfManager], *path: str) -> Writer:
    """Of those that own the field at a path, such as ``data``, ``queues.yaml``, the one that wrote last.

    Whoever loses a field to another's value is no owner any more. A time is of the manager's last write of any field.
    """
    found = [Writer(one.manager or "", one.time) for one in entries if _owns(one.fields_v1 or {}, path)]
    return max(found, key=lambda one: (one.at or _NEVER, one.name), default=Writer())


def applied_by(entries: Iterable[FieldsOfManager], manager: str, field: str) -> tuple[str, ...]:
    """The names below a field that a manager applied (by the server) and still answers for."""
    own = [one.fields_v1 or {} for one in entries if (one.manager, one.operation) == (manager, "Apply")]
    found = [entry.get(f"f:{field}") for entry in own]
    return tuple(name.removeprefix("f:") for one in found if isinstance(one, dict) for name in one if name != ".")


def _owns(fields: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    found: Any = fields
    for name in path:
        found = found.get(f"f:{name}") if isinstance(found, dict) else None
    return found is not None

"""The last writer of a field of an object, from the API server's ``metadata.managedFields``."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from engine.formats.kubernetes.wire import FieldsOfManager

_NEVER = datetime.min.replace(tzinfo=UTC)


class Writer(NamedTuple):
    """The manager that wrote a field, and when; both are empty if the API server does not report them."""

    name: str = ""
    at: datetime | None = None


def last_writer(entries: Iterable[FieldsOfManager], *path: str) -> Writer:
    """Return the last writer among the owners of the field at a path, for example ``data``, ``queues.yaml``.

    A manager whose value was overwritten by another manager no longer owns the field. The time is that of the manager's
    last write to any field.
    """
    found = [Writer(one.manager or "", one.time) for one in entries if _owns(one.fields_v1 or {}, path)]
    return max(found, key=lambda one: (one.at or _NEVER, one.name), default=Writer())


def applied_by(entries: Iterable[FieldsOfManager], manager: str, field: str) -> tuple[str, ...]:
    """Return the names below a field that a manager set by server-side apply and still owns."""
    own = [one.fields_v1 or {} for one in entries if (one.manager, one.operation) == (manager, "Apply")]
    found = [entry.get(f"f:{field}") for entry in own]
    return tuple(name.removeprefix("f:") for one in found if isinstance(one, dict) for name in one if name != ".")


def _owns(fields: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    found: Any = fields
    for name in path:
        found = found.get(f"f:{name}") if isinstance(found, dict) else None
    return found is not None

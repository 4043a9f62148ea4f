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
    writers = [Writer(entry.manager or "", entry.time) for entry in entries if _owns(entry.fields_v1 or {}, path)]
    return max(writers, key=lambda writer: (writer.at or _NEVER, writer.name), default=Writer())


def applied_by(entries: Iterable[FieldsOfManager], manager: str, field: str) -> tuple[str, ...]:
    """Return the names below a field that a manager set by server-side apply and still owns."""
    field_sets = [entry.fields_v1 or {} for entry in entries if (entry.manager, entry.operation) == (manager, "Apply")]
    subfields = [entry.get(f"f:{field}") for entry in field_sets]
    return tuple(
        name.removeprefix("f:") for names in subfields if isinstance(names, dict) for name in names if name != "."
    )


def _owns(fields: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    node: Any = fields
    for name in path:
        node = node.get(f"f:{name}") if isinstance(node, dict) else None
    return node is not None

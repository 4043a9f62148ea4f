"""Tracks in metadata.managedFields which manager wrote which field.

Only ConfigMaps and custom kinds are tracked; their lists are atomic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.objects import clone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulator.kinds import ApiResource
    from simulator.objects import Object

Path = tuple[str, ...]
_OWN = ("labels", "annotations", "finalizers", "ownerReferences")
"""The tracked fields of metadata: the others belong to the server."""


class Manager(NamedTuple):
    """A client that writes, and whether it applies."""

    name: str
    operation: str


def is_tracked(kind: ApiResource) -> bool:
    """Return whether a kind is tracked; for others nobody needs it here, and it would make up most of their storage."""
    return kind.custom or kind.key == "configmaps"


def updated_entries(old: Object | None, new: Object, manager: Manager, now: str) -> list[Object]:
    """Return the entries after a manager changed ``old`` into ``new``: it becomes the only owner of what it changed."""
    before, after = fields(old or {}), fields(new)
    changed = {path for path, value in after.items() if path not in before or before[path] != value}
    entries = (old or {}).get("metadata", {}).get("managedFields") or []
    if old is not None and before.keys() == after.keys() and not changed:
        return list(entries)
    entries_after, has_entry = [], False
    for entry in entries:
        is_manager = (entry["manager"], entry["operation"]) == manager
        owned = {path for path in paths(entry) if path in after and (is_manager or path not in changed)}
        if is_manager:
            has_entry = True
            entries_after.append(_entry(new, manager, owned | changed, now if changed else entry["time"]))
        elif owned:
            entries_after.append({**entry, "fieldsV1": _tree(owned)})
    if changed and not has_entry:
        entries_after.append(_entry(new, manager, changed, now))
    return entries_after


def without_dropped_fields(obj: Object, applied: Object, manager: Manager) -> Object:
    """Return the object without fields that the manager applied before, has now dropped, and no other manager owns."""
    entries = obj["metadata"].get("managedFields") or []
    own_paths = {
        path for entry in entries if (entry["manager"], entry["operation"]) == manager for path in paths(entry)
    }
    other_paths = {
        path for entry in entries if (entry["manager"], entry["operation"]) != manager for path in paths(entry)
    }
    result: Object = clone(obj)
    for path in own_paths - other_paths - fields(applied).keys():
        _take(result, path)
    return result


def _take(obj: Object, path: Path) -> None:
    """Remove a field, and the parents that become empty."""
    name, *below = path
    if below and isinstance(obj.get(name), dict):
        _take(obj[name], tuple(below))
    if not below or not obj.get(name):
        obj.pop(name, None)


def fields(obj: Object) -> dict[Path, Any]:
    """Return path -> value of every field that a manager can own."""
    meta = {name: value for name, value in (obj.get("metadata") or {}).items() if name in _OWN}
    content = {name: value for name, value in obj.items() if name not in ("apiVersion", "kind", "metadata", "status")}
    return dict(_leaves({**content, "metadata": meta}, ()))


def _leaves(value: Any, above: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and (value or not above):
        for name, below in value.items():
            yield from _leaves(below, (*above, name))
    elif above != ("metadata",):
        yield above, value


def paths(entry: Object) -> set[Path]:
    """Return the fields of an entry."""
    return set(_below(entry.get("fieldsV1") or {}, ()))


def _below(tree: Object, above: Path) -> Iterator[Path]:
    for name, below in tree.items():
        if name.startswith("f:"):
            path = (*above, name.removeprefix("f:"))
            yield from _below(below, path) if below else (path,)


def _entry(obj: Object, manager: Manager, owned: Iterable[Path], now: str) -> Object:
    return {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": obj["apiVersion"],
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": _tree(owned),
    }


def _tree(owned: Iterable[Path]) -> Object:
    tree: Object = {}
    for path in sorted(owned):
        at = tree
        for name in path:
            at = at.setdefault(f"f:{name}", {})
    return tree

"""Helpers for plain JSON objects: copying them, sharing equal parts, reading common fields."""

from datetime import UTC, datetime
from typing import Any

Object = dict[str, Any]


def clone(value: Any) -> Any:
    """Return a deep copy of a JSON value."""
    if isinstance(value, dict):
        return {key: clone(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clone(item) for item in value]
    return value


def share(old: Any, new: Any) -> Any:
    """Return `new` with every subtree that equals the one in `old` replaced by it; `old` itself if nothing differs.

    Versions of an object that a store keeps then cost only what changed between them.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        shared = {key: share(old.get(key), item) for key, item in new.items()}
        same = len(old) == len(new) and all(key in old and item is old[key] for key, item in shared.items())
        return old if same else shared
    if isinstance(old, list) and isinstance(new, list):
        items = [share(before, item) for before, item in zip(old, new, strict=False)] + new[len(old) :]
        same = len(old) == len(new) and all(item is before for item, before in zip(items, old, strict=True))
        return old if same else items
    return old if type(old) is type(new) and old == new else new


def timestamp(moment: datetime) -> str:
    """Return a moment in the format of metav1.Time: UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def set_condition(obj: Object, condition: Object, now: str) -> None:
    """Set a status condition by its type; lastTransitionTime changes only with the status."""
    conditions = obj.setdefault("status", {}).setdefault("conditions", [])
    for current in conditions:
        if current["type"] == condition["type"]:
            moved = current.get("status") != condition["status"]
            current.update(condition)
            if moved or "lastTransitionTime" not in current:
                current["lastTransitionTime"] = now
            return
    conditions.append({**condition, "lastTransitionTime": now})


def condition_true(obj: Object, type_: str) -> bool:
    """Return whether a status condition is True."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(item["type"] == type_ and item.get("status") == "True" for item in conditions)

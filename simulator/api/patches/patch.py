"""Applies patches of every type: JSON patch, merge patch, strategic merge patch, server-side apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.api import calls
from simulator.api.patches.strategic_merge import strategic_merge
from simulator.objects import Object, clone
from simulator.status import ApiError, bad_request, unsupported_media_type

if TYPE_CHECKING:
    from simulator.kinds import ApiResource


def apply_patch(kind: ApiResource, obj: Object, patch: Any, media_type: str) -> Object:
    """Return an object with a patch of the given type applied. Raises ApiError 400, 415 and 422."""
    accepted = [calls.JSON_PATCH, calls.MERGE_PATCH, calls.APPLY_PATCH]
    if not kind.custom:
        accepted.insert(2, calls.STRATEGIC_MERGE_PATCH)
    if media_type not in accepted:
        raise unsupported_media_type(accepted)
    if media_type == calls.JSON_PATCH:
        return json_patch(obj, patch)
    patch = calls.mapping(patch)
    if media_type == calls.MERGE_PATCH:
        return merge_patch(obj, patch)  # type: ignore[no-any-return]
    # An applied configuration merges by the same keys as a strategic patch; custom lists have none, so are atomic.
    return strategic_merge(obj, patch, kind)


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` with an RFC 7386 merge patch applied."""
    if not isinstance(patch, dict):
        return clone(patch)
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(obj: Object, operations: Any) -> Object:
    """Return an object with an RFC 6902 patch applied. Raises ApiError 400, and 422 when an operation fails."""
    if not isinstance(operations, list):
        raise bad_request("error decoding patch: a JSON patch is a list of operations")
    document: Any = clone(obj)
    for step in operations:
        try:
            document = _step(document, step)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            message = f"the server rejected our request due to an error in our request: {step}: {error}"
            raise ApiError(422, "Invalid", message) from None
    return document  # type: ignore[no-any-return]


def _step(document: Any, step: Object) -> Any:
    path = _pointer(step["path"])
    match step["op"]:
        case "add":
            return _add(document, path, clone(step["value"]))
        case "remove":
            _take(document, path)
        case "replace":
            _take(document, path)
            return _add(document, path, clone(step["value"]))
        case "move":
            return _add(document, path, _take(document, _pointer(step["from"])))
        case "copy":
            return _add(document, path, clone(_look(document, _pointer(step["from"]))))
        case "test":
            if _look(document, path) != step["value"]:
                raise ValueError(f"testing value {step['path']} failed: test failed")
        case _:
            raise ValueError(f"unexpected kind: {step['op']}")
    return document


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"not a JSON pointer: {text!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _look(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[_index(document, part)] if isinstance(document, list) else document[part]
    return document


def _index(items: list[Any], part: str) -> int:
    index = int(part)
    if not 0 <= index < len(items):
        raise IndexError(f"index {part} is out of bounds")
    return index


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _look(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        at = len(parent) if last == "-" else int(last)
        if not 0 <= at <= len(parent):
            raise IndexError(f"index {last} is out of bounds")
        parent.insert(at, value)
    else:
        parent[last] = value
    return document


def _take(document: Any, path: list[str]) -> Any:
    parent, last = _look(document, path[:-1]), path[-1]
    return parent.pop(_index(parent, last)) if isinstance(parent, list) else parent.pop(last)

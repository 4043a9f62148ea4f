"""Lists objects: selectors, pages that continue at one version, and requested resource versions."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import msgspec

from simulator.api.printing.views import present
from simulator.selectors import matcher
from simulator.status import ApiError, bad_request, continue_expired, too_large_version

if TYPE_CHECKING:
    from simulator.api.calls import Call
    from simulator.objects import Object
    from simulator.storage.store import Store

Place = tuple[str, str]


def list_objects(store: Store, call: Call) -> tuple[list[Object], Object]:
    """Return the objects that a list call selects, and the metadata of the list.

    Raises ApiError 400 for a bad selector or token, 410 for a version that has expired and 504 for a future one.
    """
    version, start = _position(store, call)
    selects = matcher(call.kind, call.query.get("labelSelector"), call.query.get("fieldSelector"))
    shown = (present(call.kind, obj) for obj in _state(store, call, version))
    selected = [obj for obj in shown if selects is None or selects(obj)]
    remaining = [obj for obj in selected if place(obj) > start] if start else selected
    limit = call.number("limit")
    page = remaining[:limit] if limit else remaining
    meta: Object = {"resourceVersion": str(version)}
    if len(page) < len(remaining):
        meta["continue"] = _token(version, place(page[-1]))
        if selects is None:
            meta["remainingItemCount"] = len(remaining) - len(page)
    return page, meta


def place(obj: Object) -> Place:
    """Return the sort key of lists: namespace and name."""
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _position(store: Store, call: Call) -> tuple[int, Place | None]:
    token = call.query.get("continue")
    if token:
        return _read_token(token)
    version = call.number("resourceVersion")
    if version > store.resource_version:
        raise too_large_version(version, store.resource_version)
    exact = call.query.get("resourceVersionMatch") == "Exact"
    return (version if exact else store.resource_version), None


def _state(store: Store, call: Call, version: int) -> list[Object]:
    """Return the objects as they were at a version: the current ones with later events reverted."""
    key, namespace = call.kind.storage, call.namespace
    if version == store.resource_version:
        return store.list(key, namespace)
    try:
        events = store.events_since(version)
    except ApiError:
        raise continue_expired() from None
    state = {place(obj): obj for obj in store.list(key, namespace)}
    for event in reversed(events):
        if event.key != key or (namespace is not None and place(event.object)[0] != namespace):
            continue
        if event.old is None:
            state.pop(place(event.object), None)
        else:
            state[place(event.object)] = event.old
    return [state[at] for at in sorted(state)]


def _token(version: int, last: Place) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode({"rv": version, "start": last})).decode()


def _read_token(token: str) -> tuple[int, Place]:
    try:
        token_content: Any = msgspec.json.decode(base64.urlsafe_b64decode(token))
        return int(token_content["rv"]), (str(token_content["start"][0]), str(token_content["start"][1]))
    except (binascii.Error, msgspec.DecodeError, KeyError, TypeError, IndexError, ValueError):
        raise bad_request("continue key is not valid: the token can't be read") from None

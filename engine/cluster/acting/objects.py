"""Reads and changes single objects by compare-and-swap, retried on conflicts; failures become results."""

from collections.abc import Callable
from typing import Any

import msgspec
from kubernetes import client

from engine.cluster.acting.outcomes import OperationOutcome, Result
from engine.cluster.connecting.connection import MERGE_PATCH, Response
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.formats.undecodable import UNDECODABLE

NOT_FOUND, CONFLICT = 404, 409
_ATTEMPTS = 5

Json = dict[str, Any]
Method = Callable[..., Any]
"""A method of an API class of the official client; with ``_preload_content=False`` it returns a Response."""


def read_object(read: Method, *names: str, timeout_s: float | None = None) -> Json:
    """Return an object as it is now, by one of the official client's methods, such as ``core.read_node``.

    ``names`` are the object's name and namespace; ``timeout_s`` is as in Connection.request, whose errors this raises.
    """
    return _answered(read(*names, _preload_content=False, _request_timeout=timeout_s))


def patch_object(
    patch: Method, *names: str, current: Json, changes: Json, content_type: str = MERGE_PATCH, **options: str
) -> Json:
    """Patch the object that was found, unless it has changed since: the version makes this a compare-and-swap."""
    meta = current["metadata"]
    guard = {"uid": meta.get("uid"), "resourceVersion": meta.get("resourceVersion")}
    body = {**changes, "metadata": {**changes.get("metadata", {}), **guard}}
    return _answered(patch(*names, body, _preload_content=False, _content_type=content_type, **options))


def create_object(create: Method, *names_and_body: Any) -> Json:
    """Create an object and return it as the API server completed it."""
    return _answered(create(*names_and_body, _preload_content=False))


def unchanged(uid: str, version: str) -> "client.V1DeleteOptions":
    """Return what a deletion sends so that it fails for another object, or one that has changed since."""
    return client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=uid, resource_version=version))


def retry_on_conflict(step: Callable[[], Result]) -> Result:
    """Run a step, again from its first read while others change the object; turn failures into results."""
    for attempt in range(_ATTEMPTS):
        try:
            return step()
        except ApiFailure as error:
            if error.code == CONFLICT and attempt + 1 < _ATTEMPTS:
                continue
            return Result(outcome=_outcome(error), sentence=str(error), retry_after_s=error.retry_after_s)
        except ConnectionFailure as error:
            return Result(outcome=OperationOutcome.RETRY, sentence=str(error))
    raise AssertionError  # the last attempt returns


def _answered(answer: Response) -> Json:
    try:
        obj = msgspec.json.decode(answer.body, type=Json)
    except UNDECODABLE as error:
        raise ConnectionFailure("the response of the API server can't be read") from error
    if not isinstance(obj.get("metadata"), dict):
        raise ConnectionFailure("the response of the API server is not an object")
    return obj


def _outcome(error: ApiFailure) -> OperationOutcome:
    match error.code:
        case 404 | 410:
            return OperationOutcome.GONE
        case 408 | 409 | 429:
            return OperationOutcome.RETRY
        case code:
            return OperationOutcome.REFUSED if code < 500 else OperationOutcome.RETRY  # noqa: PLR2004 - HTTP's server errors

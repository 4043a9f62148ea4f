"""Reads and changes single objects by compare-and-swap, retried on conflicts; failures become results."""

from collections.abc import Callable
from typing import Any

import msgspec

from engine.cluster.acting.outcomes import OperationOutcome, PodRef, Result
from engine.cluster.connecting.connection import MERGE_PATCH, Connection, Query
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.formats.undecodable import UNDECODABLE

NOT_FOUND, CONFLICT = 404, 409
_ATTEMPTS = 5

Json = dict[str, Any]


class Objects:
    """The objects of one cluster, as JSON. Every method raises ApiFailure and ConnectionFailure."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, path: str, timeout_s: float | None = None) -> Json:
        """Return the object as it is now; ``timeout_s`` is as in Connection.request."""
        return _object(self._connection.request("GET", path, timeout_s=timeout_s).body)

    def create(self, path: str, body: Json) -> Json:
        """Create an object and return it as the API server completed it."""
        return _object(self._connection.request("POST", path, body=body).body)

    def patch(
        self, path: str, current: Json, changes: Json, *, content_type: str = MERGE_PATCH, query: Query | None = None
    ) -> Json:
        """Patch the object that was found, unless it has changed since: the version makes this a compare-and-swap."""
        meta = current["metadata"]
        guard = {"uid": meta.get("uid"), "resourceVersion": meta.get("resourceVersion")}
        body = {**changes, "metadata": {**changes.get("metadata", {}), **guard}}
        answer = self._connection.request("PATCH", path, body=body, content_type=content_type, query=query)
        return _object(answer.body)

    def delete(self, path: str, uid: str, version: str) -> None:
        """Delete an object, unless its UID differs or it has changed since that version."""
        guard = {"uid": uid, "resourceVersion": version}
        self._connection.request("DELETE", path, body={"preconditions": guard})


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


def node_path(node: str) -> str:
    """Return the API path of a node."""
    return f"/api/v1/nodes/{node}"


def pod_path(pod: PodRef) -> str:
    """Return the API path of a pod."""
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"


def _object(body: bytes) -> Json:
    try:
        obj = msgspec.json.decode(body, type=Json)
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

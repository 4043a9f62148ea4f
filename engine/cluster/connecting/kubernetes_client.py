"""Sends the requests of the official Kubernetes client over our own connections.

The official client knows the API: paths, media types, and the fields of what is written. Signing in, one deadline for
the whole answer, its largest size, typed errors, and that nothing is sent twice remain with ``Connection``: the
client's own loader of credentials and its own transport are never used. See docs/decisions/0006-own-reflectors.md.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import OpenApiException

from engine.cluster.connecting.connection import JSON, Connection, Response
from engine.cluster.errors import ConnectionFailure

_HOST = "https://kubernetes.invalid"
"""What the client puts before each path; the connection knows the real address, which may change."""
_UNREADABLE = (OpenApiException, ValueError, TypeError, AttributeError, RecursionError)
"""What the client raises for an answer that is not what its API promises; pydantic's errors are ValueErrors."""


class _ClientResponse(NamedTuple):
    """An answer in the form in which the official client reads it, which is that of its RESTResponse."""

    response: Response

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def data(self) -> bytes:
        return self.response.body

    @property
    def headers(self) -> Mapping[str, str]:
        return {"content-type": JSON}

    def read(self) -> bytes:
        return self.data

    def getheaders(self) -> Mapping[str, str]:
        return self.response.headers


class _Transport:
    """Takes the place of the official client's RESTClientObject."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def request(  # the name and the parameters are those of RESTClientObject
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        post_params: object = None,  # noqa: ARG002 - forms, which Kubernetes has none of
        _request_timeout: float | None = None,
    ) -> _ClientResponse:
        media = (headers or {}).get("Content-Type", JSON)
        path = url.removeprefix(_HOST)
        return _ClientResponse(
            self._connection.request(method, path, body=body, content_type=media, timeout_s=_request_timeout)
        )

    def close(self) -> None:
        """Leave the connection open: it belongs to whoever made it."""


class KubernetesClient(ApiClient):
    """The official client over one of our connections; safe to share between threads.

    Give it to the API classes: ``CoreV1Api(KubernetesClient(connection))``. Every request raises ApiFailure for any
    status but 2xx, and ConnectionFailure when no whole answer arrived or the answer cannot be read. With
    ``_preload_content=False`` the answer is a ``Response``, not decoded. ``_request_timeout`` is in seconds.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(Configuration(host=_HOST))
        self.rest_client = _Transport(connection)  # type: ignore[assignment]  # of which only ``request`` is called

    def sanitize_for_serialization(self, obj: Any) -> Any:
        """Return what JSON can hold of a model; times always have six digits after the second.

        The official client leaves them out where they are zero, which the API server refuses in a MicroTime.
        """
        if isinstance(obj, datetime):
            return obj.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return super().sanitize_for_serialization(obj)  # type: ignore[no-untyped-call]

    def response_deserialize(self, response_data: Any, response_types_map: Any = None) -> Any:
        """Return the answer as the client's model. Raises ConnectionFailure where it is not one."""
        try:
            return super().response_deserialize(response_data, response_types_map)
        except _UNREADABLE as error:
            raise ConnectionFailure("the response of the API server can't be read") from error

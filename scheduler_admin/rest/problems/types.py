"""The ``type`` of problem details: a URI for each kind of problem. It never changes, so that programs can go by it."""

from typing import Final

from rest_framework import exceptions

PREFIX: Final = "urn:scheduler-admin:problem:"
_INTERNAL = "internal-error"
_OF_FRAMEWORK: dict[type[exceptions.APIException], str] = {
    exceptions.NotAuthenticated: "unauthenticated",
    exceptions.AuthenticationFailed: "unauthenticated",
    exceptions.PermissionDenied: "forbidden",
    exceptions.NotFound: "not-found",
    exceptions.MethodNotAllowed: "method-not-allowed",
    exceptions.NotAcceptable: "not-acceptable",
    exceptions.UnsupportedMediaType: "unsupported-media-type",
}
"""Exception of Django REST framework -> the kind of its problem. Those of our own have it as ``kind``."""


def type_of(error: exceptions.APIException) -> str:
    """Return the URI of the kind of problem that an error is."""
    found = (kind for framework, kind in _OF_FRAMEWORK.items() if isinstance(error, framework))
    kind: str = getattr(error, "kind", None) or next(found, _INTERNAL)
    return PREFIX + kind

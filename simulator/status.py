"""Builds the errors of the Kubernetes API: Status objects with their HTTP codes."""

from collections.abc import Sequence
from typing import Any

from simulator.kinds import ApiResource

Cause = dict[str, str]

UID_PRECONDITION = (
    "the UID in the precondition ({wanted}) does not match the UID in record ({found}). "
    "The object might have been deleted and then recreated"
)
VERSION_PRECONDITION = (
    "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({found}). "
    "The object might have been modified"
)
STALE = "the object has been modified; please apply your changes to the latest version and try again"


class ApiError(Exception):
    """An unsuccessful answer of the API server: its `code` and the `status` object that is sent."""

    def __init__(self, code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "details": details or {},
            "code": code,
        }


def success(kind: ApiResource, name: str, uid: str) -> dict[str, Any]:
    """Return the Status that answers a completed deletion."""
    details = {"name": name, "group": kind.group, "kind": kind.plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {field: value for field, value in details.items() if value},
    }


def cause(reason: str, message: str, field: str = "") -> Cause:
    """Return an entry of `details.causes`."""
    return {"reason": reason, "message": message, **({"field": field} if field else {})}


def _about(kind: ApiResource, name: str, by_kind: bool = False) -> dict[str, Any]:
    details = {"name": name, "group": kind.group, "kind": kind.kind if by_kind else kind.plural}
    return {field: value for field, value in details.items() if value}


def not_found(kind: ApiResource, name: str) -> ApiError:
    """Return error 404: the named object does not exist."""
    return ApiError(404, "NotFound", f'{kind.key} "{name}" not found', _about(kind, name))


def unknown_path() -> ApiError:
    """Return error 404: the served resource has no such part."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


class NoPageError(ApiError):
    """Error 404 for a path at which nothing is served; a line of text is sent, no Status."""

    def __init__(self) -> None:
        super().__init__(404, "NotFound", "404 page not found")


def already_exists(kind: ApiResource, name: str) -> ApiError:
    """Return error 409: an object of that name exists."""
    return ApiError(409, "AlreadyExists", f'{kind.key} "{name}" already exists', _about(kind, name))


def conflict(kind: ApiResource, name: str, why: str = STALE, subresource: str = "") -> ApiError:
    """Return error 409: the object is not in the state that the request expects."""
    resource = f"{kind.key}/{subresource}" if subresource else kind.key
    return ApiError(409, "Conflict", f'Operation cannot be fulfilled on {resource} "{name}": {why}', _about(kind, name))


def invalid(kind: ApiResource, name: str, causes: Sequence[Cause]) -> ApiError:
    """Return error 422: the object breaks a rule; each cause names the field and the reason."""
    sentences = [f"{item['field']}: {item['message']}" for item in causes]
    why = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    details = {**_about(kind, name, by_kind=True), "causes": list(causes)}
    qualified = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {why}', details)


def invalid_options(field: str, why: str) -> ApiError:
    """Return error 422: the options of a list or watch contradict each other."""
    group = {"group": "meta.k8s.io", "kind": "ListOptions"}
    details = {**group, "causes": [cause("FieldValueForbidden", f"Forbidden: {why}", field)]}
    return ApiError(422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {field}: Forbidden: {why}', details)


def forbidden(kind: ApiResource, name: str, why: str, causes: Sequence[Cause] = ()) -> ApiError:
    """Return error 403: admission rejects the object."""
    details = {**_about(kind, name), **({"causes": list(causes)} if causes else {})}
    return ApiError(403, "Forbidden", f'{kind.key} "{name}" is forbidden: {why}', details)


def version_expired(version: int, oldest: int) -> ApiError:
    """Return error 410: the resource version is older than the events that the server keeps."""
    return ApiError(410, "Expired", f"too old resource version: {version} ({oldest})")


def continue_expired() -> ApiError:
    """Return error 410: a list is continued from a version that has expired."""
    message = (
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter."
    )
    return ApiError(410, "Expired", message)


def too_many_requests(message: str, retry_after: int, causes: Sequence[Cause] = ()) -> ApiError:
    """Return error 429: try again, after `retry_after` seconds when that is not zero."""
    details: dict[str, Any] = {"retryAfterSeconds": retry_after} if retry_after else {}
    return ApiError(429, "TooManyRequests", message, {**details, **({"causes": list(causes)} if causes else {})})


def bad_request(message: str) -> ApiError:
    """Return error 400: the request can't be parsed."""
    return ApiError(400, "BadRequest", message)


class UndecodableError(ApiError):
    """Error 400: a field has the wrong JSON type, or is no quantity; for a patch the API server answers 422."""

    def __init__(self, message: str) -> None:
        super().__init__(400, "BadRequest", message)

    def as_patched(self) -> ApiError:
        """Return the answer to a patch that produces an undecodable object."""
        why = cause("FieldValueInvalid", f"Invalid value: {self.message}", "patch")
        return ApiError(422, "Invalid", f' "" is invalid: patch: {why["message"]}', {"causes": [why]})


def unauthorized() -> ApiError:
    """Return error 401: the token is missing or wrong."""
    return ApiError(401, "Unauthorized", "Unauthorized")


NO_BROWSER = "a browser may change nothing here: start the simulator with --token"


def no_browser() -> ApiError:
    """Return error 403: a web page made a browser send the request, and there is no token."""
    return ApiError(403, "Forbidden", NO_BROWSER)


def method_not_allowed() -> ApiError:
    """Return error 405: the resource does not support the verb."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    """Return error 415: the verb does not accept the body's media type."""
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return ApiError(415, "UnsupportedMediaType", message)


def internal_error(why: str) -> ApiError:
    """Return error 500: the server failed."""
    return ApiError(500, "InternalError", f"Internal error occurred: {why}", {"causes": [cause("", why)]})


def too_large_version(requested: int, current: int) -> ApiError:
    """Return error 504: the requested version is later than the server's."""
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    details = {"causes": [cause("ResourceVersionTooLarge", "Too large resource version")], "retryAfterSeconds": 1}
    return ApiError(504, "Timeout", message, details)


def request_too_large(limit: int) -> ApiError:
    """Return error 413: the body is larger than the server accepts."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")

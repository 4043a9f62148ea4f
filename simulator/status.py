"""Errors as the Kubernetes API words them: a Status object and its HTTP code."""

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
    """An answer of the API server that is not a success: `code` and the `status` object that is sent."""

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
    """Return the Status that answers a deletion which is complete."""
    details = {"name": name, "group": kind.group, "kind": kind.plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {field: value for field, value in details.items() if value},
    }


def cause(reason: str, message: str, field: str = "") -> Cause:
    """Return one entry of `details.causes`."""
    return {"reason": reason, "message": message, **({"field": field} if field else {})}


def _about(kind: ApiResource, name: str, by_kind: bool = False) -> dict[str, Any]:
    details = {"name": name, "group": kind.group, "kind": kind.kind if by_kind else kind.plural}
    return {field: value for field, value in details.items() if value}


def not_found(kind: ApiResource, name: str) -> ApiError:
    """404: the named object does not exist."""
    return ApiError(404, "NotFound", f'{kind.key} "{name}" not found', _about(kind, name))


def unknown_path() -> ApiError:
    """404: the resource that is served has no such part."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


class NoPageError(ApiError):
    """404 for a path at which nothing is served; no Status is sent, but a line of text."""

    def __init__(self) -> None:
        super().__init__(404, "NotFound", "404 page not found")


def already_exists(kind: ApiResource, name: str) -> ApiError:
    """409: an object of that name exists."""
    return ApiError(409, "AlreadyExists", f'{kind.key} "{name}" already exists', _about(kind, name))


def conflict(kind: ApiResource, name: str, why: str = STALE, subresource: str = "") -> ApiError:
    """409: the object is not in the state that the request expects."""
    resource = f"{kind.key}/{subresource}" if subresource else kind.key
    return ApiError(409, "Conflict", f'Operation cannot be fulfilled on {resource} "{name}": {why}', _about(kind, name))


def invalid(kind: ApiResource, name: str, causes: Sequence[Cause]) -> ApiError:
    """422: the object breaks a rule; each cause names the field and says why."""
    sentences = [f"{item['field']}: {item['message']}" for item in causes]
    why = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    details = {**_about(kind, name, by_kind=True), "causes": list(causes)}
    qualified = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {why}', details)


def invalid_options(field: str, why: str) -> ApiError:
    """422: the options of a list or watch don't go together."""
    group = {"group": "meta.k8s.io", "kind": "ListOptions"}
    details = {**group, "causes": [cause("FieldValueForbidden", f"Forbidden: {why}", field)]}
    return ApiError(422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {field}: Forbidden: {why}', details)


def forbidden(kind: ApiResource, name: str, why: str, causes: Sequence[Cause] = ()) -> ApiError:
    """403: admission refuses the object."""
    details = {**_about(kind, name), **({"causes": list(causes)} if causes else {})}
    return ApiError(403, "Forbidden", f'{kind.key} "{name}" is forbidden: {why}', details)


def gone(version: int, oldest: int) -> ApiError:
    """410: the resource version is older than what the server still remembers."""
    return ApiError(410, "Expired", f"too old resource version: {version} ({oldest})")


def continue_expired() -> ApiError:
    """410: a list is continued from a version that the server has forgotten."""
    message = (
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter."
    )
    return ApiError(410, "Expired", message)


def too_many_requests(message: str, retry_after: int, causes: Sequence[Cause] = ()) -> ApiError:
    """429: try again, after `retry_after` seconds when that is not zero."""
    details: dict[str, Any] = {"retryAfterSeconds": retry_after} if retry_after else {}
    return ApiError(429, "TooManyRequests", message, {**details, **({"causes": list(causes)} if causes else {})})


def bad_request(message: str) -> ApiError:
    """400: the request can't be understood."""
    return ApiError(400, "BadRequest", message)


class UndecodableError(ApiError):
    """400: a field is of a wrong JSON type, or no quantity; in a patch the API server says so with 422."""

    def __init__(self, message: str) -> None:
        super().__init__(400, "BadRequest", message)

    def as_patched(self) -> ApiError:
        """Return the answer to a patch that makes such an object."""
        why = cause("FieldValueInvalid", f"Invalid value: {self.message}", "patch")
        return ApiError(422, "Invalid", f' "" is invalid: patch: {why["message"]}', {"causes": [why]})


def unauthorized() -> ApiError:
    """401: no token, or a wrong one."""
    return ApiError(401, "Unauthorized", "Unauthorized")


NO_BROWSER = "a browser may change nothing here: start the simulator with --token"


def no_browser() -> ApiError:
    """403: a page makes a browser send it, and there is no token."""
    return ApiError(403, "Forbidden", NO_BROWSER)


def method_not_allowed() -> ApiError:
    """405: the resource has no such verb."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    """415: the body is of a type that this verb does not take."""
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return ApiError(415, "UnsupportedMediaType", message)


def internal_error(why: str) -> ApiError:
    """500: the server can't go on."""
    return ApiError(500, "InternalError", f"Internal error occurred: {why}", {"causes": [cause("", why)]})


def too_large_version(wanted: int, current: int) -> ApiError:
    """504: a state is asked for that the server has not reached."""
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    details = {"causes": [cause("ResourceVersionTooLarge", "Too large resource version")], "retryAfterSeconds": 1}
    return ApiError(504, "Timeout", message, details)


def request_too_large(limit: int) -> ApiError:
    """413: the body is larger than the server reads."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")

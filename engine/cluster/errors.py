"""The errors of talking to a Kubernetes API. ``str()`` of each is a sentence, free of secrets."""

import contextlib

import msgspec

from engine.model.message import MessageError


class ClusterError(MessageError):
    """Anything that went wrong while talking to a cluster. What the API server says itself stays English."""


class SettingsError(ClusterError):
    """A connection that can't be opened as described; retrying without a change is useless."""


class ConnectionFailure(ClusterError):  # noqa: N818 - named after the event, as callers know it
    """No whole answer: refused, reset, timed out. Whether the request took effect is unknown."""

    def __init__(self, sentence: str, *, timed_out: bool = False) -> None:
        super().__init__(sentence)
        self.timed_out = timed_out


class ApiFailure(ClusterError):  # noqa: N818 - named after the event, as callers know it
    """The API server answered with an error."""

    def __init__(
        self,
        code: int,
        reason: str = "",
        message: str = "",
        *,
        retry_after_s: float | None = None,
        causes: tuple[str, ...] = (),
        fields: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message or f"the API server answered {code} {reason}".strip())
        self.code = code
        """The HTTP status code."""
        self.reason = reason
        """Kubernetes' machine-readable reason, such as ``Conflict``; empty when the answer was not a Status."""
        self.message = message
        self.retry_after_s = retry_after_s
        """How many seconds the server asks to wait, from the header or the Status; None: it named no time."""
        self.causes = causes
        """Machine-readable causes, such as ``DisruptionBudget``."""
        self.fields = fields
        """Messages about single fields: each field with its message."""


class _Cause(msgspec.Struct):
    reason: str | None = None
    field: str | None = None
    message: str | None = None


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: float | None = None
    causes: list[_Cause] | None = None


class Status(msgspec.Struct):
    """Kubernetes' Status object, as the body of an error or the object of a watch's ERROR event."""

    code: int | None = None
    reason: str | None = None
    message: str | None = None
    details: _Details | None = None


_LONGEST_MESSAGE = 500
_LONGEST_WAIT_S = 3600.0
"""The longest wait, whatever a server or a proxy asks for: a float may exceed every calendar."""
_HIGHEST_SUCCESS = 299


def failure(code: int, body: bytes | msgspec.Raw, retry_after: str | None = None) -> ApiFailure:
    """Return the ApiFailure for an error answer; a body that is no Status is not quoted."""
    status = Status()
    with contextlib.suppress(ValueError):
        status = msgspec.json.decode(body, type=Status)
    details = status.details or _Details()
    wait_s = details.retry_after_seconds
    if retry_after is not None:
        with contextlib.suppress(ValueError):
            wait_s = float(retry_after)
    return ApiFailure(
        status.code if code <= _HIGHEST_SUCCESS and status.code else code,
        status.reason or "",
        (status.message or "")[:_LONGEST_MESSAGE],
        retry_after_s=min(wait_s, _LONGEST_WAIT_S) if wait_s and wait_s > 0 else None,  # nan is not positive
        causes=tuple(cause.reason for cause in details.causes or () if cause.reason),
        fields=tuple((cause.field, cause.message or "") for cause in details.causes or () if cause.field),
    )

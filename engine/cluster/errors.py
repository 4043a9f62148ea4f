"""What can go wrong between us and a Kubernetes API. ``str()`` of each is a sentence, free of secrets."""

import contextlib

import msgspec


class ClusterError(Exception):
    """Anything that went wrong while talking to a cluster.

    ``message`` and ``params`` are the sentence before it is translated, where it is one of ours.
    """

    def __init__(self, message: str, **params: str) -> None:
        super().__init__(message % params if params else message)
        self.message = message
        self.params = params


class SettingsError(ClusterError):
    """A connection that can't be opened as described; trying again without a change is useless."""


class ConnectionFailure(ClusterError):  # noqa: N818 - what happened, as callers name it
    """No answer, or not a whole one: refused, reset, timed out. Whether the request took effect is unknown."""

    def __init__(self, sentence: str, *, timed_out: bool = False) -> None:
        super().__init__(sentence)
        self.timed_out = timed_out


class ApiFailure(ClusterError):  # noqa: N818 - what happened, as callers name it
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
        """HTTP status."""
        self.reason = reason
        """Kubernetes' machine-readable reason, such as ``Conflict``; empty when the answer was not a Status."""
        self.message = message
        self.retry_after_s = retry_after_s
        """How long the server asks to be left alone, from the header or the Status; None: it did not say."""
        self.causes = causes
        """Machine-readable causes, such as ``DisruptionBudget``."""
        self.fields = fields
        """What is said of single fields: which, and what."""


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
"""Whatever a server, or a proxy before it, asks for: no calendar holds all that a float can say."""
_HIGHEST_SUCCESS = 299


def failure(code: int, body: bytes | msgspec.Raw, retry_after: str | None = None) -> ApiFailure:
    """The ApiFailure that an error answer stands for; a body that is no Status is not quoted."""
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
        retry_after_s=min(wait_s, _LONGEST_WAIT_S) if wait_s and wait_s > 0 else None,  # nan is not
        causes=tuple(cause.reason for cause in details.causes or () if cause.reason),
        fields=tuple((cause.field, cause.message or "") for cause in details.causes or () if cause.field),
    )

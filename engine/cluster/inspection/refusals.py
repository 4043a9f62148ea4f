"""Describes in words why the API server rejected a change that a person requested."""

from engine.cluster.acting.objects import CONFLICT
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.identity import api_error
from engine.cluster.errors import ApiFailure, ClusterError
from engine.cluster.inspection.rights import Right, is_granted
from engine.model.message import gettext_noop

_FORBIDDEN, _INVALID = 403, 422
_REFUSALS = (400, _FORBIDDEN, CONFLICT, _INVALID)


class ApiRefusedError(ClusterError):
    """Raised when the API server rejected the request. Nothing was done."""


class UnknownError(ClusterError):
    """Raised when no answer came, so that nobody knows whether it was done."""


def rejection_error(connection: Connection, error: ApiFailure, right: Right) -> ClusterError:
    """Return why a request failed that needs a right: it is missing, the request is rejected, or the server fails."""
    if error.code == _FORBIDDEN and not _allowed(connection, right):
        message = gettext_noop("Missing permission: %(right)s. Apply %(manifest)s to grant it.")
        return ApiRefusedError(message, right=str(right), manifest=right.manifest)
    if error.code in _REFUSALS:
        return ApiRefusedError(
            gettext_noop("The API server rejected the request: %(why)s."), why=str(error).rstrip(".")
        )
    return api_error(connection, error, str(right))


def no_answer_error(why: str) -> UnknownError:
    """Return the error for a write that got no whole answer."""
    message = gettext_noop("The API server did not respond (%(why)s). It is unknown whether the change was made.")
    return UnknownError(message, why=why)


def _allowed(connection: Connection, right: Right) -> bool:
    """Return whether the right is granted, or can't be checked; admission rejects with the same code."""
    try:
        return is_granted(connection, right)
    except ClusterError:
        return True

"""What the API server's refusals of something that a person wants there come to, in words."""

from engine.cluster.acting.objects import CONFLICT
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.identity import explained
from engine.cluster.errors import ApiFailure, ClusterError
from engine.cluster.inspection.rights import Right, granted
from engine.model.notes import gettext_noop

_FORBIDDEN, _INVALID = 403, 422
_REFUSALS = (400, _FORBIDDEN, CONFLICT, _INVALID)


class ApiRefusedError(ClusterError):
    """The API server was asked and won't. Nothing was done."""


class UnknownError(ClusterError):
    """No answer came, so nobody knows whether it was done."""


def refused(connection: Connection, error: ApiFailure, right: Right) -> ClusterError:
    """Why what needs a right was not done: the right is missing, it is refused all the same, or nothing could be."""
    if error.code == _FORBIDDEN and not _allowed(connection, right):
        message = gettext_noop("The credentials may not %(right)s. %(manifest)s grants it.")
        return ApiRefusedError(message, right=str(right), manifest=right.manifest)
    if error.code in _REFUSALS:
        return ApiRefusedError(gettext_noop("The API server refuses it: %(why)s."), why=str(error).rstrip("."))
    return explained(connection, error, str(right))


def unanswered(why: str) -> UnknownError:
    """No whole answer came to what was to be written."""
    message = gettext_noop("No answer came from the API server (%(why)s): whether it was done is not known.")
    return UnknownError(message, why=why)


def _allowed(connection: Connection, right: Right) -> bool:
    """Whether a right is what is missing; admission refuses with the same code."""
    try:
        return granted(connection, right)
    except ClusterError:
        return True

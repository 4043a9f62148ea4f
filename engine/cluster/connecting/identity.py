"""Which cluster an API server belongs to: the UID of its namespace kube-system, which lives as long as the cluster."""

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

import msgspec

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings, LoadedCredentials
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure
from engine.cluster.timing import Clock
from engine.formats.kubernetes.wire import ListPage, NamedObject
from engine.formats.undecodable import UNDECODABLE
from engine.model.notes import gettext_noop

log = logging.getLogger(__name__)

SYSTEM = "kube-system"
LIMIT_S = 20.0
"""So long anything that somebody waits for may take."""
LATELY_S = 60.0
"""So long nobody asks again which cluster it is, while all goes well."""
STRANGER = gettext_noop("This is another cluster than the one that was connected: kube-system has another UID.")
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 401, 403, 404
Found = TypeVar("Found")


class UnreachableError(ClusterError):
    """The API server was asked, and gave no answer that helps."""


class StrangerError(ClusterError):
    """Another cluster's API server: nothing that it says is about the one that is followed."""


class SameCluster:
    """Whether an API server still is the cluster's that is followed; safe to share between threads."""

    def __init__(self, connection: Connection, uid: str = "", clock: Clock | None = None) -> None:
        """``uid``: of the cluster; empty where that is not known: then the first that is read."""
        self._connection = connection
        self._clock = clock or Clock()
        self._checked_s: float | None = None
        self._lock = threading.Lock()
        self.uid = uid
        self.stranger = False
        """Whether it was another's when its UID was last read."""

    def check_lately(self) -> None:
        """Do the same, unless it was done lately and the API server was the cluster's."""
        checked_s = self._checked_s
        if checked_s is None or self._clock.steady_s() - checked_s >= LATELY_S:
            self.check()

    def check(self) -> None:
        """Ask for the UID, and do without where that may not be read.

        Raises StrangerError, ApiFailure and ConnectionFailure.
        """
        try:
            found = _uid(self._connection)
        except ApiFailure as error:
            if error.code not in (_FORBIDDEN, _NOT_FOUND):
                raise
            found = ""
        except UNDECODABLE as error:
            raise ConnectionFailure("the list of namespaces can't be read") from error
        with self._lock:
            self.uid = self.uid or found
            self.stranger = found != self.uid if found else self.stranger
        self._checked_s = None if self.stranger else self._clock.steady_s()
        if self.stranger:
            self._connection.sign_in_anew()
            raise StrangerError(STRANGER)


def bounded(work: Callable[[], Found], limit_s: float = LIMIT_S) -> Found:
    """What ``work`` returns or raises as a ClusterError. Raises UnreachableError after ``limit_s`` seconds.

    In a thread of its own, as a program that signs in may hang, and nothing can hurry it.
    """
    found: list[Found] = []
    failed: list[ClusterError] = []

    def run() -> None:
        try:
            found.append(work())
        except ClusterError as error:
            failed.append(error)
        except Exception as error:
            log.exception("reading a cluster failed")
            message = gettext_noop("Reading the cluster failed unexpectedly (%(why)s); the log has the reason.")
            failed.append(UnreachableError(message, why=type(error).__name__))

    thread = threading.Thread(target=run, name="bounded", daemon=True)
    thread.start()
    thread.join(limit_s)
    if failed:
        raise failed[0]
    if not found:
        message = gettext_noop("Reading the cluster took longer than %(seconds)s s and was given up.")
        raise UnreachableError(message, seconds=f"{limit_s:.0f}")
    return found[0]


def identify(settings: ConnectionSettings, *, limit_s: float = LIMIT_S) -> tuple[str, LoadedCredentials]:
    """Sign in; the cluster's UID, empty where it may not be read, and what signed in. Raises ClusterError."""

    def work() -> tuple[str, LoadedCredentials]:
        connection = Connection(settings)
        return cluster_uid(connection), connection.credentials

    return bounded(work, limit_s)


def cluster_uid(connection: Connection) -> str:
    """The UID, empty where it may not be read. Raises ClusterError for a server that can't be used at all."""
    try:
        return _uid(connection)
    except ApiFailure as error:
        if error.code == _FORBIDDEN and not _anonymous(error):
            return ""
        raise explained(connection, error, "list namespaces") from None
    except ConnectionFailure as error:
        raise unreachable(connection, error) from None
    except UNDECODABLE:
        message = gettext_noop("%(address)s answers, but not as a Kubernetes API.")
        raise UnreachableError(message, address=connection.address) from None


def _uid(connection: Connection) -> str:
    query = {"fieldSelector": f"metadata.name={SYSTEM}"}
    page = msgspec.json.decode(connection.request("GET", "/api/v1/namespaces", query=query).body, type=ListPage)
    found = [msgspec.json.decode(item, type=NamedObject).metadata for item in page.items or ()]
    return next((meta.uid or "" for meta in found if meta.name == SYSTEM), "")


def unreachable(connection: Connection, error: ConnectionFailure) -> UnreachableError:
    """No whole answer came."""
    message = gettext_noop("The API server %(address)s can't be reached: %(why)s.")
    return UnreachableError(message, address=connection.address, why=str(error))


def explained(connection: Connection, error: ApiFailure, what: str) -> UnreachableError:
    """The API server could not do ``what``, for another reason than a right that is missing."""
    if error.code != _UNAUTHORIZED and not _anonymous(error):
        message = gettext_noop("The API server %(address)s can't %(what)s: %(why)s.")
        return UnreachableError(message, address=connection.address, what=what, why=str(error))
    ended = connection.ended_at
    if ended is not None:
        message = gettext_noop("The API server %(address)s refuses the credentials: they ended on %(when)s.")
        return UnreachableError(message, address=connection.address, when=f"{ended:%Y-%m-%d %H:%M} UTC")
    return UnreachableError(
        gettext_noop(
            "The API server %(address)s does not accept the credentials (%(code)s). They may have expired, or "
            "the program that signs in gave none: sign in anew, check with kubectl, then try again."
        ),
        address=connection.address,
        code=str(error.code),
    )


def _anonymous(error: ApiFailure) -> bool:
    """Whether it was refused as nobody was signed in."""
    return error.code == _FORBIDDEN and "system:anonymous" in error.message

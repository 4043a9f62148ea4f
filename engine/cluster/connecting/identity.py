"""Identifies clusters by the UID of their namespace kube-system, which lives as long as the cluster."""

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
from engine.model.message import gettext_noop

log = logging.getLogger(__name__)

SYSTEM = "kube-system"
LIMIT_S = 20.0
"""How many seconds anything may take that a person waits for."""
LATELY_S = 60.0
"""How many seconds a successful check of the cluster's identity remains valid."""
OTHER_CLUSTER = gettext_noop(
    "This is not the cluster that was connected: its kube-system namespace has a different UID."
)
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 401, 403, 404
Found = TypeVar("Found")


class UnreachableError(ClusterError):
    """Raised when the API server gave no usable answer."""


class OtherClusterError(ClusterError):
    """Raised for the API server of another cluster: none of its answers are about the cluster that is watched."""


class ClusterIdentity:
    """Checks whether an API server still belongs to the watched cluster; safe to share between threads."""

    def __init__(self, connection: Connection, uid: str = "", clock: Clock | None = None) -> None:
        """Create a check; ``uid`` is the cluster's, or empty where it is unknown: then the first that is read."""
        self._connection = connection
        self._clock = clock or Clock()
        self._checked_s: float | None = None
        self._lock = threading.Lock()
        self.uid = uid
        self.stranger = False
        """Whether the API server belonged to another cluster when its UID was last read."""

    def check_lately(self) -> None:
        """Check the identity, unless a check succeeded recently."""
        checked_s = self._checked_s
        if checked_s is None or self._clock.steady_s() - checked_s >= LATELY_S:
            self.check()

    def check(self) -> None:
        """Read the UID and compare it with the known one; continue without it where it may not be read.

        Raises OtherClusterError, ApiFailure and ConnectionFailure.
        """
        try:
            uid = _uid(self._connection)
        except ApiFailure as error:
            if error.code not in (_FORBIDDEN, _NOT_FOUND):
                raise
            uid = ""
        except UNDECODABLE as error:
            raise ConnectionFailure("the list of namespaces can't be read") from error
        with self._lock:
            self.uid = self.uid or uid
            self.stranger = uid != self.uid if uid else self.stranger
        self._checked_s = None if self.stranger else self._clock.steady_s()
        if self.stranger:
            self._connection.sign_in_anew()
            raise OtherClusterError(OTHER_CLUSTER)


def run_with_timeout(work: Callable[[], Found], limit_s: float = LIMIT_S) -> Found:
    """Return what ``work`` returns, or raise its ClusterError. Raises UnreachableError after ``limit_s`` seconds.

    It runs in a thread of its own, as a program that signs in may hang, and can't be interrupted.
    """
    results: list[Found] = []
    failed: list[ClusterError] = []

    def run() -> None:
        try:
            results.append(work())
        except ClusterError as error:
            failed.append(error)
        except Exception as error:
            log.exception("Reading a cluster failed")
            message = gettext_noop(
                "Reading the cluster failed with an unexpected error (%(why)s). See the log for details."
            )
            failed.append(UnreachableError(message, why=type(error).__name__))

    thread = threading.Thread(target=run, name="bounded", daemon=True)
    thread.start()
    thread.join(limit_s)
    if failed:
        raise failed[0]
    if not results:
        message = gettext_noop("Reading the cluster took longer than %(seconds)s s and was canceled.")
        raise UnreachableError(message, seconds=f"{limit_s:.0f}")
    return results[0]


def identify(settings: ConnectionSettings, *, limit_s: float = LIMIT_S) -> tuple[str, LoadedCredentials]:
    """Sign in and return the cluster's UID, empty where it may not be read, with the credentials.

    Raises ClusterError.
    """

    def work() -> tuple[str, LoadedCredentials]:
        connection = Connection(settings)
        return cluster_uid(connection), connection.credentials

    return run_with_timeout(work, limit_s)


def cluster_uid(connection: Connection) -> str:
    """Return the cluster's UID, empty where it may not be read. Raises ClusterError for a server that can't be used."""
    try:
        return _uid(connection)
    except ApiFailure as error:
        if error.code == _FORBIDDEN and not _anonymous(error):
            return ""
        raise api_error(connection, error, "list namespaces") from None
    except ConnectionFailure as error:
        raise unreachable_error(connection, error) from None
    except UNDECODABLE:
        message = gettext_noop("%(address)s responds, but not as a Kubernetes API server.")
        raise UnreachableError(message, address=connection.address) from None


def _uid(connection: Connection) -> str:
    query = {"fieldSelector": f"metadata.name={SYSTEM}"}
    page = msgspec.json.decode(connection.request("GET", "/api/v1/namespaces", query=query).body, type=ListPage)
    namespaces = [msgspec.json.decode(item, type=NamedObject).metadata for item in page.items or ()]
    return next((meta.uid or "" for meta in namespaces if meta.name == SYSTEM), "")


def unreachable_error(connection: Connection, error: ConnectionFailure) -> UnreachableError:
    """Return the error for a request that got no whole answer."""
    message = gettext_noop("The API server %(address)s cannot be reached: %(why)s.")
    return UnreachableError(message, address=connection.address, why=str(error))


def api_error(connection: Connection, error: ApiFailure, action: str) -> UnreachableError:
    """Return the error for an API server that could not do ``action`` for another reason than a missing right."""
    if error.code != _UNAUTHORIZED and not _anonymous(error):
        message = gettext_noop("The request “%(what)s” to the API server %(address)s failed: %(why)s.")
        return UnreachableError(message, address=connection.address, what=action, why=str(error))
    ended = connection.ended_at
    if ended is not None:
        message = gettext_noop("The API server %(address)s rejects the credentials: they expired on %(when)s.")
        return UnreachableError(message, address=connection.address, when=f"{ended:%Y-%m-%d %H:%M} UTC")
    return UnreachableError(
        gettext_noop(
            "The API server %(address)s does not accept the credentials (%(code)s). They may have "
            "expired, or the credential plugin returned none. Sign in again, check with kubectl, then try "
            "again."
        ),
        address=connection.address,
        code=str(error.code),
    )


def _anonymous(error: ApiFailure) -> bool:
    """Return whether a request was rejected because it was anonymous."""
    return error.code == _FORBIDDEN and "system:anonymous" in error.message

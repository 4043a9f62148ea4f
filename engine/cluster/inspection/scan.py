"""Reads a cluster once, to find out what it contains. Sends only GET, and reports which right is missing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import msgspec

from engine.cluster.connecting.connection import Connection, Query
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import (
    LIMIT_S,
    SYSTEM,
    UnreachableError,
    api_error,
    run_with_timeout,
    unreachable_error,
)
from engine.cluster.connecting.paging import pages
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure
from engine.cluster.inspection.refusals import ApiRefusedError
from engine.cluster.sync.object_copies import read_objects
from engine.cluster.timing import Clock
from engine.cluster.watching.tables import (
    ARBITRATED,
    CLAIMS,
    COMPOSITE_GROUPS,
    KUEUE,
    NAMESPACES,
    PREEMPTED,
    QUOTAS,
    SCHEDULING_GROUPS,
    SHARING,
    TABLES,
    VOLCANO_SETTINGS,
    VOLCANOS,
    VOLUMES,
    WatchedKind,
)
from engine.formats.arbitrator.consumers import FAMILY as CONSUMERS_FAMILY
from engine.formats.kubernetes.decode import DecodeError
from engine.formats.kubernetes.wire import ConfigMapObject, ListPage, NamedObject
from engine.formats.kueue.object_kinds import KUEUE as KUEUE_FAMILY
from engine.formats.tree_objects import Family
from engine.formats.undecodable import UNDECODABLE
from engine.formats.volcano.queues import FAMILY as VOLCANO_FAMILY
from engine.model.message import gettext_noop
from engine.observation.discovery import ClusterScan, yunikorn_namespaces

Read = TypeVar("Read")

_PAGE = 500
_REQUEST_S = 10.0
_FORBIDDEN, _NOT_FOUND = 403, 404


class ScanError(UnreachableError):
    """Raised when the cluster could not be read as far as is needed."""


class MissingRightsError(ScanError):
    """Raised when the credentials are valid, but may not read all that is needed."""

    def __init__(self, missing: tuple[str, ...]) -> None:
        needed = ", ".join(f"list and watch {_resource(table.path)}" for table in TABLES)
        super().__init__(
            gettext_noop(
                "Missing permissions: %(missing)s. Required: %(needed)s. Apply deploy/observe.yaml to "
                "grant exactly these."
            ),
            missing="; ".join(missing),
            needed=needed,
        )
        self.missing = missing
        """The missing rights, each as ``verb resource``."""


def scan_cluster(settings: ConnectionSettings, *, limit_s: float = LIMIT_S, clock: Clock | None = None) -> ClusterScan:
    """Sign in and read a cluster. Raises ClusterError with a sentence; never later than after ``limit_s`` seconds."""
    return run_with_timeout(lambda: read(Connection(settings), limit_s, clock or Clock()), limit_s)


def read(connection: Connection, limit_s: float, clock: Clock) -> ClusterScan:
    """Read a cluster by an open connection. Raises ClusterError; no request begins after ``limit_s`` seconds."""
    return _Scanner(connection, limit_s, clock).read()


class _Scanner:
    """A single reading of a cluster."""

    def __init__(self, connection: Connection, limit_s: float, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._until_s = clock.steady_s() + limit_s
        self._odd: list[str] = []
        self._missing: list[str] = []
        self._unread: list[str] = []

    def read(self) -> ClusterScan:
        """Read everything; raise MissingRightsError early where a required kind may not be read."""
        nodes, pods, classes, budgets = (self._kind(table) for table in TABLES)
        if self._missing:
            raise MissingRightsError(tuple(self._missing))
        scheduling = (CLAIMS, VOLUMES, SCHEDULING_GROUPS, COMPOSITE_GROUPS)
        for table in (*scheduling, PREEMPTED, *KUEUE, SHARING, *VOLCANOS, VOLCANO_SETTINGS, *ARBITRATED):
            self._optional(f"list {_resource(table.path)}", partial(self._try_list, table))
            self._optional(f"watch {_resource(table.path)}", partial(self._try_watch, table))
        namespaces = self._optional("list namespaces", lambda: dict(self._namespaces())) or {}
        for table in (NAMESPACES, QUOTAS):  # their lists are read below, or were read above
            self._optional(f"watch {_resource(table.path)}", partial(self._try_watch, table))
        return ClusterScan(
            version=self._optional("get version", self._version) or "",
            nodes=tuple(nodes),
            pods=tuple(pods),
            classes=tuple(classes),
            budgets=tuple(budgets),
            quotas=tuple(self._optional("list resourcequotas", lambda: list(self._objects(QUOTAS))) or ()),
            namespaces=tuple(namespaces),
            uid=namespaces.get(SYSTEM, ""),
            groups=self._optional("get apis", self._groups) or (),
            yunikorn=self._yunikorn(yunikorn_namespaces(pods)),
            kueue=self._tree_text(KUEUE_FAMILY),
            volcano=self._tree_text(VOLCANO_FAMILY),
            consumers=self._tree_text(CONSUMERS_FAMILY),
            sharing=self._sharing(),
            unread=tuple(dict.fromkeys(self._unread)),
            odd=tuple(self._odd),
        )

    def _sharing(self) -> Any:
        settings = self._optional(f"list {_resource(SHARING.path)}", lambda: list(self._objects(SHARING))) or ()
        return next((setting for setting in settings if setting is not None), None)

    # The kinds that passes need

    def _kind(self, table: WatchedKind) -> list[Any]:
        objects = self._required(f"list {_resource(table.path)}", lambda: list(self._objects(table)))
        self._required(f"watch {_resource(table.path)}", lambda: self._try_watch(table))
        return objects or []

    def _objects(self, table: WatchedKind) -> Iterator[Any]:
        for item in self._items(table.path, table.query):
            try:
                yield table.read(item)
            except DecodeError as error:
                self._odd.append(str(error))

    def _try_list(self, table: WatchedKind) -> None:
        self._get(table.path, {**table.query, "limit": 1})

    def _try_watch(self, table: WatchedKind) -> None:
        query = {**table.query, "watch": "true", "timeoutSeconds": 1}
        with self._reaching():
            self._connection.stream(table.path, query=query, idle_timeout_s=self._left_s()).close()

    def _required(self, right: str, read: Callable[[], Read]) -> Read | None:
        try:
            return read()
        except ApiFailure as error:
            if error.code == _FORBIDDEN and "system:anonymous" not in error.message:
                self._missing.append(right)
                return None
            raise self._failure(error, right) from None

    # Optional kinds

    def _optional(self, right: str, read: Callable[[], Read]) -> Read | None:
        try:
            return read()
        except ApiFailure as error:
            if error.code != _NOT_FOUND:
                self._unread.append(right)
            return None

    def _version(self) -> str:
        answer = msgspec.json.decode(self._get("/version"))
        return str(answer.get("gitVersion", "")) if isinstance(answer, dict) else ""

    def _groups(self) -> tuple[str, ...]:
        answer = msgspec.json.decode(self._get("/apis"))
        groups = answer.get("groups") if isinstance(answer, dict) else None
        return tuple(str(group.get("name", "")) for group in groups or () if isinstance(group, dict))

    def _namespaces(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the UID of each namespace."""
        for item in self._items(NAMESPACES.path, {}):
            meta = msgspec.json.decode(item, type=NamedObject).metadata
            if meta.name:
                yield meta.name, meta.uid or ""

    def _yunikorn(self, namespaces: tuple[str, ...]) -> str:
        """Return the queues.yaml of the first YuniKorn that has one; other forms of its configuration are ignored."""
        for namespace in namespaces:
            path = f"/api/v1/namespaces/{namespace}/configmaps/yunikorn-configs"
            body = self._optional(f"get configmaps/yunikorn-configs in {namespace}", partial(self._get, path))
            data = msgspec.json.decode(body, type=ConfigMapObject).data if body else None
            if data and data.get("queues.yaml"):
                return data["queues.yaml"]
        return ""

    def _tree_text(self, family: Family) -> str:
        """Return all objects that form a tree, or none.

        Without those that may not be read, which are already reported as unread, the others form no tree.
        """
        try:
            copy = read_objects(family, self._connection)
        except ApiRefusedError:
            return ""
        return copy.text if copy else ""

    # Requests

    def _items(self, path: str, query: Query) -> Iterator[msgspec.Raw]:
        for page in pages(lambda page_query: self._page(path, page_query), {**query, "limit": _PAGE}):
            yield from page.items or ()

    def _page(self, path: str, query: Query) -> ListPage:
        try:
            return msgspec.json.decode(self._get(path, query), type=ListPage)
        except UNDECODABLE:
            message = gettext_noop("%(address)s responds, but not as a Kubernetes API server.")
            raise ScanError(message, address=f"{self._connection.address}{path}") from None

    def _get(self, path: str, query: Query | None = None) -> bytes:
        with self._reaching():
            return self._connection.request("GET", path, query=query, timeout_s=self._left_s()).body

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except ConnectionFailure as error:
            raise unreachable_error(self._connection, error) from None

    def _left_s(self) -> float:
        left_s = self._until_s - self._clock.steady_s()
        if left_s <= 0:
            raise ScanError(gettext_noop("Reading the cluster took too long and was canceled."))
        return min(left_s, _REQUEST_S)

    def _failure(self, error: ApiFailure, action: str) -> ClusterError:
        if error.code == _NOT_FOUND:
            message = gettext_noop(
                "The request “%(what)s” to the API server %(address)s failed: the "
                "server does not provide this resource (404)."
            )
            return ScanError(message, address=self._connection.address, what=action)
        return api_error(self._connection, error, action)


def _resource(path: str) -> str:
    """Return a resource such as ``poddisruptionbudgets.policy`` from a list's path."""
    *_, group, _version, resource = path.split("/")
    return resource if path.startswith("/api/") else f"{resource}.{group}"

"""Checks whether a cluster can be used in its mode: what works, what is forbidden, what is unusual. Changes nothing."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec

from engine.cluster.acting.lease import holder_of
from engine.cluster.acting.outcomes import reserved_for
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import (
    LIMIT_S,
    OTHER_CLUSTER,
    api_error,
    cluster_uid,
    run_with_timeout,
    unreachable_error,
)
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure, SettingsError
from engine.cluster.inspection.rights import (
    APPLYING,
    ARBITRATING,
    REVIEWING,
    WRITING_CLASSES,
    Right,
    is_granted,
    required_rights,
)
from engine.cluster.inspection.scan import read
from engine.cluster.timing import Clock, sent_at_s
from engine.formats.undecodable import UNDECODABLE
from engine.model.message import Message, gettext_noop
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.discovery import ClusterScan, facts, preempting_classes, propose

SKEW_S = 3.0
"""A larger difference of the clocks, in seconds, gives a warning."""
ENDS_SOON = timedelta(days=14)
"""Credentials that expire sooner than this give a warning."""
SUBJECTS = {
    "connection": gettext_noop("connection"),
    "server": gettext_noop("server"),
    "clock": gettext_noop("clock"),
    "identity": gettext_noop("identity"),
    "tokens": gettext_noop("tokens"),
    "credentials": gettext_noop("credentials"),
    "rights": gettext_noop("permissions"),
    "priority classes": gettext_noop("priority classes"),
    "tree": gettext_noop("queue tree"),
    "consumers": gettext_noop("consumers"),
    "schedulers": gettext_noop("schedulers"),
    "two brains": gettext_noop("other preemption"),
    "taints": gettext_noop("taints"),
    "lease": gettext_noop("lease"),
}
"""The possible subjects of a result, and what pages call them."""
KINDS = {
    "token": gettext_noop("a token"),
    "token-file": gettext_noop("a token file"),
    "client-certificate": gettext_noop("a client certificate"),
    "program": gettext_noop("a credential plugin"),
    "password": gettext_noop("a password"),
}
"""The kinds of credentials, in words."""
_TIMES = 5


class CheckLevel(StrEnum):
    """The severity: ``error`` means that the mode can't work, ``warning`` that somebody should know."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class CheckResult:
    """A single finding."""

    subject: str
    level: CheckLevel
    message: Message

    def __str__(self) -> str:
        return str(self.message)

    @property
    def label(self) -> str:
        """Return the subject as people read it."""
        return SUBJECTS[self.subject]


@dataclass(frozen=True)
class Expected:
    """The facts that this installation has stored about the cluster."""

    mode: str
    publish: bool = False
    uid: str = ""
    tree: QueueTree | None = None
    owners: frozenset[str] = frozenset()
    """The possible holders of the lease: the workers of this installation."""
    open_pods: frozenset[str] = frozenset()
    """UIDs of the pending pods of open decisions."""
    reviews: bool = False
    """Whether tokens of the cluster sign in to the REST API."""
    engine: str = ""
    """The service account of the engine, as ``NAMESPACE/NAME``; empty: the same credentials as those of the check."""
    single: bool = True
    """Whether the policy requires that no other scheduler preempts."""


@dataclass(frozen=True)
class Report:
    """All results of a check."""

    mode: str
    lines: tuple[CheckResult, ...]

    @property
    def well(self) -> bool:
        """Return whether the mode can work."""
        return all(line.level is not CheckLevel.ERROR for line in self.lines)


def check(
    settings: ConnectionSettings, expected: Expected, *, limit_s: float = LIMIT_S, clock: Clock | None = None
) -> Report:
    """Check everything within ``limit_s`` seconds. Never raises: an error becomes a result."""
    lines: list[CheckResult] = []
    try:
        run_with_timeout(lambda: lines.extend(_Check(settings, expected, limit_s, clock or Clock()).lines()), limit_s)
    except ClusterError as error:
        lines.append(CheckResult("connection", CheckLevel.ERROR, error.sentence))
    return Report(expected.mode, tuple(lines))


def _line(subject: str, level: CheckLevel, message: str, **params: str) -> CheckResult:
    return CheckResult(subject, level, Message(message, params))


class _Check:
    """A single run of the check."""

    def __init__(self, settings: ConnectionSettings, expected: Expected, limit_s: float, clock: Clock) -> None:
        self._expected = expected
        self._clock = clock
        self._until_s = clock.steady_s() + limit_s
        self._connection = Connection(settings, clock=clock)

    def lines(self) -> Iterator[CheckResult]:
        """Yield all results, the most basic ones first: missing rights do not matter where signing in fails."""
        try:
            yield from self._server()
            yield self._identity()
            yield self._credentials()
            rights = self._granted_rights()
        except ConnectionFailure as error:
            raise unreachable_error(self._connection, error) from None
        except ApiFailure as error:
            raise api_error(self._connection, error, "create selfsubjectaccessreviews") from None
        yield from self._rights({right: rights[right] for right in self._needed()})
        yield self._classes([right for right in WRITING_CLASSES if not rights[right]])
        yield self._tree([right for right in APPLYING if not rights[right]])
        yield self._consumers([right for right in ARBITRATING if not rights[right]])
        if self._expected.reviews:
            yield self._reviews(may=all(rights[right] for right in REVIEWING))
        if all(rights[right] for right in required_rights("observe") if not right.without):
            yield from self._contents(read(self._connection, self._until_s - self._clock.steady_s(), self._clock))
        if self._expected.mode == "enforce" and all(ok for right, ok in rights.items() if right.resource == "leases"):
            yield self._lease()

    def _granted_rights(self) -> dict[Right, bool]:
        """Return which rights are granted: those of pages and the REST API to the caller, the others to the engine."""
        caller_rights = (*WRITING_CLASSES, *(REVIEWING if self._expected.reviews else ()))
        granted = {right: is_granted(self._connection, right) for right in caller_rights}
        engine_rights = (*self._needed(), *APPLYING, *ARBITRATING)
        return granted | {right: is_granted(self._connection, right, self._expected.engine) for right in engine_rights}

    def _needed(self) -> tuple[Right, ...]:
        return required_rights(self._expected.mode, publish=self._expected.publish)

    # The server and the credentials

    def _server(self) -> Iterator[CheckResult]:
        """Yield the version, the median latency and the clock's difference, from a few requests."""
        took, skews, version = [], [], ""
        for _ in range(_TIMES):
            sent_s, sent_ms = self._clock.steady_s(), self._clock.wall_ms()
            answer = self._connection.request("GET", "/version")
            took.append(self._clock.steady_s() - sent_s)
            version = str(_mapping(answer.body).get("gitVersion", "")) or version
            if (date := sent_at_s(answer.headers.get("Date"))) is not None:
                # The server's date has full seconds; our time half a round trip after sending is compared with their
                # middle.
                skews.append(sent_ms / 1000 + took[-1] / 2 - (date + 0.5))
        latency = f"{statistics.median(took) * 1000:.0f}"
        message = gettext_noop("%(address)s responded in %(ms)s ms. Kubernetes version: %(version)s.")
        address = self._connection.address
        yield _line("server", CheckLevel.OK, message, address=address, ms=latency, version=version or "?")
        if not skews:
            yield _line("clock", CheckLevel.WARNING, gettext_noop("The API server did not report its time."))
            return
        skew, either_way = statistics.median(skews), 0.5 + statistics.median(took) / 2
        level = CheckLevel.WARNING if abs(skew) - either_way > SKEW_S else CheckLevel.OK
        params = {"seconds": f"{skew:+.1f}", "more": f"{either_way:.1f}"}
        yield _line(
            "clock", level, gettext_noop("Clock offset from the API server: %(seconds)s s (± %(more)s s)."), **params
        )

    def _identity(self) -> CheckResult:
        uid, expected_uid = cluster_uid(self._connection), self._expected.uid
        if uid and expected_uid and uid != expected_uid:
            return _line("identity", CheckLevel.ERROR, OTHER_CLUSTER)
        if not uid:
            message = gettext_noop("The cluster cannot be identified, because the credentials cannot list namespaces.")
            return _line("identity", CheckLevel.WARNING, message)
        return _line("identity", CheckLevel.OK, gettext_noop("The UID of kube-system is %(uid)s."), uid=uid)

    def _credentials(self) -> CheckResult:
        credentials = self._connection.credentials
        kind = KINDS.get(credentials.kind, "")
        if kind and not credentials.verify_tls:
            message = gettext_noop(
                "The API server’s certificate is not verified. Anyone who intercepts the connection can "
                "use the credentials."
            )
            return _line("credentials", CheckLevel.WARNING, message)
        if not kind:
            return _line("credentials", CheckLevel.OK, gettext_noop("The API server requires no credentials."))
        if credentials.ends_at is None:
            return _line(
                "credentials", CheckLevel.OK, gettext_noop("Signed in with %(kind)s that does not expire."), kind=kind
            )
        params = {"kind": kind, "when": f"{credentials.ends_at:%Y-%m-%d %H:%M} UTC"}
        now = datetime.fromtimestamp(self._clock.wall_ms() / 1000, UTC)
        soon = credentials.ends_at - now < ENDS_SOON and not credentials.renews and credentials.token_file is None
        message = gettext_noop("Signed in with %(kind)s that is valid until %(when)s.")
        return _line("credentials", CheckLevel.WARNING if soon else CheckLevel.OK, message, **params)

    # Rights

    def _rights(self, rights: dict[Right, bool]) -> Iterator[CheckResult]:
        allowed = [right for right, ok in rights.items() if ok]
        message = gettext_noop("%(count)s of the %(all)s permissions that %(mode)s mode uses are granted.")
        counts = {"count": str(len(allowed)), "all": str(len(rights)), "mode": self._expected.mode}
        yield _line("rights", CheckLevel.OK, message, **counts)
        for right in (right for right, ok in rights.items() if not ok):
            params = {"right": str(right), "manifest": right.manifest}
            if right.without:
                message = gettext_noop(
                    "Missing permission: %(right)s. As a result, %(without)s. Apply %(manifest)s to grant it."
                )
                yield _line("rights", CheckLevel.WARNING, message, **params, without=right.without)
            else:
                message = gettext_noop(
                    "Missing permission: %(right)s, which %(mode)s mode requires. Apply %(manifest)s to grant it."
                )
                yield _line("rights", CheckLevel.ERROR, message, **params, mode=self._expected.mode)

    def _classes(self, missing: list[Right]) -> CheckResult:
        """Report whether priority classes can be changed; no mode needs these rights, so missing ones are no error."""
        if not missing:
            return _line("priority classes", CheckLevel.OK, gettext_noop("Priority classes can be changed here."))
        message = gettext_noop(
            "Priority classes are read-only here. Missing permissions: %(rights)s. Apply %(manifest)s to grant them."
        )
        params = {"rights": ", ".join(str(right) for right in missing), "manifest": missing[0].manifest}
        return _line("priority classes", CheckLevel.OK, message, **params)

    def _tree(self, missing: list[Right]) -> CheckResult:
        """Report whether trees can be written back to the cluster; no mode needs these rights."""
        if not missing:
            message = gettext_noop("Queue trees can be written to the cluster’s configuration.")
            return _line("tree", CheckLevel.OK, message)
        message = gettext_noop(
            "Queue trees cannot be written to the cluster’s configuration. Missing "
            "permissions: %(rights)s. Apply %(manifest)s to grant them."
        )
        params = {"rights": ", ".join(str(right) for right in missing), "manifest": missing[0].manifest}
        return _line("tree", CheckLevel.OK, message, **params)

    def _consumers(self, missing: list[Right]) -> CheckResult:
        """Report whether Allocations can be written; no mode needs these rights.

        The policy works without publishing in the cluster what namespaces deserve.
        """
        if not missing:
            message = gettext_noop("The deserved shares of namespaces can be published as Allocations.")
            return _line("consumers", CheckLevel.OK, message)
        message = gettext_noop(
            "The deserved shares of namespaces cannot be published as Allocations. Missing permissions: "
            "%(rights)s. Apply %(manifest)s to grant them."
        )
        params = {"rights": ", ".join(str(right) for right in missing), "manifest": missing[0].manifest}
        return _line("consumers", CheckLevel.OK, message, **params)

    def _reviews(self, *, may: bool) -> CheckResult:
        """Report whether the API server would review tokens for this installation."""
        if may:
            return _line(
                "tokens", CheckLevel.OK, gettext_noop("Tokens of this cluster can be used to sign in to the REST API.")
            )
        message = gettext_noop(
            "Tokens of this cluster cannot be used to sign in to the REST API. Missing "
            "permission: %(right)s. Apply %(manifest)s to grant it."
        )
        return _line("tokens", CheckLevel.ERROR, message, right=str(REVIEWING[0]), manifest=REVIEWING[0].manifest)

    # The content of the cluster

    def _contents(self, scan: ClusterScan) -> Iterator[CheckResult]:
        tree = self._expected.tree or propose(scan).tree
        names = ", ".join(scheduler.name for scheduler in facts(scan, tree).schedulers) or "–"
        yield _line("schedulers", CheckLevel.OK, gettext_noop("Schedulers found: %(names)s."), names=names)
        yield self._other_preemption(scan, tree)
        reserved = {node.name: reserved_for(node) - self._expected.open_pods for node in scan.nodes}
        stale = sorted(name for name, uids in reserved.items() if uids)
        if stale:
            message = gettext_noop("These nodes have a reservation taint that belongs to no open decision: %(nodes)s.")
            yield _line("taints", CheckLevel.WARNING, message, nodes=", ".join(stale))
        else:
            yield _line("taints", CheckLevel.OK, gettext_noop("Every reserved node belongs to an open decision."))

    def _other_preemption(self, scan: ClusterScan, tree: QueueTree) -> CheckResult:
        state = ClusterState()
        state.pods.update((pod.uid, pod) for pod in scan.pods)
        state.classes = {priority_class.name: priority_class for priority_class in scan.classes}
        classes = preempting_classes(state.snapshot(tree, now_ms=self._clock.wall_ms()).pods)
        if not classes:
            message = gettext_noop("The cluster’s own scheduler does not preempt for any pod in the queue tree.")
            return _line("two brains", CheckLevel.OK, message)
        is_error = self._expected.mode == "enforce" and self._expected.single
        message = gettext_noop(
            "The cluster’s own scheduler would preempt for pods of these priority classes, immediately "
            "and across fences: %(classes)s. For Enforce mode, set preemptionPolicy Never and the "
            'annotation scheduler-admin.io/may-preempt: "true" on them. Or use a scheduler profile '
            "without DefaultPreemption."
        )
        names = ", ".join(name or "(none)" for name in classes)
        return _line("two brains", CheckLevel.ERROR if is_error else CheckLevel.OK, message, classes=names)

    def _lease(self) -> CheckResult:
        try:
            holder, renewed = holder_of(self._connection)
        except ClusterError as error:
            return _line("lease", CheckLevel.ERROR, gettext_noop("The Lease cannot be read: %(why)s."), why=str(error))
        if not holder or holder in self._expected.owners:
            return _line("lease", CheckLevel.OK, gettext_noop("No other installation manages this cluster."))
        message = gettext_noop(
            "Another installation manages this cluster or did so before. %(holder)s "
            "holds the Lease, last renewed at %(when)s."
        )
        return _line(
            "lease",
            CheckLevel.ERROR,
            message,
            holder=holder,
            when=f"{renewed:%Y-%m-%d %H:%M:%S} UTC" if renewed else "–",
        )


def _mapping(body: bytes) -> dict[str, object]:
    try:
        decoded = msgspec.json.decode(body)
    except UNDECODABLE:
        decoded = None
    if not isinstance(decoded, dict):
        raise SettingsError(gettext_noop("The server responds, but not as a Kubernetes API server."))
    return decoded

"""Reads of the ledger: a month of it as far as one reader may know it, line by line and summed up by queue."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from engine.model.quantities import Amounts, total
from engine.model.queue_paths import Renames, current_path, is_inside
from scheduler_admin.accounts.former_paths import renames_for
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.scopes import Scope, Who, scope_of, scope_of_tenant
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.ledger.models import LedgerEntry

_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)
_AGE = (date(2000, 1, 1), date(2999, 12, 1))


@dataclass(frozen=True)
class Side:
    """Who lost, or gained, as far as the reader may know it: empty is not told, not known, or nobody."""

    namespace: str = ""
    queue: str = ""
    own: bool = False
    """Whether it is the reader's, of those that are asked for."""
    redacted: bool = False
    """Whether more is known of it than is told."""


@dataclass
class Sums:
    """Pods with what they had requested, and the work that was thrown away with them."""

    pods: int = 0
    unknown: int = 0
    """Of how many pods the work is not known."""
    requests: Amounts = field(default_factory=dict)
    work: Amounts = field(default_factory=dict)

    def add(self, more: "Sums | LedgerEntry") -> None:
        """Count more to it."""
        self.pods += more.pods
        self.unknown += more.unknown
        self.requests = total((self.requests, more.requests))
        self.work = total((self.work, more.work))


@dataclass(frozen=True)
class Line:
    """What one side gave up for the other in a month."""

    cluster: str
    source: str
    lost: Side
    gained: Side

    @property
    def nobody(self) -> bool:
        """Whether nobody gained: they were evicted for other reasons than to make room."""
        return self.source in Decision.EVICTORS

    @property
    def order(self) -> tuple[str, ...]:
        """Its place among others: by who lost, then by who gained."""
        lost, gained = self.lost, self.gained
        return self.cluster, lost.queue, lost.namespace, gained.queue, gained.namespace, self.source


@dataclass
class QueueSums:
    """What a queue of the reader's gave and got."""

    cluster: str
    queue: str
    gave: Sums = field(default_factory=Sums)
    got: Sums = field(default_factory=Sums)


@dataclass(frozen=True)
class Asked:
    """Which part of the ledger; empty: all of it."""

    month: date
    cluster: str = ""
    queue: str = ""
    """With all below it."""
    tenant: Scope | None = None
    """What one tenant has."""

    def owns(self, scope: Scope, namespace: str, queue: str) -> bool:
        """Whether a side is the reader's, and of those that are asked for."""
        of_tenant = self.tenant is None or self.tenant.has_pod(namespace, queue)
        inside = not self.queue or is_inside(queue, self.queue)
        return bool(namespace or queue) and of_tenant and inside and scope.has_pod(namespace, queue)


Ledger = Mapping[Line, Sums]


def ledger(user: Who, asked: Asked) -> Ledger:
    """The lines in order. What the reader can't tell apart is one line, so that hidden names aren't counted either.

    Queues are called what they are called by now. Two queries, and those of the reader's rights.
    """
    scope, among = scope_of(user, "view"), renames_for(user)
    redaction = Redaction.of(scope)
    rows = LedgerEntry.objects.restrict(user, "view").filter(month=asked.month).select_related("cluster").order_by()
    found: dict[Line, Sums] = {}
    for row in rows.filter(cluster__name=asked.cluster) if asked.cluster else rows:
        line = Line(
            cluster=row.cluster.name,
            source=row.source,
            lost=_lost(row, redaction, asked, among),
            gained=_gained(row, redaction, asked, among),
        )
        if line.lost.own or line.gained.own:
            found.setdefault(line, Sums()).add(row)
    return {line: found[line] for line in sorted(found, key=lambda line: line.order)}


def _lost(row: LedgerEntry, redaction: Redaction, asked: Asked, among: Renames) -> Side:
    known = row.losing_namespace, current_path(row.losing_queue, among)
    told = redaction.losing(*known)
    return Side(*told, own=asked.owns(redaction.scope, *known), redacted=told != known)


def _gained(row: LedgerEntry, redaction: Redaction, asked: Asked, among: Renames) -> Side:
    known = row.gaining_namespace, current_path(row.gaining_queue, among)
    told = redaction.gaining(*known)
    return Side(*told, own=asked.owns(redaction.scope, *known), redacted=told != known)


def by_queue(found: Ledger) -> list[QueueSums]:
    """What each of the reader's queues gave and got, by cluster and path."""
    sums: dict[tuple[str, str], QueueSums] = {}
    for line, each in found.items():
        for side, name in ((line.lost, "gave"), (line.gained, "got")):
            if side.own:
                place = line.cluster, side.queue
                getattr(sums.setdefault(place, QueueSums(*place)), name).add(each)
    return [sums[place] for place in sorted(sums)]


def in_all(found: Iterable[Sums]) -> Sums:
    """All of it together."""
    whole = Sums()
    for each in found:
        whole.add(each)
    return whole


def tenant_asked(user: Who, name: str) -> Scope | None:
    """What a tenant has, for those who see everything; None where there is no such tenant, and for others always."""
    found = Tenant.objects.filter(name=name).first() if scope_of(user, "view").everything else None
    return scope_of_tenant(found) if found else None


def month_asked(text: str) -> date | None:
    """``2026-11`` as the first day of that month; None for anything that is none, or of another age."""
    try:
        found = date.fromisoformat(f"{text}-01") if _MONTH.fullmatch(text) else None
    except ValueError:
        return None
    return found if found and _AGE[0] <= found <= _AGE[1] else None

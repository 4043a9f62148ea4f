"""What the ledger's page shows, and what its address asks for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from engine.model.message import short_name
from engine.model.quantities import Amounts, column
from scheduler_admin.accounts.scopes import Scope, Who
from scheduler_admin.core.words import Unit, comma, work_hours, work_text, work_unit
from scheduler_admin.decisions.models import Decision
from scheduler_admin.ledger.selectors import (
    Asked,
    Ledger,
    Line,
    QueueSums,
    Side,
    Sums,
    by_queue,
    in_all,
    month_asked,
    tenant_asked,
)
from scheduler_admin.ledger.services import month_of

MOST_LINES = 200
"""More are in the exports."""
_COLUMNS = 4
"""At most so many resources have columns, two each; the exports have all."""


@dataclass(frozen=True)
class LedgerAddress:
    """The page, as its address says it. Unknown names find nothing: an export must not hold more than was asked for."""

    month: date
    newest: date
    """The month that is running."""
    cluster: str = ""
    queue: str = ""
    tenant: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], now: datetime) -> "LedgerAddress":
        """Read it; a month that is none is the one that is running."""
        newest = month_of(now)
        texts = {name: query.get(name, "").strip() for name in ("cluster", "queue", "tenant")}
        return cls(month_asked(query.get("month", "")) or newest, newest, **texts)

    def asked(self, user: Who) -> Asked:
        """What is read for it."""
        tenant = (tenant_asked(user, self.tenant) or Scope()) if self.tenant else None  # nobody has nothing
        return Asked(month=self.month, cluster=self.cluster, queue=self.queue, tenant=tenant)

    def address(self, **changed: str) -> str:
        """The query string of this page, or of one that differs in ``changed``; defaults are left out."""
        month = f"{self.month:%Y-%m}" if self.month != self.newest else ""
        values = {"month": month, "cluster": self.cluster, "queue": self.queue, "tenant": self.tenant} | changed
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def earlier(self) -> str:
        """The query string of the month before."""
        return self.address(month=f"{self.month - timedelta(days=1):%Y-%m}")

    @property
    def later(self) -> str | None:
        """That of the month after; None: there is none yet."""
        after = (self.month + timedelta(days=31)).replace(day=1)
        return None if after > self.newest else self.address(month=f"{after:%Y-%m}")

    @property
    def is_set(self) -> bool:
        """Whether anything of the month is left out."""
        return bool(self.cluster or self.queue or self.tenant)


@dataclass(frozen=True)
class Given:
    """A part of the ledger, ready for its cells."""

    pods: int
    requests: Amounts
    hours: tuple[str, ...]
    """The work that was thrown away, by column."""


@dataclass(frozen=True)
class QueueLine:
    """A queue of the reader's."""

    cluster: str
    path: str
    name: str
    sides: tuple[Given, Given]
    """What it gave, and what it got."""


@dataclass(frozen=True)
class LedgerLine:
    """What one side gave up for the other."""

    line: Line
    lost: str
    gained: str
    source: str
    given: Given


@dataclass(frozen=True)
class LedgerPage:
    """A month."""

    gave: int
    got: int
    lost: str
    """The work that was thrown away with what was given, in words."""
    units: list[Unit]
    heads: list[str]
    """Of the columns of hours, one for each unit."""
    queues: list[QueueLine]
    lines: list[LedgerLine]
    all_lines: int
    several: bool
    """Whether it is about several clusters."""
    incomplete: bool
    """Whether of some pods the work is not known."""
    paths: list[str]
    """The queues that can be asked for, and those above them."""

    @property
    def width(self) -> int:
        """The columns of one side."""
        return 1 + len(self.units) + len(self.heads)


def ledger_page(found: Ledger) -> LedgerPage:
    """Put a month into words and columns; of very many lines those with the most pods."""
    queues = by_queue(found)
    largest = sorted(found.items(), key=lambda pair: (-pair[1].pods, pair[0].order))[:MOST_LINES]
    gave = in_all(sums for line, sums in found.items() if line.lost.own)
    got = in_all(sums for line, sums in found.items() if line.gained.own)
    names = sorted({name for sums in found.values() for name in sums.requests}, key=column)[:_COLUMNS]
    shown = [*(sums for _line, sums in largest), *(sums for one in queues for sums in (one.gave, one.got))]
    return LedgerPage(
        gave=gave.pods,
        got=got.pods,
        lost=_lost(gave),
        units=[Unit.of(name, [sums.requests.get(name, 0) for sums in shown]) for name in names],
        heads=[work_unit(name) for name in names],
        queues=[_queue(one, names) for one in queues],
        lines=[_line(line, sums, names) for line, sums in largest],
        all_lines=len(found),
        several=len({line.cluster for line in found}) > 1,
        incomplete=any(sums.unknown for sums in found.values()),
        paths=_paths(one.queue for one in queues),
    )


def _lost(sums: Sums) -> str:
    if not sums.pods:
        return ""
    known = work_text(sums.work) if sums.unknown < sums.pods else ""
    left_out = ngettext("unknown for %(n)s pod", "unknown for %(n)s pods", sums.unknown) % {"n": sums.unknown}
    return comma().join(part for part in (known, left_out if sums.unknown else "") if part)


def _queue(one: QueueSums, names: list[str]) -> QueueLine:
    sides = _given(one.gave, names), _given(one.got, names)
    return QueueLine(one.cluster, one.queue, short_name(one.queue), sides)


def _given(sums: Sums, names: list[str]) -> Given:
    return Given(sums.pods, sums.requests, tuple(_hours(sums, name) for name in names))


def _hours(sums: Sums, resource: str) -> str:
    """At least so many where the work of some pods is not known; nothing where that of none is."""
    done = sums.work.get(resource, 0)
    if sums.unknown == sums.pods or not (done or resource in sums.requests):
        return ""
    hours = work_hours(resource, done)
    return f"≥ {hours}" if sums.unknown else hours


def _line(line: Line, sums: Sums, names: list[str]) -> LedgerLine:
    gained = pgettext("for whom", "none") if line.nobody else _side(line.gained)
    source = str(Decision.Source(line.source).label)
    return LedgerLine(line, _side(line.lost), gained, source, _given(sums, names))


def _side(side: Side) -> str:
    """A queue's name; where there is none, why not."""
    if side.queue:
        return short_name(side.queue)
    if side.redacted:
        return _("hidden")
    return _("no queue") if side.namespace else _("unknown")


def _paths(queues: Iterable[str]) -> list[str]:
    found = set()
    for queue in queues:
        parts = queue.split(".")
        found |= {".".join(parts[:depth]) for depth in range(1, len(parts) + 1) if queue}
    return sorted(found)

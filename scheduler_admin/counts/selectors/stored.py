"""Which tallies a history is counted from."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from operator import attrgetter

from django.db.models import Q, QuerySet

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.models import Tally
from scheduler_admin.counts.services import DAY, HOUR, begin_of
from scheduler_admin.decisions.selectors.history_filters import Filters

MOST_KINDS = 1_000_000
"""So many are added up for a page at most, by their totals."""
MOST_READ = 500_000
"""So many are read each where that is for a queue: their totals do not tell of whom a queue had what."""


_GAPS = 4
"""In so many are hours looked for, each by itself."""


@dataclass(frozen=True)
class Part:
    """A tally that is counted from."""

    start: datetime
    span: timedelta
    pk: int
    kinds: int
    digest: str
    document: bytes | memoryview = b""
    """Its totals; where a queue is asked for its kinds. Empty until it is read."""

    @property
    def end(self) -> datetime:
        """Where it ends."""
        return self.start + self.span


@dataclass(frozen=True)
class Parts:
    """Tallies that lie within a time, the newest first."""

    found: Sequence[Part]
    start: datetime
    until: datetime

    @property
    def gaps(self) -> Iterator[tuple[datetime, datetime]]:
        """From when to when no tally tells of decisions, the newest first."""
        end = self.until
        for part in self.found:
            if part.end < end:
                yield part.end, end
            end = part.start
        if self.start < end:
            yield self.start, end

    def since(self, at: datetime) -> "Parts":
        """What of them begins at a time or later."""
        return Parts([part for part in self.found if part.start >= at], at, self.until)


def parts(user: Who, cluster: Cluster, filters: Filters, width: timedelta) -> Parts:
    """What tells as much as buckets of some width need; nothing does for a tenant, who sees some decisions alone.

    Of more than can be added up the newest, which then begin later than the filters.
    """
    whole = Parts([], filters.start, filters.until)
    if width < HOUR or not filters.tallied:
        return whole
    rows = Tally.objects.restrict(user, "view").filter(cluster=cluster, document__isnull=False)
    found = _newest(rows, whole, width)
    affordable = _affordable(found, MOST_READ if filters.queue else MOST_KINDS)
    if len(affordable) < len(found):
        whole = whole.since(affordable[-1].start if affordable else found[0].end)
    return replace(whole, found=_read(rows, affordable, "document" if filters.queue else "totals"))


def lying(cluster: Cluster, start: datetime, until: datetime) -> Parts:
    """Return all tallies of a cluster within a time, not read; for those who see everything."""
    rows, whole = Tally.objects.filter(cluster=cluster, document__isnull=False), Parts([], start, until)
    return replace(whole, found=_newest(rows, whole, DAY))


def read(parts: Sequence[Part]) -> list[Part]:
    """Return tallies with their kinds, without those that have changed since they were found."""
    return _read(Tally.objects.all(), parts, "document")


def _read(rows: QuerySet[Tally], parts: Sequence[Part], column: str) -> list[Part]:
    """They with what they say; one that has become due meanwhile, or was written anew, is a gap."""
    found = rows.filter(pk__in=[part.pk for part in parts]).values_list("pk", "digest", column)
    said = {(pk, digest): document for pk, digest, document in found}
    read = ((part, said.get((part.pk, part.digest))) for part in parts)
    return [replace(part, document=document) for part, document in read if document is not None]


def _newest(rows: QuerySet[Tally], whole: Parts, width: timedelta) -> list[Part]:
    """Days where buckets are no less, and hours where there is no day."""
    days = _lying(rows, DAY, [(whole.start, whole.until)]) if width >= DAY else []
    gaps = list(replace(whole, found=days).gaps)
    # Two years have 17,500 hours: none is read of a day that is told, unless days are so many that are due.
    hours = _lying(rows, HOUR, gaps if len(gaps) <= _GAPS else [(whole.start, whole.until)])
    told = {part.start for part in days}
    apart = [part for part in hours if begin_of(part.start, DAY) not in told]
    return sorted([*days, *apart], key=attrgetter("start"), reverse=True)


def _lying(rows: QuerySet[Tally], span: timedelta, times: Iterable[tuple[datetime, datetime]]) -> list[Part]:
    """The tallies of a length that lie within some times, the newest first."""
    within = Q(pk__in=[])
    for start, end in times:
        within |= Q(start__gte=start, start__lte=end - span)
    found = rows.filter(within, span=span).order_by("-start")
    return [Part(*row) for row in found.values_list("start", "span", "pk", "kinds", "digest")]


def _affordable(found: Sequence[Part], most: int) -> Sequence[Part]:
    sums = list(accumulate(part.kinds for part in found))
    return found[: bisect_right(sums, most)]

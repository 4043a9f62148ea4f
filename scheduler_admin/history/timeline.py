"""Pods preempted over time: counted in the database, put into buckets here."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import CharField, Count, F, Q, QuerySet
from django.db.models.functions import Cast, Substr

from scheduler_admin.history.filters import Filters
from scheduler_admin.history.models import Decision, Victim
from scheduler_admin.history.sentences import LOST

SERIES = 4
"""So many are told apart; the rest is one."""
REST = ""
_COLUMNS = {"queue": "victims__queue", "reason": "reason", "source": "source"}
_PENDING = Q(victims__state__in=[Victim.State.CHOSEN, Victim.State.HELD]) & (
    Q(state__in=[Decision.State.NOTED, Decision.State.INTENDED, Decision.State.EVICTING])
    # One that was held back stands only while passes still find it: later ones decided anew.
    | Q(state=Decision.State.HELD, last_seen__gte=F("cluster__status__pass_at"))
)
_WIDTHS = (
    (timedelta(minutes=20), timedelta(minutes=1)),
    (timedelta(hours=2), timedelta(minutes=5)),
    (timedelta(hours=36), timedelta(hours=1)),
    (timedelta(days=10), timedelta(hours=6)),
)
_LENGTH_OF_MINUTE, _LENGTH_OF_HOUR = len("2026-11-20 13:02"), len("2026-11-20 13")


@dataclass(frozen=True)
class Bucket:
    """A piece of time and who lost how many pods in it, by series."""

    start: datetime
    pods: dict[str, int]

    @property
    def total(self) -> int:
        """All series together."""
        return sum(self.pods.values())


@dataclass(frozen=True)
class Timeline:
    """Buckets of one width, oldest first; series from the largest to the smallest."""

    width: timedelta
    buckets: list[Bucket]
    series: list[tuple[str, int]]
    start: datetime
    end: datetime
    lost: int
    """Pods that were really evicted, in all."""
    shown: int
    """Pods that a decision names and that may still be evicted, or would be in another mode."""

    @property
    def highest(self) -> Bucket:
        """The bucket with most pods."""
        return max(self.buckets, key=lambda bucket: bucket.total)


def timeline(rows: QuerySet[Decision], filters: Filters) -> Timeline:
    """The victims of the filtered decisions, by the time of the decision: one query, which the database adds up."""
    width = width_of(filters.until - filters.start)
    fine = width < timedelta(hours=1)
    # A time cast to text and cut is grouped natively by SQLite and PostgreSQL alike; TruncHour is Python on SQLite.
    stamp = Substr(Cast("first_seen", CharField()), 1, _LENGTH_OF_MINUTE if fine else _LENGTH_OF_HOUR)
    counted = (
        rows.filter(victims__isnull=False)
        .annotate(stamp=stamp, series=F(_COLUMNS[filters.stack]))
        .values_list("stamp", "series")
        .annotate(lost=Count("victims", filter=Q(victims__state__in=LOST)), shown=Count("victims", filter=_PENDING))
        .order_by()
    )
    found = [(_read(at), series, lost, shown) for at, series, lost, shown in counted]
    return _bucketed(found, filters, width)


def width_of(span: timedelta) -> timedelta:
    """The width of a bucket: a dozen to three dozen of them, each a round time."""
    return next((width for limit, width in _WIDTHS if span <= limit), timedelta(days=1))


def _read(stamp: str) -> datetime:
    text = stamp if len(stamp) == _LENGTH_OF_MINUTE else f"{stamp}:00"
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


def _bucketed(counted: list[tuple[datetime, str, int, int]], filters: Filters, width: timedelta) -> Timeline:
    totals: Counter[str] = Counter()
    for _at, name, lost, _shown in counted:
        totals[name] += lost
    totals = +totals
    named = [name for name, _ in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))][:SERIES]
    if len(totals) > SERIES:
        named = named[: SERIES - 1]
    start, buckets = _floor(filters.start, width), []
    while start < filters.until:
        buckets.append(Bucket(start, {}))
        start += width
    for at, name, lost, _shown in counted:
        index = (at - buckets[0].start) // width
        key = name if name in named else REST
        if 0 <= index < len(buckets) and lost:
            buckets[index].pods[key] = buckets[index].pods.get(key, 0) + lost
    series = [(name, totals[name]) for name in named]
    rest = sum(totals.values()) - sum(pods for _, pods in series)
    return Timeline(
        width=width,
        buckets=buckets,
        series=[*series, (REST, rest)] if rest else series,
        start=buckets[0].start,
        end=start,
        lost=sum(lost for _at, _name, lost, _shown in counted),
        shown=sum(shown for _at, _name, _lost, shown in counted),
    )


def _floor(at: datetime, width: timedelta) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (at - epoch) // width * width

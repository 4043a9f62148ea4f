"""Pods preempted over time, in buckets."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler_admin.history.counting import Counts
from scheduler_admin.history.filters import Filters, width_of
from scheduler_admin.history.tallies import begin_of

SERIES = 4
"""So many are told apart; the rest is one."""
REST = ""


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

    @property
    def highest(self) -> Bucket:
        """The bucket with most pods."""
        return max(self.buckets, key=lambda bucket: bucket.total)


def timeline(counts: Counts, filters: Filters) -> Timeline:
    """Where the lost pods of a count are, over the time that it covers."""
    start = counts.since or filters.start
    width = max(width_of(filters.until - start), counts.finest)
    start = begin_of(start, width)
    lost: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for at, pods in counts.lost.items():
        lost[(at - start) // width].update(pods)
    return _timeline(lost, start, filters.until, width)


def _timeline(lost: Mapping[int, Counter[str]], start: datetime, until: datetime, width: timedelta) -> Timeline:
    totals: dict[str, int] = {}  # a Counter's own update takes twice as long, for a thousand queues a day
    for pods in lost.values():
        for name, many in pods.items():
            totals[name] = totals.get(name, 0) + many
    named = [name for name, _ in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))][:SERIES]
    if len(totals) > SERIES:
        named = named[: SERIES - 1]
    buckets = [Bucket(start + width * index, {}) for index in range(-((start - until) // width))]
    for index, pods in lost.items():
        bucket, told = buckets[min(index, len(buckets) - 1)].pods, {name: pods[name] for name in named if pods[name]}
        rest = pods.total() - sum(told.values())
        for name, many in [*told.items(), *([(REST, rest)] if rest else [])]:
            bucket[name] = bucket.get(name, 0) + many
    series = [(name, totals[name]) for name in named]
    whole = sum(totals.values())
    rest = whole - sum(pods for _, pods in series)
    return Timeline(
        width=width,
        buckets=buckets,
        series=[*series, (REST, rest)] if rest else series,
        start=start,
        end=buckets[-1].start + width,
        lost=whole,
    )

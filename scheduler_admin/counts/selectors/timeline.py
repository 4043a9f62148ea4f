"""Pods preempted over time, in buckets."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler_admin.counts.selectors.filtered import Counts
from scheduler_admin.counts.services import begin_of
from scheduler_admin.decisions.selectors.history_filters import Filters, width_of

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
    start, until = counts.since or filters.start, filters.until
    width = max(width_of(until - start), counts.finest)
    start = begin_of(start, width)
    many = -((start - until) // width)
    totals = counts.lost.by_name()
    named = [name for name, _ in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))][:SERIES]
    if len(totals) > SERIES:
        named = named[: SERIES - 1]
    table = counts.lost.by_bucket(lambda at: min((at - start) // width, many - 1), many, named)
    series = [(name, totals[name]) for name in named]
    whole = sum(totals.values())
    rest = whole - sum(pods for _, pods in series)
    return Timeline(
        width=width,
        buckets=[Bucket(start + width * number, _told([*named, REST], pods)) for number, pods in enumerate(table)],
        series=[*series, (REST, rest)] if rest else series,
        start=start,
        end=start + width * many,
        lost=whole,
    )


def _told(names: list[str], pods: list[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, many in zip(names, pods, strict=True):
        if many:
            found[name] = found.get(name, 0) + many  # what has no name is of the rest
    return found

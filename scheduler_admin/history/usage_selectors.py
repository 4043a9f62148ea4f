"""Reads of usage over time: one queue, one resource, thinned to what a screen can show."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Usage

POINTS = 600
"""More would fall on the same pixels."""


@dataclass(frozen=True)
class Point:
    """The most that was used within one step of the time shown, with guarantee, max and asks of then."""

    at: datetime
    used: int
    guaranteed: int | None
    max: int | None
    asks: int


@dataclass(frozen=True)
class Series:
    """Points in order of time. ``step_s``: how long a time each of them stands for; 0: every sample is shown."""

    resource: str
    points: list[Point] = field(default_factory=list)
    step_s: int = 0


def oldest(user: Who, cluster: Cluster, queue: str) -> datetime | None:
    """When a queue's first sample was taken; None while there is none."""
    rows = Usage.objects.restrict(user, "view").filter(cluster=cluster, queue=queue)
    first = rows.order_by("hour").only("hour", "seconds").first()
    return first.hour + timedelta(seconds=first.seconds[0]) if first and first.seconds else None


def series(user: Who, cluster: Cluster, queue: str, resource: str, since: datetime, until: datetime) -> Series:
    """Usage of a queue from ``since`` to ``until``; of several samples in one step the highest stays."""
    hours = Usage.objects.restrict(user, "view").filter(
        cluster=cluster, queue=queue, hour__gt=since - timedelta(hours=1), hour__lte=until
    )
    points = [
        point for hour in hours.order_by("hour") for point in _points(hour, resource) if since <= point.at <= until
    ]
    if len(points) <= POINTS:
        return Series(resource, points)
    step = max(1, int((until - since).total_seconds()) // POINTS)
    highest: dict[int, Point] = {}
    for point in points:
        slot = int((point.at - since).total_seconds()) // step
        if slot not in highest or point.used > highest[slot].used:
            highest[slot] = point
    return Series(resource, list(highest.values()), step)


def _points(hour: Usage, resource: str) -> Iterator[Point]:
    used = hour.used.get(resource, [0] * len(hour.seconds))
    guaranteed, limit = hour.guaranteed.get(resource), hour.max.get(resource)
    for second, amount, asks in zip(hour.seconds, used, hour.asks, strict=False):
        yield Point(hour.hour + timedelta(seconds=second), amount, guaranteed, limit, asks)

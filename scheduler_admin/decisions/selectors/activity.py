"""Reads of what happened lately: counts by hour, asks that wait, what a queue took and lost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce, TruncHour

from scheduler_admin.accounts.scopes import Who, scope_of_queue
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.models.names import Kind, number_of
from scheduler_admin.decisions.selectors.index import newest_about
from scheduler_admin.decisions.selectors.pods import own_asks
from scheduler_admin.decisions.sentences import LOST

Row = TypeVar("Row")
_PIECE = 8_000
"""At most so many rows are read at once to find those that are wanted."""
_LATELY = timedelta(minutes=10)
"""So long before the last pass an ask that waits by its status may have been considered; not at every pass it is."""


def preempted_by_hour(user: Who, clusters: Sequence[Cluster], now: datetime, hours: int = 24) -> dict[int, list[int]]:
    """Cluster id -> pods preempted in each of the last hours, the running one last.

    By when they were told to go, or where that is not known, were found gone.
    """
    start = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours - 1)
    lost = Victim.objects.restrict(user, "view").filter(cluster__in=clusters, state__in=LOST)
    result = {cluster.pk: [0] * hours for cluster in clusters}
    for at, those in (("evicted_at", Q()), ("gone_at", Q(evicted_at=None))):
        counted = (
            lost.filter(those, **{f"{at}__gte": start})
            .annotate(hour=TruncHour(at))
            .values_list("cluster", "hour")
            .annotate(pods=Count("pk"))
            .order_by()
        )
        for cluster, hour, pods in counted:
            index = int((hour - start).total_seconds() // 3600)
            if 0 <= index < hours:
                result[cluster][index] += pods
    return result


def refusals(user: Who, clusters: Sequence[Cluster], since: datetime) -> Counter[int]:
    """Cluster id -> decisions since then that broke a law and were not carried out."""
    counted = (
        Decision.objects.restrict(user, "view")
        .filter(cluster__in=clusters, ending=Decision.Ending.REJECTED, last_seen__gte=since)
        .values_list("cluster")
        .annotate(number=Count("pk"))
        .order_by()
    )
    return Counter(dict(counted))


def latest_for_queue(user: Who, cluster: Cluster, queue: str, pass_at: datetime) -> int | None:
    """The decision to open for "why does this queue wait": the one that passes considered last for an ask of it."""
    rows = own_asks(user).filter(cluster=cluster, ask_queue=queue, last_seen__gte=pass_at - _LATELY)
    return rows.exclude(state=Decision.State.CLOSED).order_by("-last_seen", "-pk").values_list("pk", flat=True).first()


WaitingPlace = tuple[datetime, str]
"""Among the asks that wait: since when one does, and its pod's UID."""


def waiting(
    user: Who,
    cluster: Cluster,
    since: datetime,
    queue: str = "",
    limit: int = 50,
    after: WaitingPlace | None = None,
) -> list[Decision]:
    """The user's asks that passes since then considered, or that wait for room to come free: all, or below a queue.

    Each with the decision that considered it last; the longest waiting first, from ``after`` a place on.
    """
    opened = Decision.objects.filter(cluster=cluster, state__in=Decision.OPEN).order_by().values_list("pk", flat=True)
    considered = Decision.objects.filter(Q(last_seen__gte=since) | Q(pk__in=list(opened)), cluster=cluster)
    considered = considered.exclude(outcome="fits")
    below = scope_of_queue(queue, user).paths("ask_queue") if queue else Q()
    rows = (
        (considered & own_asks(user))
        .filter(below)
        .exclude(state=Decision.State.CLOSED)  # with the time it is what the index has
        .annotate(waits_since=Coalesce("ask_since", "first_seen"))
    )
    if after:
        rows = rows.filter(Q(waits_since__gt=after[0]) | Q(waits_since=after[0], ask_uid__gt=after[1]))
    rows = rows.order_by("waits_since", "ask_uid", "pk").defer("laws")
    found: list[Decision] = []
    for piece in _pieces(rows, limit):
        # One query for both would be planned for every pair of partitions.
        of_asks = considered.filter(ask_uid__in={row.ask_uid for row in piece}).order_by("last_seen", "pk")
        latest = dict(of_asks.values_list("ask_uid", "pk"))
        found += [row for row in piece if latest[row.ask_uid] == row.pk]
        if len(found) >= limit:
            break
    for row in found[:limit]:
        row.cluster = cluster
    return found[:limit]


def _pieces(rows: "QuerySet[Any, Row]", size: int) -> "Iterator[list[Row]]":
    """Read rows a piece at a time, each four times as large as the one before, up to ``_PIECE``."""
    start = 0
    while piece := list(rows[start : start + size]):
        yield piece
        if len(piece) < size:
            break
        start, size = start + size, min(4 * size, max(size, _PIECE))


def waiting_place(row: Decision) -> WaitingPlace:
    """Where an ask stands among those that wait: it stays there while others come and go."""
    return row.ask_since or row.first_seen, row.ask_uid


def preemptions_of(
    user: Who, cluster: Cluster, queue: str, since: datetime, until: datetime, limit: int
) -> list[Decision]:
    """Decisions in ``[since, until)`` that evicted pods for a queue or out of it, newest first, with their counts.

    Of their columns there are the time and what tells whom they are for.
    """
    inside = scope_of_queue(queue, user)
    numbers = [number_of(cluster.pk, Kind.QUEUE, path) for path in inside.subtrees]
    within = Q(first_seen__gte=since, first_seen__lt=until)
    of_row = ("first_seen", *(f"ask_{name}" for name in ("queue", "namespace", "uid", "name")))
    decisions = Decision.objects.restrict(user, "view").filter(cluster=cluster).only(*of_row)
    found: list[Decision] = []
    read, size = 0, limit + limit // 8  # some evicted no pod
    while piece := newest_about(numbers, within, size)[read:]:
        # Where both ids are within bounds, PostgreSQL need not plan for every pair of partitions.
        bounds = {"victims__decision__gte": min(piece), "victims__decision__lte": max(piece)}
        found += (
            decisions.filter(pk__in=piece, victims__state__in=LOST, **bounds)
            .annotate(lost=Count("victims"), taken=Count("victims", filter=inside.paths("victims__queue")))
            .filter(Q(taken__gt=0) | inside.paths("ask_queue"))
            .order_by("-first_seen", "-pk")
        )
        if len(found) >= limit or read + len(piece) < size:
            break
        read, size = size, size + min(3 * size, _PIECE)
    return found[:limit]

"""Loops of preemptions that really happen: found in the last 24 hours, told once in these while they go on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Max

from engine.observation.preemption_loops import REPEATED_FROM, Loop, Member, loops
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.monitoring.meters import LOOPS
from scheduler_admin.decisions.models import Decision, Happening, HappeningQuerySet, Turn, Victim
from scheduler_admin.decisions.redaction import Redaction, SeenLoop
from scheduler_admin.decisions.services import events
from scheduler_admin.notifications.events.setbacks import tell_loops

DAY = timedelta(hours=24)
MOST_LISTED = 50
_MOST_READ = 10_000
"""Of the last 24 hours at most so many victims are read, the newest."""
_MOST_PAIRS = 300
"""Of those who gave way again and again to somebody at most so many are looked at, the latest."""
_LOSER = ("queue", "namespace", "application")
_TAKER = ("decision__ask_queue", "decision__ask_namespace", "decision__ask_application")


class _Taking(NamedTuple):
    """What is read of who gave way to whom."""

    times: int
    decision: int
    victim: int


_Pair = tuple[Member, Member]


def follow_loops(*, cluster: Cluster, now: datetime) -> None:
    """Tell of the loops that are new in the last 24 hours, and take down how the others go on.

    Called within a transaction, when somebody was preempted.
    """
    takings = _takings(cluster, now)
    found = loops({pair: taking.times for pair, taking in takings.items()})
    known = {_members(row.turns): row for row in _recent(cluster, now)} if found else {}
    new: dict[tuple[Turn, ...], list[int]] = {}
    for loop in found[:MOST_LISTED]:
        own = [takings[pair] for pair in pairwise((*loop, loop[0]))]
        turns = tuple(Turn(*member, one.times, one.decision) for member, one in zip(loop, own, strict=True))
        if loop in known:
            known[loop].facts = events.facts_of(turns)
        else:
            new[turns] = [taking.victim for taking in own]
    Happening.objects.bulk_update(known.values(), ["facts"])
    tell_loops(cluster, events.looped(cluster, new, now), now)
    transaction.on_commit(partial(LOOPS.labels(cluster.name).inc, len(new)))


def _takings(cluster: Cluster, now: datetime) -> Mapping[_Pair, _Taking]:
    """Who gave way twice or more to whom; what makes room for nobody is left out. One query."""
    day = Victim.objects.filter(cluster=cluster, evicted_at__gt=now - DAY)
    rows = Victim.objects.filter(pk__in=day.order_by("-evicted_at", "-pk").values("pk")[:_MOST_READ])
    rows = rows.exclude(decision__source__in=Decision.EVICTORS)
    for name in (*_LOSER, *_TAKER):
        rows = rows.exclude(**{name: ""})
    pairs = rows.order_by().values_list(*_LOSER, *_TAKER)
    counted = pairs.annotate(
        times=Count("decision", distinct=True), latest=Max("decision_id"), victim=Max("pk"), at=Max("evicted_at")
    )
    again = counted.filter(times__gte=REPEATED_FROM).order_by("-at", *_LOSER, *_TAKER)[:_MOST_PAIRS]
    return {(Member(*one[:3]), Member(*one[3:6])): _Taking(*one[6:9]) for one in again}


def _recent(cluster: Cluster, now: datetime) -> HappeningQuerySet:
    return Happening.objects.filter(cluster=cluster, kind=Happening.Kind.LOOP, at__gt=now - DAY)


def _members(turns: tuple[Turn, ...]) -> Loop:
    return tuple(Member(turn.queue, turn.namespace, turn.application) for turn in turns)


class Looped(NamedTuple):
    """A loop of the last 24 hours, for its reader."""

    at: datetime
    """Since when it is known."""
    seen: SeenLoop


def looped(user: Who, cluster: Cluster, now: datetime) -> list[Looped]:
    """Those in which the user sees somebody, the newest first; at most ``MOST_LISTED``."""
    rows = _recent(cluster, now).restrict(user, "view").order_by("-number")[:MOST_LISTED]
    redaction = Redaction.of(scope_of(user, "view"))
    return [Looped(row.at, redaction.loop(row.turns)) for row in rows]


def looping(user: Who, clusters: Sequence[Cluster], now: datetime) -> Counter[int]:
    """Cluster id -> loops of the last 24 hours. One query, however many clusters."""
    rows = Happening.objects.restrict(user, "view").filter(
        cluster__in=clusters, kind=Happening.Kind.LOOP, at__gt=now - DAY
    )
    return Counter(dict(rows.values_list("cluster").annotate(number=Count("pk")).order_by()))

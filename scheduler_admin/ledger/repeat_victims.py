"""Who is hit again and again: how often each victim's application was preempted in the day up to then."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from engine.model.quantities import Amounts
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.services import recount
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import work_of
from scheduler_admin.decisions.selectors.query import REPEATED
from scheduler_admin.decisions.services import events
from scheduler_admin.ledger.loops import DAY, MOST_LISTED, follow_loops
from scheduler_admin.notifications.events.setbacks import tell_repeated

_AT_ONCE = 500
_LISTED = ("namespace", "application", "queue", "requests", "started_at", "checkpoint_at", "evicted_at", "decision_id")

_App = tuple[str, str]
"""Namespace and application."""


class _Hit(NamedTuple):
    """What is read of each victim."""

    pk: int
    app: _App
    at: datetime
    decision: int
    preempted: bool
    """Evicted to make room: who is evicted for other reasons was not."""
    counted: int | None


def count_repeats(*, cluster: Cluster) -> bool:
    """Take down how often the applications of new victims were preempted; whether there were any.

    Called within a transaction. What becomes known late counts for those that went after it, too.
    """
    rows = Victim.objects.filter(cluster=cluster, evicted_at__isnull=False)
    fresh = _hits(rows.filter(preempted_in_day=None).order_by("pk")[:_AT_ONCE])
    if not fresh:
        return False
    since: dict[_App, datetime] = {}
    for hit in fresh:
        since[hit.app] = min(hit.at, since.get(hit.app, hit.at))
    span = {"evicted_at__gt": min(since.values()) - DAY, "evicted_at__lt": max(hit.at for hit in fresh) + DAY}
    by_app: dict[_App, list[_Hit]] = defaultdict(list)
    for hit in _hits(rows.filter(application__in={app for _namespace, app in since}, **span).order_by()):
        by_app[hit.app].append(hit)
    changed: dict[int, list[int]] = defaultdict(list)
    for app, first in since.items():
        for pk, count in _counted(by_app[app], since=first):
            changed[count].append(pk)
    for count, pks in changed.items():
        Victim.objects.filter(pk__in=pks).update(preempted_in_day=count)
    recounted = Victim.objects.filter(pk__in=[pk for pks in changed.values() for pk in pks])
    note_again(cluster, recounted.values_list("decision", flat=True))
    counts = {pk: count for count, pks in changed.items() for pk in pks}
    again, now = _again(fresh, counts), timezone.now()
    events.repeated(cluster, again, now)
    tell_repeated(cluster, again, now)
    if any(hit.preempted for hit in fresh):
        follow_loops(cluster=cluster, now=now)
    return True


def _again(fresh: list[_Hit], counts: Mapping[int, int]) -> dict[int, int]:
    """Of each application that was preempted again and again just now, its last victim (id), with how often."""
    last: dict[_App, int] = {}
    for hit in sorted(fresh, key=lambda hit: (hit.at, hit.pk)):
        if hit.preempted and counts[hit.pk] >= REPEATED:
            last[hit.app] = hit.pk
    return {pk: counts[pk] for pk in last.values()}


def note_again(cluster: Cluster, decisions: Iterable[int]) -> None:
    """Take down of some decisions (ids) whether they hit anybody again and again, after their victims have changed."""
    again = Exists(Victim.objects.filter(decision=OuterRef("pk"), preempted_in_day__gte=REPEATED))
    other = Decision.objects.filter(pk__in=set(decisions)).exclude(again=again)
    at = list(other.values_list("first_seen", flat=True))
    if at:
        other.update(again=again)
        recount(cluster=cluster, at=at)


def _hits(rows: QuerySet[Victim]) -> list[_Hit]:
    names = ("pk", "namespace", "application", "evicted_at", "decision", "decision__source", "preempted_in_day")
    return [
        _Hit(pk, (namespace, application), at, decision, source not in Decision.EVICTORS, counted)
        for pk, namespace, application, at, decision, source, counted in rows.values_list(*names)
        if at is not None
    ]


def _counted(hits: list[_Hit], *, since: datetime) -> Iterator[tuple[int, int]]:
    """The victims (ids) of one application whose count has changed, with that: a decision is one, whatever it took."""
    hits = sorted(hits, key=lambda hit: (hit.at, hit.pk))
    preempted = [hit for hit in hits if hit.preempted and hit.app[1]]
    window: Counter[int] = Counter()
    entered = left = 0
    for hit in hits:
        while entered < len(preempted) and preempted[entered].at <= hit.at:
            window[preempted[entered].decision] += 1
            entered += 1
        while left < entered and preempted[left].at <= hit.at - DAY:
            window[preempted[left].decision] -= 1
            if not window[preempted[left].decision]:
                del window[preempted[left].decision]
            left += 1
        if hit.at >= since and hit.counted != len(window):
            yield hit.pk, len(window)


@dataclass(frozen=True)
class Repeat:
    """An application that was preempted again and again in the last day."""

    namespace: str
    application: str
    times: int
    pods: int
    queues: tuple[str, ...]
    last: Victim
    work_lost: Amounts | None
    """None where not all of it is known."""


def repeats(user: Who, cluster: Cluster, now: datetime) -> list[Repeat]:
    """Those that the user may see, the most often hit first; at most ``MOST_LISTED``. Two queries."""
    rows = Victim.objects.restrict(user, "view").filter(cluster=cluster, evicted_at__gt=now - DAY)
    rows = rows.exclude(decision__source__in=Decision.EVICTORS)
    counted = rows.exclude(application="").values("namespace", "application").order_by()
    counted = counted.annotate(times=Count("decision", distinct=True), pods=Count("pk"), last=Max("evicted_at"))
    worst = counted.filter(times__gte=REPEATED).order_by("-times", "-pods", "-last", "namespace", "application")
    apps = {(one["namespace"], one["application"]): one["times"] for one in worst[:MOST_LISTED]}
    by_app: dict[_App, list[Victim]] = defaultdict(list)
    taken = rows.filter(application__in={application for _namespace, application in apps}).only(*_LISTED)
    for victim in taken.order_by("evicted_at", "pk"):
        by_app[victim.namespace, victim.application].append(victim)
    return [_repeat(by_app[app], times) for app, times in apps.items() if by_app[app]]


def _repeat(victims: list[Victim], times: int) -> Repeat:
    last = victims[-1]
    return Repeat(
        namespace=last.namespace,
        application=last.application,
        times=times,
        pods=len(victims),
        queues=tuple(sorted({victim.queue for victim in victims})),
        last=last,
        work_lost=work_of(victims),
    )

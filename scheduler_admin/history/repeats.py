"""Who is hit again and again: how often each victim's application was preempted in the day up to then."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q, QuerySet

from engine.resources import Amounts
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.filters import REPEATED
from scheduler_admin.history.models import Decision, Victim
from scheduler_admin.history.selectors import work_of

DAY = timedelta(hours=24)
MOST_LISTED = 50
_AT_ONCE = 500

_PREEMPTED = Q(evicted_at__isnull=False) & ~Q(decision__source__in=Decision.EVICTORS)
"""Evicted to make room: who is evicted for other reasons was not preempted."""
_App = tuple[str, str]
"""Namespace and application."""


def count_repeats(*, cluster: Cluster) -> None:
    """Take down how often the applications of new victims were preempted. Called within a transaction.

    What becomes known late counts for those that went after it, too.
    """
    fresh = Victim.objects.filter(cluster=cluster, evicted_at__isnull=False, preempted_in_day=None).order_by("pk")
    found: dict[_App, list[datetime]] = defaultdict(list)
    for victim in fresh.only("namespace", "application", "evicted_at")[:_AT_ONCE]:
        found[victim.namespace, victim.application].append(_at(victim))
    for (namespace, application), times in found.items():
        span = {"evicted_at__gt": min(times) - DAY, "evicted_at__lt": max(times) + DAY}
        of_app = Victim.objects.filter(cluster=cluster, namespace=namespace, application=application, **span)
        _count(of_app, since=min(times))


def _count(of_app: QuerySet[Victim], *, since: datetime) -> None:
    """Count anew what went ``since`` then: each preemption is one decision, however many pods it takes."""
    few = of_app.only("evicted_at", "decision_id", "preempted_in_day").order_by("evicted_at", "pk")
    hits = [(_at(victim), victim.decision_id) for victim in few.filter(_PREEMPTED).exclude(application="")]
    ordered = [at for at, _decision in hits]
    changed = []
    for victim in few.filter(evicted_at__gte=since):
        at = _at(victim)
        times = len({decision for _when, decision in hits[bisect_right(ordered, at - DAY) : bisect_right(ordered, at)]})
        if victim.preempted_in_day != times:
            victim.preempted_in_day = times
            changed.append(victim)
    Victim.objects.bulk_update(changed, ["preempted_in_day"], batch_size=_AT_ONCE)


def _at(victim: Victim) -> datetime:
    assert victim.evicted_at is not None
    return victim.evicted_at


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
    rows = Victim.objects.restrict(user, "view").filter(_PREEMPTED, cluster=cluster, evicted_at__gt=now - DAY)
    counted = rows.exclude(application="").values("namespace", "application").order_by()
    counted = counted.annotate(times=Count("decision", distinct=True), pods=Count("pk"), last=Max("evicted_at"))
    worst = counted.filter(times__gte=REPEATED).order_by("-times", "-pods", "-last", "namespace", "application")
    apps = {(one["namespace"], one["application"]): one["times"] for one in worst[:MOST_LISTED]}
    by_app = _by_app(rows, apps)
    return [_repeat(victims, apps[app]) for app in apps if (victims := by_app.get(app))]


def _by_app(rows: QuerySet[Victim], apps: Iterable[_App]) -> dict[_App, list[Victim]]:
    names = {application for _namespace, application in apps}
    found: dict[_App, list[Victim]] = defaultdict(list)
    for victim in rows.filter(application__in=names).order_by("evicted_at", "pk"):
        found[victim.namespace, victim.application].append(victim)
    return found


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

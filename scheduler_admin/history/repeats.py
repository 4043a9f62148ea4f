"""Who is hit again and again: how often each victim's application was preempted in the day up to then."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, QuerySet

from engine.resources import Amounts
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.filters import REPEATED
from scheduler_admin.history.models import Decision, Victim
from scheduler_admin.history.selectors import work_of

DAY = timedelta(hours=24)
MOST_LISTED = 50
_AT_ONCE = 500

_App = tuple[str, str]
"""Namespace and application."""


def count_repeats(*, cluster: Cluster) -> bool:
    """Take down how often the applications of new victims were preempted; whether there were any.

    Called within a transaction. What becomes known late counts for those that went after it, too.
    """
    found = Victim.objects.filter(cluster=cluster, evicted_at__isnull=False, preempted_in_day=None).order_by("pk")
    fresh = list(found.only("namespace", "application", "evicted_at")[:_AT_ONCE])
    if not fresh:
        return False
    since: dict[_App, datetime] = {}
    for victim in fresh:
        since[_app(victim)] = min(_at(victim), since.get(_app(victim), _at(victim)))
    span = {"evicted_at__gt": min(map(_at, fresh)) - DAY, "evicted_at__lt": max(map(_at, fresh)) + DAY}
    near = Victim.objects.filter(cluster=cluster, application__in={app for _namespace, app in since}, **span)
    changed: list[Victim] = []
    for app, victims in _by_app(near).items():
        if app in since:
            changed += _counted(victims, since=since[app])
    Victim.objects.bulk_update(changed, ["preempted_in_day"], batch_size=_AT_ONCE)
    return True


def _counted(victims: list[Victim], *, since: datetime) -> Iterator[Victim]:
    """Those of one application, by time, whose count has changed: however many pods it took, a decision is one."""
    hits = [(_at(one), one.decision_id) for one in victims if one.application and _is_preempted(one)]
    times = [at for at, _decision in hits]
    for one in victims:
        at = _at(one)
        window = hits[bisect_right(times, at - DAY) : bisect_right(times, at)]
        count = len({decision for _when, decision in window})
        if at >= since and one.preempted_in_day != count:
            one.preempted_in_day = count
            yield one


def _by_app(rows: QuerySet[Victim]) -> dict[_App, list[Victim]]:
    """Victims by application, each in the order in which they went. One query."""
    read = rows.select_related("decision").defer("changes", "decision__document", "decision__laws")
    found: dict[_App, list[Victim]] = defaultdict(list)
    for victim in read.order_by("evicted_at", "pk"):
        found[_app(victim)].append(victim)
    return found


def _app(victim: Victim) -> _App:
    return victim.namespace, victim.application


def _is_preempted(victim: Victim) -> bool:
    """Evicted to make room: who is evicted for other reasons was not."""
    return victim.decision.source not in Decision.EVICTORS


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
    rows = Victim.objects.restrict(user, "view").filter(cluster=cluster, evicted_at__gt=now - DAY)
    rows = rows.exclude(decision__source__in=Decision.EVICTORS)
    counted = rows.exclude(application="").values("namespace", "application").order_by()
    counted = counted.annotate(times=Count("decision", distinct=True), pods=Count("pk"), last=Max("evicted_at"))
    worst = counted.filter(times__gte=REPEATED).order_by("-times", "-pods", "-last", "namespace", "application")
    apps = {(one["namespace"], one["application"]): one["times"] for one in worst[:MOST_LISTED]}
    by_app = _by_app(rows.filter(application__in={application for _namespace, application in apps}))
    return [_repeat(victims, apps[app]) for app in apps if (victims := by_app.get(app))]


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

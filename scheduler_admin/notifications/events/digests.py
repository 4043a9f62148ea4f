"""Once a day a channel is told of the day before: who was preempted, in which loops, and how long asks waited.

Days are those of UTC, and end at midnight; what is told of one is written from DIGEST_HOUR of the next on.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from engine.explain import Message
from engine.model.message import gettext_noop, ngettext_noop, plural_message
from scheduler_admin.accounts.former_paths import renames
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.scopes import scope_of_tenant
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, Happening, Victim
from scheduler_admin.decisions.redaction import Redaction, SeenLoop
from scheduler_admin.decisions.sentences import seconds
from scheduler_admin.notifications.events.setbacks import loop_message
from scheduler_admin.notifications.models import Notification
from scheduler_admin.notifications.outbox import Telling, Told, tell
from scheduler_admin.notifications.selectors import enabled_for
from scheduler_admin.pending.models import Wait

QUIET = gettext_noop("%(day)s: no pod of tenant %(tenant)s was preempted.")
PREEMPTED = ngettext_noop(
    "%(day)s: %(count)s pod of tenant %(tenant)s was preempted.",
    "%(day)s: %(count)s pods of tenant %(tenant)s were preempted.",
)
APPLICATION = ngettext_noop(
    "%(application)s in namespace %(namespace)s of cluster %(cluster)s: %(count)s pod.",
    "%(application)s in namespace %(namespace)s of cluster %(cluster)s: %(count)s pods.",
)
MORE = ngettext_noop("And %(count)s more application.", "And %(count)s more applications.")
ALONE = gettext_noop("Queue %(queue)s of cluster %(cluster)s: 1 pending pod was scheduled, after %(half)s.")
ROOM = ngettext_noop(
    "Queue %(queue)s of cluster %(cluster)s: %(count)s pending pod was scheduled. Half waited at most "
    "%(half)s, nine in ten at most %(most)s.",
    "Queue %(queue)s of cluster %(cluster)s: %(count)s pending pods were scheduled. Half waited at most "
    "%(half)s, nine in ten at most %(most)s.",
)
STILL = ngettext_noop(
    "%(count)s pod was still pending at the end of the day.",
    "%(count)s pods were still pending at the end of the day.",
)
_LISTED = 20
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Figures:
    """What a tenant is told of a day."""

    preempted: Counter[tuple[str, str, str]]
    """Pods by cluster, namespace and application."""
    waited: dict[tuple[str, str], list[timedelta]]
    """By cluster and queue: how long each ask waited that got room on that day, the shortest first."""
    loops: list[tuple[str, SeenLoop]]
    """By cluster; in their order."""
    still: int
    """Asks that waited when it ended."""


@transaction.atomic
def write_digests(*, now: datetime) -> None:
    """Write those of yesterday that are due and were not written yet; where none is due it takes a query or two."""
    if now.astimezone(UTC).hour < settings.DIGEST_HOUR:
        return
    end = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    day = (end - _DAY).date()
    wanted = enabled_for(Notification.Event.DIGEST).filter(created_at__lt=end).select_for_update(of=("self",))
    told = Notification.objects.filter(event=Notification.Event.DIGEST, part=day.isoformat())
    channels = list(wanted.exclude(pk__in=told.values("channel")))
    figures = {tenant: _figures(tenant, end) for tenant in {channel.tenant for channel in channels if channel.tenant}}
    tellings = [
        Telling(
            channel=channel,
            event=Notification.Event.DIGEST,
            about=tenant.name,
            part=day.isoformat(),
            say=partial(_say, tenant, day, figures[tenant]),
        )
        for channel in channels
        if (tenant := channel.tenant) is not None
    ]
    tell(tellings, now)


def _figures(tenant: Tenant, end: datetime) -> Figures:
    """Of the day that ends then. Five queries."""
    scope, within = scope_of_tenant(tenant).before(renames()), {"gte": end - _DAY, "lt": end}
    victims = Victim.objects.within(scope).exclude(decision__source__in=Decision.EVICTORS)
    gone = victims.filter(**{f"evicted_at__{name}": at for name, at in within.items()}).order_by()
    names = gone.values_list("cluster__name", "namespace", "application", "name")
    waits = Wait.objects.within(scope).order_by()
    waited: dict[tuple[str, str], list[timedelta]] = defaultdict(list)
    ended = waits.filter(ending=Wait.Ending.BOUND, **{f"until__{name}": at for name, at in within.items()})
    for cluster, queue, since, until in ended.values_list("cluster__name", "queue", "since", "until"):
        waited[cluster, queue].append((until or end) - since)
    loops = Happening.objects.within(scope).filter(kind=Happening.Kind.LOOP)
    looped = loops.filter(**{f"at__{name}": at for name, at in within.items()}).select_related("cluster")
    redaction = Redaction.of(scope)
    return Figures(
        preempted=Counter((cluster, namespace, app or name) for cluster, namespace, app, name in names),
        waited={place: sorted(waited[place]) for place in sorted(waited)},
        loops=[(row.cluster.name, redaction.loop(row.turns)) for row in looped.order_by("cluster__name", "number")],
        still=waits.filter(Q(until=None) | Q(until__gte=end), since__lt=end).count(),
    )


def _say(tenant: Tenant, day: date, figures: Figures, _pods: object) -> Told:
    return Told(
        lines=[text(message) for message in _messages(tenant, day, figures)],
        link=f"{settings.SITE_URL}/pods/?show=preempted",
        facts=_facts(day, figures),
    )


def _messages(tenant: Tenant, day: date, figures: Figures) -> Iterator[Message]:
    whose = {"day": day.isoformat(), "tenant": tenant.name}
    pods = figures.preempted.total()
    yield plural_message(PREEMPTED, pods, **whose) if pods else Message(QUIET, whose)
    for (cluster, namespace, application), count in figures.preempted.most_common(_LISTED):
        yield plural_message(APPLICATION, count, cluster=cluster, namespace=namespace, application=application)
    if len(figures.preempted) > _LISTED:
        yield plural_message(MORE, len(figures.preempted) - _LISTED)
    for cluster, seen in figures.loops[:_LISTED]:
        yield loop_message(cluster, seen)
    for (cluster, queue), lasted in list(figures.waited.items())[:_LISTED]:
        half, most = (seconds(_share(lasted, tenths).total_seconds()) for tenths in (5, 9))
        where = {"cluster": cluster, "queue": queue, "half": half}
        yield plural_message(ROOM, len(lasted), most=most, **where) if len(lasted) > 1 else Message(ALONE, where)
    if figures.still:
        yield plural_message(STILL, figures.still)


def _share(lasted: list[timedelta], tenths: int) -> timedelta:
    """Within how long so many tenths of them, or a few more, got room."""
    return lasted[-(-len(lasted) * tenths // 10) - 1]


def _facts(day: date, figures: Figures) -> dict[str, Any]:
    """The same content for programs."""
    return {
        "day": day.isoformat(),
        "preempted": [
            {"cluster": cluster, "namespace": namespace, "application": application, "pods": count}
            for (cluster, namespace, application), count in figures.preempted.most_common(_LISTED)
        ],
        "preempted_pods": figures.preempted.total(),
        "loops": [{"cluster": cluster, **seen.facts} for cluster, seen in figures.loops[:_LISTED]],
        "waits": [
            {
                "cluster": cluster,
                "queue": queue,
                "placed_pods": len(lasted),
                "median_seconds": _share(lasted, 5).total_seconds(),
                "p90_seconds": _share(lasted, 9).total_seconds(),
            }
            for (cluster, queue), lasted in list(figures.waited.items())[:_LISTED]
        ],
        "pending_pods": figures.still,
    }

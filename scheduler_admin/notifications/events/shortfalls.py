"""Queues below their guarantee while asks wait for what they lack: since when, and who is told of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from engine.model.message import Message, Timestamp, format_amount_list, gettext_noop, ngettext_noop, plural_message
from engine.model.objects import Pod
from engine.model.quantities import Amounts, format_amounts
from engine.model.queue_paths import is_inside
from engine.model.queue_tree import QueueTree
from engine.observation.shortfalls import amounts_below_guarantee, shortfalls
from scheduler_admin.accounts.scopes import scope_of_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.core.links import queue_url
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.services import events
from scheduler_admin.notifications.models import Notification, Shortfall
from scheduler_admin.notifications.outbox import Telling, Told, tell
from scheduler_admin.notifications.selectors import enabled_for

BELOW = ngettext_noop(
    "Queue %(queue)s has been below its guarantee since %(since)s. %(count)s pod is waiting for the missing resources.",
    "Queue %(queue)s has been below its guarantee since %(since)s. %(count)s pods are waiting for the "
    "missing resources.",
)
HOLDS = gettext_noop("It uses %(used)s of its guarantee of %(guaranteed)s.")
MARKS_MIN = (1, 5, 15, 60, 240, 1_440)
"""After so many minutes below its guarantee it is written down of a queue, for programs."""
_WITNESSED = timedelta(minutes=1)
"""Where no pass was for so long nobody knows what was meanwhile."""


def follow_shortfalls(
    *,
    cluster: Cluster,
    tree: QueueTree,
    figures: Mapping[str, Mapping[str, Any]],
    asks: Iterable[Pod],
    now: datetime,
) -> None:
    """Take down which queues are short as of ``now``, and tell those who want to know after so long.

    ``figures`` as ClusterStatus.queues. Called within a transaction.
    """
    short = shortfalls(tree, {path: figures[path]["used"] for path in tree.queues}, asks)
    rows = Shortfall.objects.filter(cluster=cluster)
    status = status_of(cluster)
    witnessed = status is not None and status.pass_at is not None and now - status.pass_at <= _WITNESSED
    (rows.exclude(queue__in=short) if witnessed else rows).delete()
    known = {row.queue: row for row in rows}
    since = {path: row.since for path, row in known.items()}
    new = [Shortfall(cluster=cluster, queue=path, since=now) for path in short if path not in since]
    Shortfall.objects.bulk_create(new)
    lasting = {path: since[path] for path in short if path in since}
    if lasting:
        _tell(cluster, tree, figures, short, lasting, now)
        _note(cluster, tree, figures, short, [known[path] for path in lasting], now)


def _note(
    cluster: Cluster,
    tree: QueueTree,
    figures: Mapping[str, Mapping[str, Any]],
    short: Mapping[str, int],
    rows: Iterable[Shortfall],
    now: datetime,
) -> None:
    """Write down which of them last for another of MARKS_MIN minutes now."""
    facts: dict[str, dict[str, Any]] = {}
    for row in rows:
        lasted = (now - row.since) // timedelta(minutes=1)
        mark = max((mark for mark in MARKS_MIN if mark <= lasted), default=0)
        if mark > row.told_min:
            Shortfall.objects.filter(pk=row.pk).update(told_min=mark)
            lacks = amounts_below_guarantee(tree[row.queue].guaranteed, figures[row.queue]["used"])
            facts[row.queue] = {"minutes": mark, **_facts(row.queue, lacks, figures, short[row.queue], row.since)}
    events.below(cluster, facts, now)


def _tell(
    cluster: Cluster,
    tree: QueueTree,
    figures: Mapping[str, Mapping[str, Any]],
    short: Mapping[str, int],
    lasting: Mapping[str, datetime],
    now: datetime,
) -> None:
    """A queue is not told of beside one below it, which says the same more exactly."""
    known, tellings = _known(cluster, lasting), []
    for channel in enabled_for(Notification.Event.BELOW):
        scope, after = scope_of_tenant(channel.tenant), timedelta(minutes=channel.below_min or 0)
        late = [path for path, since in lasting.items() if scope.has_path(path) and now - since >= after]
        for path in late:
            if (channel.pk, _about(cluster, path), lasting[path].isoformat()) in known:
                continue
            if any(other != path and is_inside(other, path) for other in late):
                continue
            lacks = amounts_below_guarantee(tree[path].guaranteed, figures[path]["used"])
            tellings.append(
                Telling(
                    channel=channel,
                    event=Notification.Event.BELOW,
                    about=_about(cluster, path),
                    part=lasting[path].isoformat(),
                    say=partial(_say, cluster, path, lacks, figures, short[path], lasting[path]),
                )
            )
    tell(tellings, now)


def _known(cluster: Cluster, lasting: Mapping[str, datetime]) -> set[tuple[int, str, str]]:
    """Channel (id), about, part of what was told. One query, as it is asked with every sample while they last."""
    abouts = [_about(cluster, path) for path in lasting]
    rows = Notification.objects.filter(event=Notification.Event.BELOW, created_at__gte=min(lasting.values()))
    return set(rows.filter(about__in=abouts).order_by().values_list("channel_id", "about", "part"))


def _about(cluster: Cluster, path: str) -> str:
    return f"{cluster.name} {path}"


def _say(
    cluster: Cluster,
    path: str,
    lacks: Amounts,
    figures: Mapping[str, Mapping[str, Any]],
    asks: int,
    since: datetime,
    _pods: object,
) -> Told:
    """Of what it lacks: what it is guaranteed, and what it holds."""
    holds = {"used": format_amount_list(_held(figures[path], lacks)), "guaranteed": format_amount_list(lacks)}
    return Told(
        lines=[text(shortfall_message(path, asks, since)), text(Message(HOLDS, holds))],
        link=queue_url(cluster.name, path),
        facts={"cluster": cluster.name, **_facts(path, lacks, figures, asks, since)},
    )


def shortfall_message(queue: str, asks: int, since: datetime) -> Message:
    """That a queue is below its guarantee, in sentences."""
    return plural_message(BELOW, asks, queue=queue, since=Timestamp(since.timestamp() * 1000))


def _facts(
    path: str, lacks: Amounts, figures: Mapping[str, Mapping[str, Any]], asks: int, since: datetime
) -> dict[str, Any]:
    """The same content for programs."""
    return {
        "queue": path,
        "since": since.isoformat(),
        "pending_pods": asks,
        "used": format_amounts(_held(figures[path], lacks)),
        "guaranteed": format_amounts(lacks),
    }


def _held(figures: Mapping[str, Any], lacks: Amounts) -> Amounts:
    return {name: figures["used"].get(name, 0) for name in lacks}

"""What the page of all clusters shows, put together from the selectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.connections.error_messages import told_missing
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.selectors import Freshness, freshness, status_of
from scheduler_admin.core.words import Unit, listed
from scheduler_admin.decisions.selectors import activity
from scheduler_admin.ledger.loops import looping
from scheduler_admin.queues.models import Queue
from scheduler_admin.queues.selectors import queues as selectors
from scheduler_admin.queues.selectors.visible_queues import VisibleQueues
from scheduler_admin.sync.models import Copy
from scheduler_admin.sync.state import troubled

_NAMED = 3
"""So many queues a sentence names."""


@dataclass(frozen=True)
class Share:
    """One resource of a whole cluster."""

    resource: str
    used: int
    guaranteed: int
    capacity: int
    unit: Unit


@dataclass(frozen=True)
class Overview:
    """A cluster in one row."""

    cluster: Cluster
    status: ClusterStatus | None
    fresh: Freshness
    shares: list[Share]
    asks: int
    oldest_ask_ms: int | None
    hours: list[int]
    refused: int
    loops: int
    """Applications that took from each other in turn, in the last 24 hours."""
    missing: list[str]
    """What passes do without, and who has to do without preemption for that, as sentences."""
    copy: Copy | None
    """The cluster's own copy of the tree, where others changed it."""

    unplaced: int
    """Pods that are in no queue, as far as they are told."""

    @property
    def preempted(self) -> int:
        """Pods preempted in the hours shown."""
        return sum(self.hours)


def overviews(user: Who, clusters: Sequence[Cluster], now: datetime) -> list[Overview]:
    """Every cluster in one row. Four queries, however many clusters."""
    hours = activity.preempted_by_hour(user, clusters, now)
    refused = activity.refusals(user, clusters, now - timedelta(hours=24))
    loops = looping(user, clusters, now)
    copies = troubled(user, clusters)
    return [
        _overview(
            cluster,
            selectors.visible(user, cluster.hierarchy.current if cluster.hierarchy else None),
            now,
            hours,
            refused,
            loops,
            copies.get(cluster.pk),
        )
        for cluster in clusters
    ]


def _overview(
    cluster: Cluster,
    queues: VisibleQueues,
    now: datetime,
    hours: dict[int, list[int]],
    refused: dict[int, int],
    loops: dict[int, int],
    copy: Copy | None,
) -> Overview:
    status = status_of(cluster)
    capacity = status.capacity if status else {}
    names = selectors.resources(queues, capacity)
    top = queues[0].path if queues else ""
    figures = status.queues.get(top, {}) if status else {}
    root = selectors.row(queues, top, figures, capacity, names) if queues else None
    shares = []
    for figure in root.figures if root else ():
        whole = capacity.get(figure.resource, 0)
        unit = Unit.of(figure.resource, [figure.used, figure.guaranteed or 0, whole])
        shares.append(Share(figure.resource, figure.used, figure.guaranteed or 0, whole, unit))
    return Overview(
        cluster=cluster,
        status=status,
        fresh=freshness(status, now),
        shares=shares,
        asks=root.asks if root else 0,
        oldest_ask_ms=root.oldest_ask_ms if root else None,
        hours=hours[cluster.pk],
        refused=refused[cluster.pk],
        loops=loops[cluster.pk],
        missing=[*told_missing(status.missing), *_without_preemption(status, queues)] if status else [],
        copy=copy,
        unplaced=sum(status.unplaced.get(state, 0) for state in ("running", "waiting")) if status else 0,
    )


def _without_preemption(status: ClusterStatus, queues: Sequence[Queue]) -> list[str]:
    """For which queues of those nobody is preempted, as something can't be read; the first of them by name."""
    found = [queue.path for queue in queues if status.queues.get(queue.path, {}).get("unknown")]
    if not found:
        return []
    sentence = ngettext(
        "No pods are preempted for %(queues)s, because a pod that counts toward its usage can’t be read.",
        "No pods are preempted for %(queues)s, because a pod that counts toward their usage can’t be read.",
        len(found),
    )
    named = listed(found[:_NAMED])
    if len(found) > _NAMED:
        named = _("%(names)s and %(more)s more") % {"names": named, "more": len(found) - _NAMED}
    return [sentence % {"queues": named}]

"""What is wrong with a cluster, in a few words each, for the top bar of its pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.explain import hold_heading
from engine.model.decision import Interlock
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.connections.error_messages import told_missing
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.holds import BREAKERS
from scheduler_admin.clusters.selectors import freshness, holds, status_of
from scheduler_admin.core.translation import text

_NOBODY_ACTS = BREAKERS | {
    Interlock.NO_LEASE,
    Interlock.OTHER_INSTALLATION,
    Interlock.OTHER_SCHEDULER,
    Interlock.STOPPED_IN_CLUSTER,
}
"""What keeps the engine from acting without anybody here having said so."""


@dataclass(frozen=True)
class Trouble:
    """Something wrong, how bad it is, and the page with more of it. ``kind`` is that of a word of state."""

    text: str
    kind: Literal["stop", "warn", "wait"]
    url: str


def troubles(cluster: Cluster, user: Who, now: datetime) -> list[Trouble]:
    """What is wrong now and concerns the user, the worst first; for tenants only how old the data is."""
    status = status_of(cluster)
    found = [*_unread(cluster, status, now)]
    if status is not None and scope_of(user, "view").everything:
        found += [*_idle(cluster, user), *_partial(cluster, status)]
    return sorted(found, key=lambda one: ("stop", "warn", "wait").index(one.kind))


def _unread(cluster: Cluster, status: ClusterStatus | None, now: datetime) -> Iterator[Trouble]:
    page = reverse("web:queues", args=[cluster.name])
    match freshness(status, now).state:
        case "error":
            yield Trouble(_("the cluster can’t be read"), "stop", page)
        case "stale":
            yield Trouble(_("no recent data"), "stop", page)
        case "empty":
            yield Trouble(_("not read yet"), "wait", page)
        case "fresh":
            pass


def _idle(cluster: Cluster, user: Who) -> Iterator[Trouble]:
    page = reverse("web:settings", args=[cluster.name])
    for hold in holds(cluster, scope_of(user, "view")):
        if hold.interlock in _NOBODY_ACTS:
            yield Trouble(text(hold_heading(hold.interlock, hold.queue)), "stop", page)


def _partial(cluster: Cluster, status: ClusterStatus) -> Iterator[Trouble]:
    clusters = reverse("web:clusters")
    for sentence in told_missing(status.missing):
        yield Trouble(sentence, "warn", clusters)
    if n := status.odd_count:
        words = ngettext("%(n)s object can’t be read", "%(n)s objects can’t be read", n) % {"n": n}
        yield Trouble(words, "warn", f"{clusters}#fold-odd-{cluster.name}")
    if n := sum(status.unplaced.get(state, 0) for state in ("running", "waiting")):
        words = ngettext("%(n)s pod without a queue", "%(n)s pods without a queue", n) % {"n": n}
        yield Trouble(words, "wait", reverse("web:queues", args=[cluster.name]) + "#unplaced")

"""Reads of clusters and of what was last heard of them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db.models import JSONField
from django.http import Http404

from engine.model.queue_paths import is_inside
from scheduler_admin.accounts.scopes import Scope, Who
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Credentials
from scheduler_admin.clusters.safeguards.holds import Hold, holds_of
from scheduler_admin.queues.models import Hierarchy

STALE_AFTER = timedelta(seconds=10)
"""A status older than this is shown as stale; a pass a second is the rule."""


@dataclass(frozen=True)
class Freshness:
    """How far what a page shows can be trusted. ``empty``: no pass yet. ``since``: stale or failing since then."""

    state: Literal["empty", "fresh", "stale", "error"]
    since: datetime | None = None
    error: str = ""


def names(user: Who) -> list[str]:
    """The names of the clusters that the user may see."""
    return list(Cluster.objects.restrict(user, "view").values_list("name", flat=True))


def get(user: Who, name: str) -> Cluster:
    """One cluster with its status and current revision. Raises Http404 for a stranger.

    What is large of either is read when somebody looks at it: most requests are told that there is no news.
    """
    rows = Cluster.objects.restrict(user, "view").select_related("status", "hierarchy__current")
    cluster = rows.defer(*status_heads("status"), *_TEXTS).filter(name=name).first()
    if cluster is None:
        raise Http404
    return cluster


def status_heads(of: str, *but: str) -> list[str]:
    """What a page need not read of a cluster's status, which is at the path ``of``: its large fields, ``but`` some."""
    documents = (field.name for field in ClusterStatus._meta.fields if isinstance(field, JSONField))  # noqa: SLF001 - Django's documented name
    return [f"{of}__{name}" for name in documents if name not in _SHORT and name not in but]


_SHORT = frozenset({"group_scheduling", "holds", "missing", "unplaced"})
"""Those that are always read: every page of a cluster shows most of them."""
_TEXTS = ("hierarchy__current__document", "hierarchy__current__source")


_OF_CLUSTER = ClusterStatus._meta.get_field("cluster")  # noqa: SLF001 - Django's documented name


def status_of(cluster: Cluster) -> ClusterStatus | None:
    """What the last pass read, None before the first.

    It does not know its cluster: if both referred to each other, its figures of all queues would stay in memory until
    the garbage collector looks at them.
    """
    status = getattr(cluster, "status", None)
    if status is not None and _OF_CLUSTER.is_cached(status):
        _OF_CLUSTER.delete_cached_value(status)
    return status


def present(cluster: Cluster) -> Collection[str]:
    """The paths of the queues that were there in the last pass, dynamic ones too, if it was under the tree in force."""
    status, revision = status_of(cluster), cluster.hierarchy.current if cluster.hierarchy else None
    return status.queues if status and revision and status.revision_number == revision.number else ()


def holds(cluster: Cluster, scope: Scope) -> list[Hold]:
    """What keeps evictions back now and concerns a scope; who closed it, why, and figures are for who sees everything.

    A queue above a tenant's own may be named: its name is a part of theirs.
    """
    found = holds_of(status_of(cluster))
    if scope.everything:
        return found
    return [
        Hold(**{name: getattr(hold, name) for name in ("interlock", "queue", "since_ms", "until_ms")})
        for hold in found
        if not hold.queue or any(is_inside(hold.queue, own) or is_inside(own, hold.queue) for own in scope.subtrees)
    ]


def credentials_of(cluster: Cluster) -> Credentials | None:
    """What is kept to sign in to it, but for what is sealed; None where nothing is."""
    return Credentials.objects.defer("sealed").filter(cluster=cluster).first()


def freshness(status: ClusterStatus | None, now: datetime) -> Freshness:
    """Whether the status is news, old, failing or not there yet."""
    if status is None:
        return Freshness("empty")
    if status.error:
        return Freshness("error", status.error_since or status.read_at, status.error)
    if status.read_at is None:
        return Freshness("empty")
    if now - status.read_at > STALE_AFTER:
        return Freshness("stale", status.read_at)
    return Freshness("fresh", status.read_at)


def using(user: Who, hierarchy: Hierarchy | None) -> list[Cluster]:
    """The clusters that use a hierarchy and that the user may see, with their status; none for None."""
    if hierarchy is None:
        return []
    rows = Cluster.objects.restrict(user, "view").filter(hierarchy=hierarchy)
    return list(rows.select_related("status", "hierarchy__current"))


def every(user: Who) -> list[Cluster]:
    """All clusters that the user may see, with their status and current revision."""
    return list(Cluster.objects.restrict(user, "view").select_related("status", "hierarchy__current"))

"""One worker per cluster: a row taken and kept by compare-and-swap. Its passes are sent to that worker alone."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Count, Q

from scheduler_admin.clusters.models import Cluster, Worker

TERM = timedelta(seconds=15)
"""How long a claim holds at least when its owner is not heard of."""
TURNS = 3
"""A claim outlasts so many of the cluster's intervals: one that has a pass a minute is not up for grabs between two."""
ALIVE = timedelta(seconds=8)
"""A worker that was not heard of for so long is given nothing, and what it had is free; it says each second that it is
there."""
SHARED = "engine"
"""The queue of what any of the engine's workers may take."""


def term(cluster: Cluster) -> timedelta:
    """How long a claim of this cluster holds."""
    return max(TERM, TURNS * timedelta(milliseconds=cluster.interval_ms))


def claimed_at(cluster: Cluster) -> datetime | None:
    """When its owner took it, or kept it, the last time; None: it has none, or gave it back."""
    return None if cluster.owned_until is None else cluster.owned_until - term(cluster)


def claim(*, cluster: Cluster, owner: str, now: datetime) -> bool:
    """Take or renew the ownership of a cluster; whether it is now ``owner``'s for its term."""
    free = Q(owner=owner) | Q(owner="") | Q(owned_until__isnull=True) | Q(owned_until__lt=now)
    return bool(Cluster.objects.filter(free, pk=cluster.pk).update(owner=owner, owned_until=now + term(cluster)))


def is_anothers(cluster: Cluster, *, owner: str, now: datetime) -> bool:
    """Whether somebody else has it, as the row was read."""
    return cluster.owner not in {"", owner} and cluster.owned_until is not None and cluster.owned_until >= now


def own_queue(owner: str) -> str:
    """The queue that this worker alone consumes."""
    return f"{SHARED}/{owner}"


def queue_of(cluster: Cluster, now: datetime) -> str:
    """Where what is to be done with a cluster is sent: to its owner, or to whoever takes it."""
    return own_queue(cluster.owner) if is_anothers(cluster, owner="", now=now) else SHARED


def holder(*, cluster: Cluster, owner: str) -> str:
    """What an owner is called in the cluster's lease: one that is here under two names is acted on under one alone."""
    return f"{owner}/{cluster.name}"


def release(*, owner: str) -> None:
    """Give all clusters of an owner back; it takes none any more."""
    Cluster.objects.filter(owner=owner).update(owner="", owned_until=None)
    Worker.objects.filter(name=owner).delete()


def note(*, owner: str, now: datetime) -> None:
    """A worker is there. Mostly one row written."""
    if not Worker.objects.filter(name=owner).update(heard_at=now):
        Worker.objects.create(name=owner, heard_at=now)


def release_silent(*, now: datetime) -> list[str]:
    """Give back what workers have that were not heard of for long, for a pass at once; the names of these workers.

    To be called by a worker that was there itself all this time: else it may be the database that was away.
    """
    silent = list(Worker.objects.filter(heard_at__lt=now - ALIVE).values_list("name", flat=True))
    if silent:
        Cluster.objects.filter(owner__in=silent).update(owner="", owned_until=None, next_pass_at=None)
        Worker.objects.filter(name__in=silent, heard_at__lt=now - ALIVE).delete()
    return silent


def heir(*, owner: str, now: datetime) -> str:
    """The worker to which ``owner`` should give a cluster, as it has at least two fewer; empty: none has."""
    names = sorted(Worker.objects.filter(heard_at__gte=now - ALIVE).values_list("name", flat=True))
    owned = Cluster.objects.filter(owned_until__gte=now).order_by()
    held = Counter(dict(owned.values_list("owner").annotate(Count("pk"))))
    least = min(names, key=lambda name: held[name], default="")
    return least if least and held[owner] - held[least] > 1 else ""


def make_due(clusters: Collection[int], *, owner: str) -> None:
    """Make the next pass of these clusters due at once, unless they are no longer ``owner``'s."""
    if clusters:
        Cluster.objects.filter(pk__in=clusters, owner=owner).update(next_pass_at=None)


def hand_over(*, cluster: int, owner: str, to: str) -> None:
    """Give a cluster to another worker, for as long as it was ours. Its next pass is sent there, and due at once."""
    Cluster.objects.filter(pk=cluster, owner=owner).update(owner=to, next_pass_at=None)

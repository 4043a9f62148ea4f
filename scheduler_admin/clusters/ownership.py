"""One worker per cluster: a row taken and kept by compare-and-swap."""

from datetime import datetime, timedelta

from django.db.models import Q

from scheduler_admin.clusters.models import Cluster

TERM = timedelta(seconds=15)
"""How long a claim holds when its owner is not heard of."""


def claim(*, cluster: Cluster, owner: str, now: datetime) -> bool:
    """Take or renew the ownership of a cluster; whether it is now ``owner``'s until ``now + TERM``."""
    free = Q(owner=owner) | Q(owner="") | Q(owned_until__isnull=True) | Q(owned_until__lt=now)
    return bool(Cluster.objects.filter(free, pk=cluster.pk).update(owner=owner, owned_until=now + TERM))


def holder(*, cluster: Cluster, owner: str) -> str:
    """What an owner is called in the cluster's lease: one that is here under two names is acted on under one alone."""
    return f"{owner}/{cluster.name}"


def release(*, owner: str) -> None:
    """Give all clusters of an owner back."""
    Cluster.objects.filter(owner=owner).update(owner="", owned_until=None)

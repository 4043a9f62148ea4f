"""Stopping evictions at once, and letting them go on: everywhere, in a cluster, or around a queue."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import name_of, record
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause
from scheduler_admin.clusters.safeguards.holds import STOPS, holds_of, store_holds
from scheduler_admin.clusters.safeguards.stops import Stops
from scheduler_admin.queues.models import Queue


@transaction.atomic
def pause(
    *, cluster: Cluster | None, actor: User | None, reason: str, queue: str = "", until: datetime | None = None
) -> None:
    """Nothing is evicted from now on, decisions are still taken and shown. Pausing again changes nothing.

    ``cluster`` None means all of them; ``queue``, a path of its tree, only what is asked for by or taken from it and
    what lies below; ``until``: it ends by itself then. Raises ValidationError.
    """
    now = timezone.now()
    check_queue(cluster, queue)
    if until is not None and until <= now:
        raise ValidationError({"until": _("This time is in the past.")})
    Pause.objects.of(cluster, queue).filter(until__lte=now).delete()
    if Pause.objects.of(cluster, queue).exists():
        return
    made = Pause(cluster=cluster, queue=queue, at=now, until=until, by=name_of(actor), reason=reason.strip())
    made.full_clean()
    made.save()
    details = {"until": until.isoformat(timespec="minutes")} if until else {}
    record(actor=actor, verb="cluster.pause", target=str(made), reason=made.reason, details=details)
    show_stops(cluster)


@transaction.atomic
def resume(*, cluster: Cluster | None, actor: User | None, reason: str, queue: str = "") -> None:
    """This pause ends; others may still hold. Resuming what is not paused changes nothing."""
    ended = Pause.objects.of(cluster, queue).first()
    if ended is None:
        return
    ended.delete()
    record(actor=actor, verb="cluster.resume", target=str(ended), reason=reason.strip())
    show_stops(cluster)


def check_queue(cluster: Cluster | None, queue: str) -> None:
    """Raise ValidationError for a path that the tree of the cluster does not have; empty is always good."""
    revision = cluster.hierarchy.current if cluster and cluster.hierarchy else None
    if queue and not Queue.objects.filter(revision=revision, path=queue).exists():
        raise ValidationError({"queue": _("This queue does not exist.")})


def show_stops(cluster: Cluster | None) -> None:
    """Pages of the cluster, or of all, show at once what people stopped; passes find the rest."""
    now = timezone.now()
    for one in Cluster.objects.all() if cluster is None else [cluster]:
        kept = holds_of(ClusterStatus.objects.filter(cluster=one).first())
        others = [hold for hold in kept if hold.interlock not in STOPS]
        store_holds(cluster=one, holds=[*Stops.of(one, now).holds(), *others], now=now)

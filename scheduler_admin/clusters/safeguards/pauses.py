"""Stopping evictions at once, and letting them go on: everywhere, in a cluster, or around a queue."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import check_reason, name_of, record
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
    details = {"until": _minute(until)} if until else {}
    record(actor=actor, verb="cluster.pause", target=str(made), reason=made.reason, details=details)
    show_stops(cluster)


@transaction.atomic
def change_pause(*, pause: Pause, values: Mapping[str, Any], actor: User | None, reason: str) -> Pause:
    """Change what ``values`` hold of a pause: until when it lasts, and the reason that it shows.

    Raises ValidationError by field, also without a ``reason`` for the audit log.
    """
    check_reason(reason)
    before = _facts(pause)
    until = values.get("until", pause.until)
    if until is not None and until != pause.until and until <= timezone.now():
        raise ValidationError({"until": _("This time is in the past.")})
    pause.until, pause.reason = until, values.get("reason", pause.reason).strip()
    pause.full_clean()
    pause.save()
    details = {**_facts(pause), "before": before}
    record(actor=actor, verb="pause.change", target=str(pause), reason=reason.strip(), details=details)
    show_stops(pause.cluster)
    return pause


def _facts(pause: Pause) -> dict[str, str | None]:
    return {"until": _minute(pause.until), "shown_reason": pause.reason}


def _minute(at: datetime | None) -> str | None:
    return at.isoformat(timespec="minutes") if at else None


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

"""Stopping all evictions of a cluster, and letting them go on."""

from django.db import transaction
from django.utils import timezone

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services import record
from scheduler_admin.clusters.models import Cluster


@transaction.atomic
def pause(*, cluster: Cluster, actor: User | None, reason: str) -> None:
    """Nothing is evicted from now on, decisions are still taken and shown. Pausing again changes nothing."""
    cluster = Cluster.objects.select_for_update().get(pk=cluster.pk)
    if cluster.paused:
        return
    cluster.paused_at, cluster.paused_by, cluster.pause_reason = timezone.now(), actor, reason.strip()
    cluster.full_clean()
    cluster.save(update_fields=["paused_at", "paused_by", "pause_reason"])
    record(actor=actor, verb="cluster.pause", target=cluster.name, reason=cluster.pause_reason)


@transaction.atomic
def resume(*, cluster: Cluster, actor: User | None, reason: str) -> None:
    """Evictions go on as the mode allows. Resuming what is not paused changes nothing."""
    cluster = Cluster.objects.select_for_update().get(pk=cluster.pk)
    if not cluster.paused:
        return
    cluster.paused_at, cluster.paused_by, cluster.pause_reason = None, None, ""
    cluster.full_clean()
    cluster.save(update_fields=["paused_at", "paused_by", "pause_reason"])
    record(actor=actor, verb="cluster.resume", target=cluster.name, reason=reason.strip())

"""How long rows are kept, and dropping those that are past their time."""

from datetime import datetime, timedelta

from django.conf import settings

from engine.model.decision import Outcome
from scheduler_admin.accounts.services import idempotency
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.bulk import drop
from scheduler_admin.counts import services
from scheduler_admin.decisions.models import Decision, Happening
from scheduler_admin.decisions.services import partitions
from scheduler_admin.journal.models import Pass
from scheduler_admin.journal.services import journal
from scheduler_admin.notifications.models import Notification
from scheduler_admin.pending.models import Wait
from scheduler_admin.pending.waits import KEPT
from scheduler_admin.usage import partitions as usage_partitions
from scheduler_admin.usage import rollup

KEEP_NOTED = timedelta(days=7)
"""How long decisions without a preemption are kept; those with one, carried out or only shown, are the history."""
KEEP_PASSES = timedelta(days=2)
KEEP_NOTIFICATIONS = timedelta(days=30)
KEEP_PREEMPTIONS = timedelta(days=730)


def make_partitions(*, now: datetime) -> None:
    """Make the partitions that rows to come belong to, where the database has partitions."""
    partitions.make_ahead()
    partitions.bound_full(now=now)
    usage_partitions.make_ahead(now=now)


def drop_old(*, now: datetime) -> None:
    """Drop rows that are past their time."""
    Pass.objects.filter(at__lt=now - KEEP_PASSES).delete()
    begins = usage_partitions.drop_past(now=now)
    limit = now - KEEP_PREEMPTIONS
    past = partitions.past(before=limit)
    for cluster in Cluster.objects.all():
        rollup.prune(cluster=cluster, now=now, begins=begins)
        services.forget(cluster=cluster, before=limit if past.partitions else past.before)
    Wait.objects.filter(since__lt=now - KEPT).delete()
    Happening.objects.filter(at__lt=now - KEEP_NOTED).delete()
    idempotency.forget_old(now=now)
    Notification.objects.filter(created_at__lt=now - KEEP_NOTIFICATIONS).delete()
    noted = Decision.objects.filter(state=Decision.State.RECORDED, last_seen__lt=now - KEEP_NOTED)
    drop(noted.exclude(outcome=Outcome.PREEMPT))
    for partition in past.partitions:
        partitions.drop(partition)
    drop(Decision.objects.filter(last_seen__lt=past.before))
    journal.drop_beyond(limit=settings.JOURNAL_MB * 1_000_000)

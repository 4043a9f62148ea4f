"""What Celery runs: beat asks which clusters are due, the engine's worker runs their passes."""

import logging
import time
import uuid
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from engine.cluster.errors import ClusterError
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import note_heartbeat
from scheduler_admin.clusters.status.store import store_error
from scheduler_admin.clusters.watching import ownership
from scheduler_admin.clusters.watching.watchers import OWNER, WATCHES
from scheduler_admin.core.monitoring.logs import logged_with
from scheduler_admin.core.monitoring.meters import PASSES, Ended
from scheduler_admin.core.monitoring.tracing import describe_span
from scheduler_admin.counts import services
from scheduler_admin.decisions.replay.changes import work_out
from scheduler_admin.notifications.events.digests import write_digests
from scheduler_admin.usage import rollup
from scheduler_admin.worker import passes, retention

log = logging.getLogger(__name__)

WORKING_OUT_S = 5.0
ROLLING_UP_S = 5.0
TALLYING_S = 5.0
SILENT = timedelta(seconds=30)
"""A pass claims its cluster as it begins, about once a second: after so long the engine's worker, or beat, is stuck."""
SILENT_SENTENCE = "No pass has begun for half a minute: the engine's worker, or beat, stands still."


@shared_task(name="scheduler_admin.history.tasks.send_due_passes")
def send_due_passes() -> None:
    """Send a pass for every cluster that is due, to its owner. One that nobody begins before the next is dropped."""
    now = timezone.now()
    for cluster in passes.due_clusters(now):
        interval_s = max(1.0, cluster.interval_ms / 1000)
        run_pass.apply_async((cluster.pk,), expires=interval_s, queue=ownership.queue_of(cluster, now))


@shared_task(name="scheduler_admin.history.tasks.run_pass")
def run_pass(cluster_id: int) -> None:
    """Run one pass over a cluster. What goes wrong is shown on its page; the next pass tries again."""
    cluster = Cluster.objects.select_related("hierarchy__current", "credentials").get(pk=cluster_id)
    pass_id = run_pass.request.id or uuid.uuid4().hex
    describe_span(cluster=cluster.name, pass_id=pass_id)
    with logged_with(cluster=cluster.name, pass_id=pass_id):
        _run_pass(cluster)


def _run_pass(cluster: Cluster) -> None:
    began, ended = time.perf_counter(), Ended.FAILED
    try:
        ended = _pass_over(cluster)
    except ClusterError as error:
        ended = Ended.UNREADABLE
        store_error(cluster=cluster, sentence=str(error), now=timezone.now())
    except Exception:
        log.exception("Pass over cluster %s failed", cluster)
        store_error(
            cluster=cluster, sentence="The last pass failed. See the log of the engine worker.", now=timezone.now()
        )
    finally:
        PASSES.labels(cluster.name, ended).observe(time.perf_counter() - began)


def _pass_over(cluster: Cluster) -> Ended:
    if ownership.is_anothers(cluster, owner=OWNER, now=timezone.now()):
        return Ended.SKIPPED  # sent before it changed hands: it is not watched for nothing
    return passes.run_pass(cluster=cluster, watch=WATCHES.of(cluster))


@shared_task(name="scheduler_admin.history.tasks.check_heartbeats")
def check_heartbeats() -> None:
    """Say so where no pass begins any more. Runs in the other worker; the next pass that is stored takes it back."""
    now = timezone.now()
    note_heartbeat(worker="housekeeping", now=now)
    for cluster in Cluster.objects.filter(hierarchy__current__isnull=False):
        heard = ownership.claimed_at(cluster) or cluster.created_at
        if heard + timedelta(milliseconds=cluster.interval_ms) < now - SILENT:
            store_error(cluster=cluster, sentence=SILENT_SENTENCE, now=now)


@shared_task(name="scheduler_admin.history.tasks.work_out_changes")
def work_out_changes() -> None:
    """Work out what would have spared victims, in the other worker: its other tasks wait for one decision more."""
    work_out(for_s=WORKING_OUT_S)


@shared_task(name="scheduler_admin.history.tasks.write_due_digests")
def write_due_digests() -> None:
    """Tell channels of the day before, once, from an hour of the site's choice on; the outbox sends it."""
    write_digests(now=timezone.now())


@shared_task(name="scheduler_admin.history.tasks.roll_up_usage")
def roll_up_usage() -> None:
    """Turn samples of usage into blocks of each queue, and those into coarser ones, in the other worker."""
    now = timezone.now()
    for cluster in Cluster.objects.all():
        rollup.roll_up(cluster=cluster, now=now, for_s=ROLLING_UP_S)


@shared_task(name="scheduler_admin.history.tasks.tally_hours")
def tally_hours() -> None:
    """Count the preemptions of hours that are over, in the other worker."""
    now = timezone.now()
    for cluster in Cluster.objects.all():
        services.tally(cluster=cluster, now=now, for_s=TALLYING_S)


@shared_task(name="scheduler_admin.history.tasks.prune")
def prune() -> None:
    """Drop rows that are past their time."""
    retention.drop_old(now=timezone.now())


@shared_task(name="scheduler_admin.history.tasks.make_partitions")
def make_partitions() -> None:
    """Make the partitions of tables to come, on PostgreSQL; rows that were stored before have waited in another."""
    retention.make_partitions(now=timezone.now())

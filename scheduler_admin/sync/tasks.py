"""What Celery runs: beat asks which copies are due, the engine's workers visit them."""

import logging

from celery import shared_task
from django.utils import timezone

from engine.cluster.errors import ClusterError
from engine.cluster.inspection.versions import scheduler_versions
from engine.observation.discovery import KUBE_SCHEDULER, scheduler_pods, yunikorn_namespaces
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.breakers import unreadable
from scheduler_admin.clusters.status.store import note_versions, versions_of
from scheduler_admin.clusters.watching.group_scheduling import ask_scheduler
from scheduler_admin.clusters.watching.ownership import queue_of
from scheduler_admin.clusters.watching.watchers import WATCHES
from scheduler_admin.sync.models import Copy
from scheduler_admin.sync.observation import keep_error
from scheduler_admin.sync.services import copy_of
from scheduler_admin.sync.used_trees import note_running
from scheduler_admin.sync.visits import claim, fail, visit

log = logging.getLogger(__name__)
_EXPIRES_S = 2.0
_VERSIONS_MIN = 5
"""A copy is looked at once a minute; every so many minutes which versions of schedulers run is asked again, and
how kube-scheduler schedules PodGroups."""


@shared_task(name="scheduler_admin.copies.tasks.send_due_visits")
def send_due_visits() -> None:
    """Send a visit to every copy that is due; one that is not taken up at once is dropped, never piled up."""
    for cluster in Cluster.objects.filter(copy=None, hierarchy__current__isnull=False):
        copy_of(cluster)
    now = timezone.now()
    due = Copy.objects.filter(due_at__lte=now, cluster__hierarchy__current__isnull=False)
    for copy in due.select_related("cluster"):
        visit_copy.apply_async((copy.pk,), expires=_EXPIRES_S, queue=queue_of(copy.cluster, now))


@shared_task(name="scheduler_admin.copies.tasks.visit_copy")
def visit_copy(copy_id: int) -> None:
    """Visit one. What goes wrong is shown on its page; the next visit tries again."""
    copy, now = Copy.objects.select_related("cluster__credentials").get(pk=copy_id), timezone.now()
    if not claim(copy, now):
        return
    try:
        watch = WATCHES.of(copy.cluster)
        pods = watch.watcher.state().pods.values()
        visit(copy=copy, connection=watch.connection, namespaces=yunikorn_namespaces(pods), now=now)
        if not unreadable(watch.watcher.health()):
            copy.refresh_from_db()
            note_running(copy=copy, pods=pods)
            own, known = scheduler_pods(pods), versions_of(copy.cluster)
            again = now.minute % _VERSIONS_MIN == 0
            if again or not known or own.keys() - known.keys():
                note_versions(cluster=copy.cluster, versions=scheduler_versions(watch.connection, own))
            ask_scheduler(watch, own.get(KUBE_SCHEDULER), again=again)
    except ClusterError as error:
        fail(copy=copy, error=error, now=now)
    except Exception:
        log.exception("Checking the configuration of cluster %s failed", copy.cluster)
        keep_error(copy=copy, sentence="The last check failed. See the log of the engine worker.")

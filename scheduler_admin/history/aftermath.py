"""What victims' controllers did afterwards: which pods they made in their place, and since when those run."""

from datetime import datetime, timedelta

from engine.aftermath import Lost, successors
from engine.snapshot import ClusterState
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Victim
from scheduler_admin.history.recording import moment
from scheduler_admin.history.sentences import LOST

WATCHED = timedelta(hours=1)
"""So long after its eviction it is watched for what comes in a victim's place."""
_AT_ONCE = 500


def follow_aftermath(*, cluster: Cluster, state: ClusterState, now: datetime) -> bool:
    """Take down which pods stand in for victims of the last hour, and which of those have started; whether any did."""
    rows = Victim.objects.filter(
        decision__cluster=cluster, evicted_at__gt=now - WATCHED, running_at=None, state__in=LOST
    ).exclude(controller="")
    changed = False
    waiting = []
    for victim in rows.order_by("evicted_at", "pk")[:_AT_ONCE]:
        successor = state.pods.get(victim.successor_uid)
        if successor is None:
            waiting.append(victim)
        elif successor.started_ms is not None:
            victim.running_at = moment(successor.started_ms)
            victim.save(update_fields=["running_at"])
            changed = True
    return _take_down(cluster, waiting, state, now) or changed


def _take_down(cluster: Cluster, waiting: list[Victim], state: ClusterState, now: datetime) -> bool:
    """Who stands in for those that nobody stands in for, or nobody any more."""
    lost = [
        Lost(
            uid=victim.uid,
            namespace=victim.namespace,
            controller=victim.controller,
            evicted_ms=int(victim.evicted_at.timestamp() * 1000),
        )
        for victim in waiting
        if victim.evicted_at is not None
    ]
    if not lost:
        return False
    known = Victim.objects.filter(decision__cluster=cluster, evicted_at__gt=now - WATCHED).exclude(successor_uid="")
    found = successors(state, lost, taken=set(known.values_list("successor_uid", flat=True)))
    for victim in waiting:
        pod = found.get(victim.uid)
        if pod is not None:
            victim.successor, victim.successor_uid = pod.name, pod.uid
            victim.recreated_at, victim.running_at = moment(pod.created_ms), moment(pod.started_ms)
            victim.save(update_fields=["successor", "successor_uid", "recreated_at", "running_at"])
    return bool(found)

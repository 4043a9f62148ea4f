"""What came after victims were told to go: a last checkpoint, the pods made in their place, since when those run."""

from datetime import datetime, timedelta

from engine.model.snapshot import ClusterState
from engine.observation.replacements import EvictedPod, successors
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.times import moment
from scheduler_admin.decisions.models import Victim
from scheduler_admin.decisions.sentences import LOST

WATCHED = timedelta(hours=1)
"""So long after its eviction it is watched for what comes in a victim's place."""
_AT_ONCE = 500
_READ = (
    "uid",
    "namespace",
    "controller",
    "state",
    "evicted_at",
    "checkpoint_at",
    "booked",
    "successor_uid",
    "running_at",
)
"""What is read of each victim, with every pass."""


def follow_aftermath(*, cluster: Cluster, state: ClusterState, now: datetime) -> bool:
    """Take down what came after the victims of the last hour. Whether there is news."""
    recent = _recent(cluster, now)
    changed = sum(_keep_checkpoint(victim, state) for victim in recent if not victim.booked) > 0
    watched = [victim for victim in recent if victim.running_at is None and victim.state in LOST and victim.controller]
    taken = {victim.successor_uid for victim in recent if victim.successor_uid}
    waiting = []
    for victim in watched[:_AT_ONCE]:
        successor = state.pods.get(victim.successor_uid)
        if successor is None:
            waiting.append(victim)
        elif successor.started_ms is not None:
            victim.running_at = moment(successor.started_ms)
            victim.save(update_fields=["running_at"])
            changed = True
    return _take_down(waiting, state, taken) or changed


def _keep_checkpoint(victim: Victim, state: ClusterState) -> bool:
    """Many write another when they are told to go: what that saved is not lost. Whether there is one."""
    pod = state.known_pod(victim.uid) if victim.state in LOST else None
    at = moment(pod.checkpoint_ms) if pod else None
    if at is None or (victim.checkpoint_at and at <= victim.checkpoint_at):
        return False
    victim.checkpoint_at = at
    victim.save(update_fields=["checkpoint_at"])
    return True


def _recent(cluster: Cluster, now: datetime) -> list[Victim]:
    """The victims of the last hour, in the order in which they went."""
    rows = Victim.objects.filter(cluster=cluster, evicted_at__gt=now - WATCHED).order_by("evicted_at", "pk")
    return list(rows.only(*_READ))


def _take_down(waiting: list[Victim], state: ClusterState, taken: set[str]) -> bool:
    """Who stands in for those that nobody stands in for, or nobody any more."""
    lost = [
        EvictedPod(
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
    found = successors(state, lost, taken=taken)
    for victim in waiting:
        pod = found.get(victim.uid)
        if pod is not None:
            victim.successor, victim.successor_uid = pod.name, pod.uid
            victim.recreated_at, victim.running_at = moment(pod.created_ms), moment(pod.started_ms)
            victim.save(update_fields=["successor", "successor_uid", "recreated_at", "running_at"])
    return bool(found)

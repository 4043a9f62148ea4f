"""Who is told to give back what they use beyond what they deserve: kept from pass to pass, and said on their pods."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from heapq import nsmallest

from engine.cluster.acting.outcomes import Executor, OperationOutcome
from engine.model.decision import Decision as EngineDecision
from engine.model.decision import ReclaimNotice as EngineNotice
from engine.model.message import format_amount_list
from engine.model.objects import Pod, Shield
from engine.planning.reclaim_notices import updated_notices
from engine.policies.deserved import SYSTEM
from scheduler_admin.clusters.models import Cluster, Notice
from scheduler_admin.core.links import queue_url
from scheduler_admin.decisions.models import Decision, Victim

PODS = 20
"""So many pods of a queue are told: those that would go first."""
QUEUES = 5
"""So many queues are told on their pods in one pass; the others in the next."""
_TOLD = (
    "%(queue)s uses %(over)s more than its deserved share, and other queues need it. Delete pods of your choice until "
    "%(due)s. After that, pods of the queue may be evicted. "
)
_ADVISED = "This cluster is in Advise mode, so no pods are evicted. "
_LINK = "Details: %s"


def told(cluster: Cluster) -> dict[str, int]:
    """Queue -> when it was told, in the mode that the cluster is in. What another mode said is void."""
    found = Notice.objects.filter(cluster=cluster, mode=cluster.mode).values_list("queue", "told_at")
    return {queue: _ms(at) for queue, at in found}


def follow(*, cluster: Cluster, before: Mapping[str, int], decisions: Iterable[EngineDecision], now: datetime) -> bool:
    """Keep who is told after a pass, given who was ``before`` it; whether that is news. Called within a transaction.

    Decisions that are being carried out go on telling those that they take from.
    """
    decisions = list(decisions)
    named = {notice.queue: notice for decision in reversed(decisions) for notice in decision.notices}
    rows = {row.queue: row for row in Notice.objects.filter(cluster=cluster)}
    kept = updated_notices(before, decisions, _ms(now)) | {
        queue: before[queue] for queue in _taken_from(cluster) if queue in before
    }
    gone = [row.pk for queue, row in rows.items() if queue not in kept or row.mode != cluster.mode]
    Notice.objects.filter(pk__in=gone).delete()
    news = bool(gone)
    for queue, at_ms in kept.items():
        row = rows.get(queue)
        if row is None or row.pk in gone:
            Notice.objects.create(
                cluster=cluster, queue=queue, mode=cluster.mode, told_at=_at(at_ms), **_says(named[queue])
            )
            news = True
        elif queue in named:
            news |= _renewed(row, named[queue])
    return news


def _renewed(row: Notice, notice: EngineNotice) -> bool:
    """Keep how much it is by now, and until when; whether that changed."""
    says = _says(notice)
    if all(getattr(row, name) == value for name, value in says.items()):
        return False
    return bool(Notice.objects.filter(pk=row.pk).update(**says))


def _says(notice: EngineNotice) -> dict[str, object]:
    return {"over": notice.over, "due_at": _at(notice.due_ms)}


def _taken_from(cluster: Cluster) -> set[str]:
    opened = Decision.objects.filter(cluster=cluster).open()
    return set(Victim.objects.filter(decision__in=opened).values_list("queue", flat=True))


def publish(*, cluster: Cluster, executor: Executor, pods: Iterable[Pod]) -> None:
    """Say it with an Event on the pods that would go first, once for a notice; those due soonest first.

    Where the cluster does not answer, no more is asked of it: all that is left is said in the next pass.
    """
    told = Notice.objects.filter(cluster=cluster, mode=cluster.mode, published=False).order_by("due_at", "queue")
    waiting = list(told[:QUEUES])
    readers = _readers({notice.queue for notice in waiting}, pods) if waiting else {}
    for notice in waiting:
        message = _message(cluster, notice)
        for pod in readers[notice.queue]:
            if executor.event(pod, "ReclaimNotice", message, "Warning").outcome is OperationOutcome.RETRY:
                return
        Notice.objects.filter(pk=notice.pk).update(published=True)


def _readers(queues: Collection[str], pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Queue -> those of its pods that would go first, of those that ever may."""
    found: dict[str, list[Pod]] = {queue: [] for queue in queues}
    for pod in pods:
        if pod.queue in found and pod.node is not None and not _stays(pod):
            found[pod.queue].append(pod)
    return {queue: nsmallest(PODS, those, key=_first_to_go) for queue, those in found.items()}


def _stays(pod: Pod) -> bool:
    shielded = pod.shield not in (Shield.NONE, Shield.JUST_STARTED)  # for longer than a grace period
    return pod.namespace == SYSTEM or pod.daemonset or pod.opted_out or pod.terminating or shielded


def _first_to_go(pod: Pod) -> tuple[int, int, str]:
    return pod.priority, -pod.created_ms, pod.uid


def _message(cluster: Cluster, notice: Notice) -> str:
    """In English, as all that is written to clusters."""
    due = f"{notice.due_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    said = _TOLD % {"queue": notice.queue, "over": format_amount_list(notice.over), "due": due}
    advised = _ADVISED if cluster.mode == Cluster.Mode.ADVISE else ""
    return said + advised + _LINK % queue_url(cluster.name, notice.queue)


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)

"""What became of decisions of others: followed until the victims have gone, and the ask is bound or given up.

The ask is a pod, or a pod group: that is bound once enough of its pods are.
"""

from collections.abc import Iterable
from datetime import datetime

from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.observation.evictions import EvictionSource, is_resized
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.times import moment
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.services import events
from scheduler_admin.notifications.events.preemptions import tell_preempted
from scheduler_admin.worker.recorder.group_progress import GroupProgress, progress_of

_NAMED_UP_TO = 3
_LONGEST_NOTE = 300


def follow(cluster: Cluster, state: ClusterState, now: datetime) -> tuple[list[Decision], bool]:
    """Take down what happened since the last pass. The decisions that wait on, with victims, and whether any moved."""
    rows = Decision.objects.filter(cluster=cluster, state=Decision.State.WAITING)
    rows = rows.exclude(source=Decision.Source.ENGINE).defer("document", "laws")
    rows = rows.select_related("cluster").prefetch_related("victims")
    waiting = list(rows.order_by("first_seen", "pk"))
    steps = [step for row in waiting for step in settle(row, row.victims.all(), state, now, witnessed=True)]
    keep_settled(waiting, now)
    Step.objects.bulk_create(steps)
    closed = [row for row in waiting if row.state == Decision.State.CLOSED]
    events.ended(cluster, closed, now)
    return [row for row in waiting if row.state == Decision.State.WAITING], bool(steps or closed)


def settle(
    row: Decision, victims: Iterable[Victim], state: ClusterState, now: datetime, *, witnessed: bool
) -> list[Step]:
    """Mark which victims have gone, and close the decision when it has come to its end; nothing is saved here.

    ``witnessed``: whether it was watched meanwhile; else nobody noted when it ended. Returns the steps of it.
    """
    victims = list(victims)
    gone = [victim for victim in victims if victim.state == Victim.State.EVICTED and _gone(victim, state)]
    for victim in gone:
        victim.state, victim.gone_at = Victim.State.EXITED, now
    steps = [exited(row, victim) for victim in gone]
    group = progress_of(row, state)
    ending = _ending(row, victims, state, now, group)
    if ending is None:
        return steps
    row.state, row.ending = Decision.State.CLOSED, ending
    row.closed_at = _bound_at(row, state, now, group) or (now if witnessed else None)
    if row.closed_at is not None:
        note = group.nodes if group else (state.pods[row.ask_uid].node or "") if row.ask_uid in state.pods else ""
        if ending == Decision.Ending.CAPACITY_TAKEN:
            note = ", ".join(f"{pod.name} ({pod.priority})" for pod in _came(row, victims, state))
        steps.append(Step(decision=row, at=row.closed_at, kind=Step.Kind.CLOSED, note=note[:_LONGEST_NOTE]))
    return steps


def keep_settled(rows: Iterable[Decision], now: datetime) -> None:
    """Save what ``settle`` at ``now`` has marked on stored rows and on their prefetched victims."""
    rows = list(rows)
    gone = [victim.pk for row in rows for victim in row.victims.all() if victim.gone_at == now]
    Victim.objects.filter(pk__in=gone).update(state=Victim.State.EXITED, gone_at=now)
    closed = [row for row in rows if row.state == Decision.State.CLOSED]
    Decision.objects.bulk_update(closed, ["state", "ending", "closed_at"])
    moved = [row for row in rows if any(victim.gone_at == now for victim in row.victims.all())]
    tell_preempted([(row, row.victims.all()) for row in dict.fromkeys([*closed, *moved])], now)


def exited(row: Decision, victim: Victim) -> Step:
    """That a victim is gone; not saved here."""
    assert victim.gone_at is not None
    return Step(decision=row, at=victim.gone_at, kind=Step.Kind.EXITED, pod=str(victim))


def _gone(victim: Victim, state: ClusterState) -> bool:
    pod = state.pods.get(victim.uid)
    return pod is None or pod.finished


def _ending(
    row: Decision, victims: list[Victim], state: ClusterState, now: datetime, group: GroupProgress | None
) -> str | None:
    """How it ended; empty where there is no ask to wait for, None while it has not."""
    left = any(victim.state != Victim.State.EXITED for victim in victims)
    if group is not None or _was_seen_as_group(row):
        return _ending_of_group(row, group, now, left=left)
    ask = state.known_pod(row.ask_uid)
    if (ask is None and not _was_seen(row)) or (ask and _is_resize(row, ask)):
        return None if left and not _late(row, now) else ""
    if ask is None or ask.uid not in state.pods or ask.terminating or ask.finished:
        bound = ask is not None and ask.node  # it ran, and has gone since
        return _where(row, ask) if bound and ask else Decision.Ending.POD_GONE
    if ask.node:
        return _where(row, ask)
    if not _late(row, now):
        return None
    return Decision.Ending.TIMED_OUT if left else Decision.Ending.CAPACITY_TAKEN


def _ending_of_group(row: Decision, group: GroupProgress | None, now: datetime, *, left: bool) -> str | None:
    """How it ended for a group; ``left``: whether victims of it have not exited."""
    if group is not None and group.succeeded:
        return Decision.Ending.BOUND
    if group is None or group.given_up:
        return Decision.Ending.POD_GONE
    if not _late(row, now):
        return None
    return Decision.Ending.TIMED_OUT if left else Decision.Ending.CAPACITY_TAKEN


def _is_resize(row: Decision, ask: Pod) -> bool:
    """Whether room was made for a pod that ran already: that it has a node tells nothing."""
    at_ms = int(row.first_seen.timestamp() * 1000)
    return row.source == EvictionSource.KUBE_SCHEDULER and is_resized(ask, at_ms)


def _where(row: Decision, ask: Pod) -> Decision.Ending:
    return Decision.Ending.BOUND if row.node in ("", ask.node) else Decision.Ending.BOUND_ELSEWHERE


def _came(row: Decision, victims: Iterable[Victim], state: ClusterState) -> list[Pod]:
    """The most important pods that started on the node, or a group's nodes, since the room was made there."""
    since_ms = int(row.first_seen.timestamp() * 1000)
    nodes = {row.node} if row.node else {victim.node for victim in victims}
    came = [pod for pod in state.pods.values() if pod.node in nodes and (pod.started_ms or 0) > since_ms]
    return sorted(came, key=lambda pod: (-pod.priority, pod.key))[:_NAMED_UP_TO]


def _late(row: Decision, now: datetime) -> bool:
    return row.deadline is not None and now > row.deadline


def _was_seen(row: Decision) -> bool:
    return bool(row.ask_name) and row.ask_priority is not None


def _was_seen_as_group(row: Decision) -> bool:
    return bool(row.ask_group) and row.ask_priority is not None


def _bound_at(row: Decision, state: ClusterState, now: datetime, group: GroupProgress | None) -> datetime | None:
    """When the ask was bound, told by its kubelet; None when it is not, or that is not known."""
    ask = state.pods.get(row.ask_uid)
    started = group.bound_at if group else moment(ask.started_ms) if ask and ask.node else None
    return min(max(started, row.first_seen), now) if started else None

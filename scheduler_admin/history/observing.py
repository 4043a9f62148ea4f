"""Decisions of others: kube-scheduler's preemptions and what else was evicted, recorded once and followed to their end.

Nothing is done to the cluster here, whatever its mode.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q

from engine.decision import Outcome
from engine.explain import HIGHER_PRIORITY
from engine.observed import Observed, Source, Taken, decode, encode, joined, observe, sighted
from engine.queues import QueueTree
from engine.snapshot import ClusterState, Pod
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Decision, Step, Victim
from scheduler_admin.history.recording import deadline, fitting, moment
from scheduler_admin.history.sentences import LOST
from scheduler_admin.queues.models import Revision

_TOGETHER = timedelta(seconds=10)
"""News of one preemption may reach several passes; see engine.observed.TOGETHER_MS."""
_WITNESSED = timedelta(minutes=1)
"""What is learned of later was over at a time that nobody noted."""
_MOST_SETTLED = 20_000
"""So many uids are kept in memory; then the database is asked again."""


def record_others(
    *,
    cluster: Cluster,
    revision: Revision,
    tree: QueueTree,
    state: ClusterState,
    settled: set[str],
    now: datetime,
) -> bool:
    """Record what others evicted and has not been recorded yet, and follow what has. Called within a transaction.

    ``settled`` holds the uids of victims that need not be looked at again; it is kept up here. Whether there is news.
    """
    now_ms = int(now.timestamp() * 1000)
    followed = _follow(cluster, state, now)
    new = sighted(state, now_ms=now_ms, settled=settled)
    if not new:
        return followed
    done, ours = _known(cluster, new)
    if len(settled) > _MOST_SETTLED:
        settled.clear()
    settled |= done
    found = observe(state, tree, now_ms=now_ms, settled=settled | ours)
    for seen in found:
        _record(cluster, revision, seen, state, now)
    return bool(found) or followed


def _known(cluster: Cluster, uids: Iterable[str]) -> tuple[set[str], set[str]]:
    """Of these victims, those whose going is recorded, and those that we ourselves may be about to evict."""
    rows = Victim.objects.filter(decision__cluster=cluster, uid__in=list(uids))
    unanswered = Q(attempts__gt=0, state=Victim.State.CHOSEN)  # a held one is known not to have gone
    recorded = unanswered | Q(state__in=LOST) | ~Q(decision__source=Decision.Source.ENGINE)
    ours = rows.filter(decision__in=Decision.objects.filter(cluster=cluster).open())
    return set(rows.filter(recorded).values_list("uid", flat=True)), set(ours.values_list("uid", flat=True))


def _record(cluster: Cluster, revision: Revision, seen: Observed, state: ClusterState, now: datetime) -> None:
    row = _begun(cluster, seen)
    if row is None:
        row = _begin(cluster, revision, seen, state, now)
    else:
        seen = joined(decode(row.document), seen)
        row.document, row.last_seen = encode(seen).decode(), now
        row.detail = _detail(seen)
        row.save(update_fields=["document", "last_seen", "detail"])
    stored = set(row.victims.values_list("uid", flat=True))
    for position, taken in enumerate(seen.victims):
        if taken.pod.uid not in stored:
            _store_victim(row, position, taken, state, now)
    _settle(row, state, now, witnessed=now - row.first_seen < _WITNESSED)


def _begun(cluster: Cluster, seen: Observed) -> Decision | None:
    """The decision that is to hold these victims too: the same source, ask and node, just before."""
    at = moment(seen.at_ms)
    assert at is not None
    rows = Decision.objects.filter(cluster=cluster, state=Decision.State.WAITING, source=seen.source.value)
    rows = rows.filter(node=seen.node, ask_uid=seen.ask.uid if seen.ask else "", ask_name=_name_of(seen))
    return rows.filter(first_seen__range=(at - _TOGETHER, at + _TOGETHER)).order_by("-first_seen").first()


def _begin(cluster: Cluster, revision: Revision, seen: Observed, state: ClusterState, now: datetime) -> Decision:
    at, ask = moment(seen.at_ms), seen.ask
    assert at is not None
    pod = _seen(state, ask.uid) if ask else None
    row = Decision.objects.create(
        cluster=cluster,
        revision=revision if at >= revision.published_at else None,  # what happened before was under no tree of ours
        source=seen.source.value,
        mode=cluster.mode,
        policy="",
        ask_uid=ask.uid if ask else "",
        ask_namespace=ask.namespace if ask else "",
        ask_name=_name_of(seen),
        ask_queue=ask.queue if ask else "",
        ask_application=fitting("ask_application", ask.application) if ask else "",
        ask_priority=ask.priority if ask and seen.ask_known else None,
        ask_priority_class=pod.priority_class if pod else "",
        ask_requests=ask.requests if ask else {},
        ask_since=moment(pod.unschedulable_ms) if pod else None,
        outcome=Outcome.PREEMPT.value,
        reason=HIGHER_PRIORITY if seen.source is Source.KUBE_SCHEDULER else seen.source.value,
        detail=_detail(seen),
        node=seen.node,
        document=encode(seen).decode(),
        state=Decision.State.WAITING,
        first_seen=at,
        last_seen=now,
        deadline=deadline(cluster, (taken.pod.grace_s for taken in seen.victims), now),
    )
    if row.ask_since is not None and row.ask_since <= row.first_seen:
        Step.objects.create(decision=row, at=row.ask_since, kind=Step.Kind.SEEN)
    Step.objects.create(decision=row, at=row.first_seen, kind=Step.Kind.DECIDED)
    return row


def _name_of(seen: Observed) -> str:
    """The ask's, where it is a pod that has pages of its own: not a group, and not known by its uid alone."""
    ask = seen.ask
    return ask.name if ask and ask.namespace and seen.ask_kind == "Pod" else ""


def _detail(seen: Observed) -> str:
    """The flags, each once, for those who filter and count."""
    return " ".join(sorted({each.flag.value for taken in seen.victims for each in taken.flags}))


def _store_victim(row: Decision, position: int, taken: Taken, state: ClusterState, now: datetime) -> None:
    pod = taken.pod
    still, witnessed = state.pods.get(pod.uid), pod.uid in state.departed
    gone = still is None or still.finished
    victim = Victim.objects.create(
        decision=row,
        position=position,
        uid=pod.uid,
        namespace=pod.namespace,
        name=pod.name,
        queue=pod.queue,
        application=fitting("application", pod.application, Victim),
        priority=pod.priority if taken.known else None,
        requests=pod.requests,
        node=pod.node or row.node,
        started_at=moment(pod.started_ms),
        reason=row.reason,
        state=Victim.State.GONE if gone else Victim.State.EVICTED,
        evicted_at=moment(taken.at_ms),
        gone_at=now if gone and (still or witnessed) else None,
    )
    if victim.gone_at is not None:
        Step.objects.create(decision=row, at=victim.gone_at, kind=Step.Kind.EXITED, pod=str(victim))


def _follow(cluster: Cluster, state: ClusterState, now: datetime) -> bool:
    """What became of victims and asks since the last pass; whether anything did."""
    rows = Decision.objects.filter(cluster=cluster, state=Decision.State.WAITING)
    waiting = list(rows.exclude(source=Decision.Source.ENGINE).defer("document", "laws"))
    changed = [_settle(row, state, now, witnessed=True) for row in waiting]
    return any(changed)


def _settle(row: Decision, state: ClusterState, now: datetime, *, witnessed: bool) -> bool:
    """Take down which victims have gone, and close the decision when it has come to its end; whether either."""
    news = False
    for victim in row.victims.filter(state=Victim.State.EVICTED):
        pod = state.pods.get(victim.uid)
        if pod is None or pod.finished:
            victim.state, victim.gone_at = Victim.State.GONE, now
            victim.save(update_fields=["state", "gone_at"])
            Step.objects.create(decision=row, at=now, kind=Step.Kind.EXITED, pod=str(victim))
            news = True
    ending = _ending(row, state, now)
    if ending is None:
        return news
    row.state, row.ending = Decision.State.CLOSED, ending
    row.closed_at = _bound_at(row, state, now) or (now if witnessed else None)
    row.save(update_fields=["state", "ending", "closed_at"])
    if row.closed_at is not None:
        note = (state.pods[row.ask_uid].node or "") if row.ask_uid in state.pods else ""
        Step.objects.create(decision=row, at=row.closed_at, kind=Step.Kind.CLOSED, note=note)
    return True


def _ending(row: Decision, state: ClusterState, now: datetime) -> str | None:
    """How it ended; empty where there is no ask to wait for, None while it has not."""
    left = row.victims.exclude(state=Victim.State.GONE).exists()
    ask = _seen(state, row.ask_uid)
    if ask is None and not _was_seen(row):
        return None if left and not _late(row, now) else ""
    if ask is None or ask.uid not in state.pods or ask.terminating or ask.finished:
        bound = ask is not None and ask.node  # it ran, and has gone since
        return _where(row, ask) if bound and ask else Decision.Ending.GONE
    if ask.node:
        return _where(row, ask)
    if not _late(row, now):
        return None
    return Decision.Ending.EXPIRED if left else Decision.Ending.TAKEN


def _where(row: Decision, ask: Pod) -> Decision.Ending:
    return Decision.Ending.BOUND if row.node in ("", ask.node) else Decision.Ending.BOUND_ELSEWHERE


def _late(row: Decision, now: datetime) -> bool:
    return row.deadline is not None and now > row.deadline


def _was_seen(row: Decision) -> bool:
    return bool(row.ask_name) and row.ask_priority is not None


def _seen(state: ClusterState, uid: str) -> Pod | None:
    return state.pods.get(uid) or state.departed.get(uid)


def _bound_at(row: Decision, state: ClusterState, now: datetime) -> datetime | None:
    """When the ask was bound, told by its kubelet; None when it is not, or that is not known."""
    ask = state.pods.get(row.ask_uid)
    started = moment(ask.started_ms) if ask and ask.node else None
    return min(max(started, row.first_seen), now) if started else None

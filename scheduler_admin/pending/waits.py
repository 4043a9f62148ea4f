"""How long asks wait: taken down by passes, told of those to come, and held against what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.model.message import format_amount_list
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.observation.wait_estimates import HALF, MOST, Checked, Estimate, WaitPrediction, check, estimate, shape_of
from engine.observation.wait_estimates import ObservedWait as EngineWait
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.core.times import moment
from scheduler_admin.pending.models import Wait

LOOKED_BACK = timedelta(days=14)
"""So far back asks tell of those to come."""
KEPT = timedelta(days=28)
_WITNESSED = timedelta(minutes=1)
"""An ask whose beginning, or end, was further away from a pass than that is not known to have waited so long.

Nor is one that begins in the future by more than that: the clocks are too far apart."""
_MOST_READ = 2_000
"""Of so many of a queue's asks, the newest."""


@dataclass(frozen=True)
class QueueWaits:
    """How long the asks of a queue wait, and whether what was told of them came true."""

    estimate: Estimate | None
    half: Checked
    most: Checked


def follow_waits(*, cluster: Cluster, asks: Iterable[Pod], state: ClusterState, now: datetime) -> None:
    """Take down who began to wait and who ended since the last pass. Called within a transaction."""
    waiting = {ask.uid: ask for ask in asks if ask.queue is not None and ask.waiting_ms is not None}
    still = set()
    ended = []
    for wait in Wait.objects.filter(cluster=cluster, ending="").only("uid", "since").order_by():
        if wait.uid in waiting:
            still.add(wait.uid)
        else:
            _end(wait, state, cluster, now)
            ended.append(wait)
    Wait.objects.bulk_update(ended, ["until", "ending"], batch_size=500)
    new = [ask for uid, ask in waiting.items() if uid not in still and _is_witnessed(ask, now)]
    Wait.objects.bulk_create(_begun(cluster, new, now), ignore_conflicts=True)


def _is_witnessed(ask: Pod, now: datetime) -> bool:
    since = moment(ask.waiting_ms)
    return since is not None and abs(now - since) <= _WITNESSED


def _end(wait: Wait, state: ClusterState, cluster: Cluster, now: datetime) -> None:
    """Where no pass was for a while it ended at a time that nobody knows: it waited until the last one at least."""
    status, pod = status_of(cluster), state.known_pod(wait.uid)
    last = status.pass_at if status and status.pass_at else now
    witnessed = now - last <= _WITNESSED
    workload = state.workloads.get(wait.uid)
    bound = witnessed and (bool(pod and pod.node) or bool(workload and workload.holds))
    wait.ending = Wait.Ending.BOUND if bound else Wait.Ending.POD_GONE
    wait.until = max(wait.since, now if witnessed else last)


def _begun(cluster: Cluster, asks: Iterable[Pod], now: datetime) -> list[Wait]:
    by_queue: dict[str, list[Pod]] = {}
    for ask in asks:
        by_queue.setdefault(ask.queue or "", []).append(ask)
    return [wait for queue, some in sorted(by_queue.items()) for wait in _begun_in(cluster, queue, some, now)]


def _begun_in(cluster: Cluster, queue: str, asks: Iterable[Pod], now: datetime) -> list[Wait]:
    """One look at the queue's past for all of them; asks alike are estimated once."""
    past = list(_past(cluster, queue, now))
    whole, known = _estimated(past, now), dict[tuple[str, int], Estimate | None]()
    found = []
    for ask in asks:
        since = moment(ask.waiting_ms)
        assert since is not None
        since = min(since, now)  # the API server's clock may be ahead
        like = (format_amount_list(shape_of(ask.requests))[:300], ask.priority)
        if like not in known:
            known[like] = _estimated([one for one in past if (one.shape, one.priority) == like], now)
        told = known[like] or whole
        wait = Wait(cluster=cluster, uid=ask.uid, namespace=ask.namespace, queue=queue, since=since)
        wait.shape, wait.priority = like
        if told is not None:
            wait.half_ms, wait.most_ms, wait.known = told.half_ms, told.most_ms, told.known
            wait.alike = known[like] is not None
        found.append(wait)
    return found


def _past(cluster: Cluster, queue: str, now: datetime) -> Iterable[Wait]:
    rows = Wait.objects.filter(cluster=cluster, queue=queue, since__gt=now - LOOKED_BACK)
    return rows.order_by("-since")[:_MOST_READ]


def _estimated(waits: Iterable[Wait], now: datetime) -> Estimate | None:
    return estimate(_lasted(wait, now) for wait in waits)


def _lasted(wait: Wait, now: datetime) -> EngineWait:
    return EngineWait(_ms((wait.until or now) - wait.since), bound=wait.ending == Wait.Ending.BOUND)


def _ms(length: timedelta) -> int:
    return max(0, length // timedelta(milliseconds=1))


def waits_of(cluster: Cluster, queue: str, now: datetime) -> QueueWaits:
    """The queue's waits of the last fortnight. One query; for those who may see the queue."""
    past = list(_past(cluster, queue, now))
    return QueueWaits(
        estimate=_estimated(past, now),
        half=check(_told(past, "half_ms", now), HALF),
        most=check(_told(past, "most_ms", now), MOST),
    )


def _told(waits: Iterable[Wait], name: str, now: datetime) -> list[WaitPrediction]:
    told = [(getattr(wait, name), wait) for wait in waits]
    return [
        WaitPrediction(within, _lasted(wait, now), _ms(now - wait.since)) for within, wait in told if within is not None
    ]


def is_late(wait: Wait, now: datetime) -> bool:
    """Whether it waits for longer already than nine of ten were told to."""
    return wait.until is None and wait.most_ms is not None and _ms(now - wait.since) > wait.most_ms


def wait_of(cluster: Cluster, uid: str) -> Wait | None:
    """What was told of an ask when it was first seen, if it was followed. One query; for those who may see the ask."""
    return Wait.objects.filter(cluster=cluster, uid=uid).first()

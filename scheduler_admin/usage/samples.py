"""Usage as passes sample it: one row for all queues of a cluster at one moment, so that a pass has one row to write."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from engine.model.quantities import DOMINANT, PODS, Amounts, dominant_share
from engine.model.queue_tree import Queue, QueueTree
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.usage.models import UsageSample
from scheduler_admin.usage.runs import LEVELS, Amount, Now, pack

INTERVAL = timedelta(seconds=LEVELS[0].step)
"""Time between two samples."""
WHOLE = 1_000_000


def slot(now: datetime) -> datetime:
    """The time of which a sample is taken at ``now``: there is one for each interval."""
    return now - timedelta(microseconds=now.microsecond, seconds=now.timestamp() // 1 % INTERVAL.seconds)


def sample(
    *,
    cluster: Cluster,
    tree: QueueTree,
    capacity: Mapping[str, int],
    figures: Mapping[str, Mapping[str, Any]],
    now: datetime,
) -> None:
    """Keep what every queue uses now; ``figures`` as ClusterStatus.queues. Called within a transaction."""
    said = {path: _now(queue, figures[path], capacity) for path, queue in tree.queues.items()}
    row = UsageSample(cluster=cluster, at=slot(now), document=pack(said))
    UsageSample.objects.bulk_create([row], ignore_conflicts=True)


def _now(queue: Queue, figures: Mapping[str, Any], capacity: Mapping[str, int]) -> Now:
    """All that the cluster has is told, also where the queue uses nothing of it."""
    used: Amounts = figures["used"]
    deserved: Amounts | None = figures.get("deserved")
    names = {**capacity, **used, **queue.guaranteed, **queue.max}
    amounts = {
        name: Amount(
            used.get(name, 0),
            queue.guaranteed.get(name),
            queue.max.get(name),
            None if deserved is None else deserved.get(name, 0),
        )
        for name in names
    }
    amounts[DOMINANT] = Amount(
        _share(used, capacity),
        _share(queue.guaranteed, capacity) if queue.guaranteed else None,
        _reach(queue.max, capacity),
        None if deserved is None else _share(deserved, capacity),
    )
    return Now(figures["asks"], amounts)


def _share(held: Mapping[str, int], capacity: Mapping[str, int]) -> int:
    return int(dominant_share(held, capacity) * WHOLE)


def _reach(limits: Mapping[str, int], capacity: Mapping[str, int]) -> int | None:
    """The share beyond which a queue can't get; None where something is not limited."""
    if all(name in limits for name, amount in capacity.items() if amount and name != PODS):
        return _share(limits, capacity)
    return None

"""Usage as passes sample it: one row for all queues of a cluster at one moment, so that a pass has one row to write."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

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
    found = _promised_of(tree, capacity)
    said = {path: _now(found[path], figures[path], capacity) for path in tree.queues}
    row = UsageSample(cluster=cluster, at=slot(now), document=pack(said))
    UsageSample.objects.bulk_create([row], ignore_conflicts=True)


class _Promised(NamedTuple):
    """What a sample says of a queue that does not change with its usage."""

    idle: dict[str, Amount]
    """Each resource, as if nothing of it was used."""
    share: int | None
    reach: int | None


_known: WeakKeyDictionary[QueueTree, tuple[Amounts, dict[str, _Promised]]] = WeakKeyDictionary()
"""For each tree: the capacity of its cluster, and what does not change as long as that is the same."""


def _promised_of(tree: QueueTree, capacity: Mapping[str, int]) -> dict[str, _Promised]:
    """Return what is promised to each queue, by path: a tree is sampled every ten seconds until it changes."""
    known = _known.get(tree)
    if known is None or known[0] != capacity:
        known = dict(capacity), {path: _promised(queue, capacity) for path, queue in tree.queues.items()}
        _known[tree] = known
    return known[1]


def _promised(queue: Queue, capacity: Mapping[str, int]) -> _Promised:
    names = {**capacity, **queue.guaranteed, **queue.max}
    return _Promised(
        {name: Amount(0, queue.guaranteed.get(name), queue.max.get(name)) for name in names},
        _share(queue.guaranteed, capacity) if queue.guaranteed else None,
        _reach(queue.max, capacity),
    )


def _now(promised: _Promised, figures: Mapping[str, Any], capacity: Mapping[str, int]) -> Now:
    """All that the cluster has is told, also where the queue uses nothing of it."""
    used: Amounts = figures["used"]
    deserved: Amounts | None = figures.get("deserved")
    amounts = promised.idle.copy()
    if deserved is not None:
        amounts = {
            name: Amount(0, one.guaranteed, one.max, deserved.get(name, 0)) for name, one in promised.idle.items()
        }
    for name, amount in used.items():
        if (one := amounts.get(name)) is None:
            amounts[name] = Amount(amount, None, None, None if deserved is None else deserved.get(name, 0))
        elif amount:
            amounts[name] = Amount(amount, one.guaranteed, one.max, one.deserved)
    amounts[DOMINANT] = Amount(
        _share(used, capacity),
        promised.share,
        promised.reach,
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

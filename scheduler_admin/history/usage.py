"""Usage over time: one row per queue and hour, samples appended to its arrays."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from engine.queues import QueueTree
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Usage

INTERVAL = timedelta(seconds=5)
"""Time between two samples."""


def sample(*, cluster: Cluster, tree: QueueTree, figures: Mapping[str, Mapping[str, Any]], now: datetime) -> None:
    """Append what every queue uses now; ``figures`` as ClusterStatus.queues. Called within a transaction."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    second = int((now - hour).total_seconds())
    rows = {row.queue: row for row in Usage.objects.filter(cluster=cluster, hour=hour)}
    missing = [Usage(cluster=cluster, queue=path, hour=hour) for path in tree.queues if path not in rows]
    for path, queue in tree.queues.items():
        row = rows.get(path)
        if row is None:
            row = next(one for one in missing if one.queue == path)
        _append(row, second, figures[path])
        row.guaranteed, row.max = queue.guaranteed, queue.max
    Usage.objects.bulk_create(missing)
    Usage.objects.bulk_update(rows.values(), ["seconds", "used", "asks", "guaranteed", "max"])


def _append(row: Usage, second: int, figures: Mapping[str, Any]) -> None:
    """A resource seen for the first time, or not any more, is nothing where it has no sample."""
    used: dict[str, list[int]] = row.used
    for resource in {*used, *figures["used"]}:
        series = used.setdefault(resource, [0] * len(row.seconds))
        series.append(figures["used"].get(resource, 0))
    row.seconds.append(second)
    row.asks.append(figures["asks"])

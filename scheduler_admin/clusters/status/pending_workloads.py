"""Kueue's workloads that wait for quota, as the status of a cluster keeps some of them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from engine.model.objects import Pod
from engine.model.queue_paths import is_inside
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster

_KEPT = 500


class PendingWorkload(NamedTuple):
    """A workload that Kueue has given no quota yet."""

    cluster: str
    uid: str
    """Empty: a release before this one wrote it down."""
    namespace: str
    name: str
    owner: str
    """``Kind/name`` of what it is made for; empty: not known."""
    queue: str
    priority: int
    requests: dict[str, int]
    """Of all its pods together."""
    since: datetime
    why: str
    """In Kueue's own words; empty: it has not tried it yet."""


def kept(held: Iterable[Pod]) -> list[dict[str, Any]]:
    """Some of them, in the order in which they come.

    The first of every namespace come before the second of any, so that no tenant's hides those of another.
    """
    seen: Counter[str] = Counter()
    turns: list[tuple[int, int, Pod]] = []
    for place, one in enumerate(held):
        turns.append((seen[one.namespace], place, one))
        seen[one.namespace] += 1
    first = sorted(turns, key=lambda each: each[:2])[:_KEPT]
    return [
        {
            "uid": one.uid,
            "namespace": one.namespace,
            "name": one.name,
            "owner": one.application,
            "queue": one.queue or "",
            "priority": one.priority,
            "requests": one.requests,
            "since_ms": one.unschedulable_ms,
            "why": one.unschedulable_message,
        }
        for _turn, _place, one in sorted(first, key=lambda each: each[1])
    ]


def pending_workloads(scope: Scope, clusters: Iterable[Cluster], queue: str = "") -> Iterator[PendingWorkload]:
    """Yield those that a scope sees, of a queue and all below it where one is given."""
    for cluster in clusters:
        status = getattr(cluster, "status", None)
        for one in status.pending_workloads if status else ():
            if not scope.has_pod(one["namespace"], one["queue"]) or (queue and not is_inside(one["queue"], queue)):
                continue
            told = {"uid": "", **{name: one[name] for name in PendingWorkload._fields if name in one}}
            since = datetime.fromtimestamp(one["since_ms"] / 1000, UTC)
            yield PendingWorkload(cluster=cluster.name, since=since, **told)


def pending_workload(scope: Scope, cluster: Cluster, namespace: str, name: str) -> PendingWorkload | None:
    """Return one that a scope sees; None where there is none of that name, or none that is kept."""
    of_cluster = pending_workloads(scope, [cluster])
    return next((one for one in of_cluster if (one.namespace, one.name) == (namespace, name)), None)

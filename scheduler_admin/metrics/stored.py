"""Metrics of what is stored: four queries per scrape, regardless of the number of clusters.

At most ``QUEUES`` queues of a cluster are exported, those nearest to the root, each with at most ``RESOURCES``
resources. Times are exported as timestamps, so that old data is visible even where scrapes fail.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from engine.cluster.sync.copies import CopyEffect
from engine.model.decision import Interlock
from engine.model.quantities import CPU, base, column, is_bytes
from engine.policies import QueueShare
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Heartbeat
from scheduler_admin.clusters.safeguards.holds import holds_of
from scheduler_admin.clusters.selectors import present, status_of
from scheduler_admin.clusters.watching.ownership import claimed_at
from scheduler_admin.notifications.models import Notification, Shortfall
from scheduler_admin.queues.presenters.standing import share_of
from scheduler_admin.queues.selectors.queues import tree_with

QUEUES = 500
RESOURCES = 16
_MILLI = 1000
_READ = (
    *("name", "owned_until", "interval_ms", "copy__there", "copy__effect"),
    *(f"hierarchy__current__{name}" for name in ("number", "digest", "document")),
)
_OF_STATUS = ("read_at", "pass_at", "pass_us", "error", "revision_number", "queues", "holds", "unplaced")


class _Queue(NamedTuple):
    """A queue as the last pass saw it."""

    cluster: Cluster
    path: str
    used: Mapping[str, int]
    guaranteed: Mapping[str, int]
    deserved: Mapping[str, int]
    """Empty unless the cluster is divided by shares."""
    share: QueueShare | None
    asks: int
    below_s: float


class Stored(Collector):
    """Reads the database at every scrape."""

    def collect(self) -> Iterable[Metric]:
        """Every family, also those that have no sample now."""
        only = (*_READ, *(f"status__{name}" for name in _OF_STATUS))
        clusters = list(Cluster.objects.select_related("status", "copy", "hierarchy__current").only(*only))
        since = {(row.cluster_id, row.queue): row.since for row in Shortfall.objects.all()}
        seen = [(one, status) for one in clusters if (status := status_of(one)) is not None]
        yield from _clusters(seen)
        yield _copies(clusters)
        yield from _heartbeats(clusters)
        yield from _queues([queue for one, status in seen for queue in _told(one, status, since)])
        left_out = _gauge(
            "queues_not_exported", "Queues beyond the first 500 of a cluster, which have no metrics.", "cluster"
        )
        for one, status in seen:
            left_out.add_metric([one.name], max(0, len(status.queues) - QUEUES))
        yield left_out
        waiting = _gauge("notifications_pending", "Notifications that were not sent yet.")
        waiting.add_metric([], Notification.objects.filter(state=Notification.State.WAITING).count())
        yield waiting


def _gauge(name: str, says: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"scheduler_admin_{name}", says, labels=labels)


def _clusters(seen: Iterable[tuple[Cluster, ClusterStatus]]) -> Iterator[Metric]:
    read = _gauge("last_read_timestamp_seconds", "Time of the last cluster state that a pass used.", "cluster")
    took = _gauge("last_pass_duration_seconds", "Duration of the last pass.", "cluster")
    unreadable = _gauge("cluster_unreadable", "1 if the cluster can't be read.", "cluster")
    says = "Leaf queues for which no pods are preempted, because one of their pods can't be read."
    without = _gauge("queues_without_preemption", says, "cluster")
    unplaced = _gauge("pods_without_queue", "Pods that belong to no queue of the tree.", "cluster", "state")
    holding = _gauge("safeguards_active", "Safeguards that put evictions on hold now, by kind.", "cluster", "safeguard")
    for cluster, status in seen:
        unreadable.add_metric([cluster.name], bool(status.error))
        without.add_metric([cluster.name], sum("unknown" in figures for figures in status.queues.values()))
        for label, state in (("running", "running"), ("pending", "waiting")):
            unplaced.add_metric([cluster.name, label], status.unplaced.get(state, 0))
        if status.read_at is not None:
            read.add_metric([cluster.name], status.read_at.timestamp())
        if status.pass_us is not None:
            took.add_metric([cluster.name], status.pass_us / 1e6)
        standing = [hold.interlock for hold in holds_of(status)]
        for interlock in Interlock:
            holding.add_metric([cluster.name, interlock.value], standing.count(interlock))
    yield from (read, took, unreadable, without, unplaced, holding)


def _copies(clusters: Iterable[Cluster]) -> Metric:
    """Of clusters whose scheduler was asked what it uses."""
    says = "1 if the scheduler rejects the queue configuration in the cluster, 0 if it uses it."
    refused = _gauge("configuration_rejected", says, "cluster")
    for cluster in clusters:
        copy = getattr(cluster, "copy", None)
        if copy is not None and copy.there and copy.effect in (CopyEffect.APPLIED, CopyEffect.REJECTED):
            refused.add_metric([cluster.name], copy.effect == CopyEffect.REJECTED)
    return refused


def _heartbeats(clusters: Iterable[Cluster]) -> Iterator[Metric]:
    """The engine's worker takes a cluster, or keeps it, as a pass begins."""
    says = "Time of a worker's last heartbeat; the engine worker has one for each of its clusters."
    beats = _gauge("worker_heartbeat_timestamp_seconds", says, "worker", "cluster")
    for cluster in clusters:
        if (at := claimed_at(cluster)) is not None:
            beats.add_metric(["engine", cluster.name], at.timestamp())
    for beat in Heartbeat.objects.all():
        beats.add_metric([beat.worker, ""], beat.at.timestamp())
    yield beats


def _told(cluster: Cluster, status: ClusterStatus, since: Mapping[tuple[int, str], datetime]) -> Iterator[_Queue]:
    """The queues of a cluster that are told of. How long one is short is known up to the last pass, and no further."""
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    queues = tree_with(revision, present(cluster)).queues if revision else {}
    for path in sorted(status.queues, key=lambda path: (path.count("."), path))[:QUEUES]:
        figures, began = status.queues[path], since.get((cluster.pk, path))
        below = status.pass_at - began if began and status.pass_at else timedelta()
        yield _Queue(
            cluster=cluster,
            path=path,
            used=figures["used"],
            guaranteed=queues[path].guaranteed if path in queues else {},
            deserved=figures.get("deserved") or {},
            share=share_of(figures),
            asks=figures["asks"],
            below_s=max(0.0, below.total_seconds()),
        )


def _queues(queues: Iterable[_Queue]) -> Iterator[Metric]:
    where, of = ("cluster", "queue"), ("cluster", "queue", "resource", "unit")
    asks = _gauge("pending_pods", "Pending pods of a queue and of all queues below it.", *where)
    says = "How long a queue has been below its guarantee while its pods wait for what it lacks; 0 if it is not."
    below = _gauge("below_guarantee_seconds", says, *where)
    used = _gauge("queue_used", "Requests of the bound pods of a queue and of all queues below it.", *of)
    guaranteed = _gauge("queue_guaranteed", "Guarantee of a queue.", *of)
    says = "Share of a queue divided by its weight: what it borrows, in thousandths, or its dominant share."
    share = _gauge("queue_share", says, "cluster", "queue", "basis")
    deserved = _gauge("queue_deserved", "Share that a queue deserves, under the policy deserved.", *of)
    for queue in queues:
        labels = [queue.cluster.name, queue.path]
        asks.add_metric(labels, queue.asks)
        below.add_metric(labels, queue.below_s)
        if queue.share is not None:
            share.add_metric([*labels, queue.share.basis], float(queue.share.value))
        for name in sorted({*queue.used, *queue.guaranteed, *queue.deserved}, key=column)[:RESOURCES]:
            measured = [*labels, name, _unit(name)]
            used.add_metric(measured, _amount(name, queue.used.get(name, 0)))
            if name in queue.guaranteed:
                guaranteed.add_metric(measured, _amount(name, queue.guaranteed[name]))
            if name in queue.deserved:
                deserved.add_metric(measured, _amount(name, queue.deserved[name]))
    yield from (asks, below, share, used, guaranteed, deserved)


def _unit(resource: str) -> str:
    """As kube-state-metrics calls it."""
    if base(resource) == CPU:
        return "core"
    return "byte" if is_bytes(resource) else "integer"


def _amount(resource: str, amount: int) -> float:
    return amount / _MILLI if base(resource) == CPU else amount

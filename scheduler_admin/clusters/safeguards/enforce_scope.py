"""Where a cluster's engine may act: everywhere, or within some queues and namespaces first."""

from collections.abc import Iterable, Iterator

from engine.model.decision import Decision, Interlock
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.holds import Hold

Place = tuple[str, str]
"""Queue and namespace of a pod."""


def places_of(decision: Decision) -> Iterator[Place]:
    """Where the pending pod of a decision is, and each of those who would be evicted for it."""
    for pod in (decision.ask, *(one.pod for one in decision.to_evict)):
        yield pod.queue, pod.namespace


def acts_within(cluster: Cluster, places: Iterable[Place]) -> bool:
    """Whether the engine may act where all of these pods are."""
    scope = Safeguards(queues=tuple(cluster.enforce_queues), namespaces=tuple(cluster.enforce_namespaces))
    return all(scope.covers(queue, namespace) for queue, namespace in places)


def limited(cluster: Cluster) -> list[Hold]:
    """For people to read, to what enforce is limited; nothing where it is not."""
    named = [*cluster.enforce_queues, *cluster.enforce_namespaces]
    return [Hold(interlock=Interlock.OUT_OF_SCOPE, reason=", ".join(named))] if named else []


def follow(cluster: Cluster, tree: QueueTree) -> None:
    """Let the queues that enforce is limited to keep their names after they were renamed or moved."""
    now = sorted({tree.now(path) for path in cluster.enforce_queues})
    if now != cluster.enforce_queues:
        cluster.enforce_queues = now
        cluster.save(update_fields=["enforce_queues"])

"""Finds the pods that a change of the tree would leave without a queue."""

from collections.abc import Callable
from operator import attrgetter

import msgspec

from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.model.snapshot.queue_assignment import NAMING_LABELS, is_foreign
from engine.model.snapshot.resource_quotas import SYSTEM

_ALIKE = attrgetter("queue_label", "user", "groups", "namespace")
_LED = attrgetter("scheduler", "application_label")
"""What else matters if the scheduler places whole applications."""


class Orphans(msgspec.Struct, frozen=True, kw_only=True):
    """The number of pods of one queue that would be in no queue."""

    queue: str
    """The queue that they are in before the change."""
    running: int = 0
    """How many of them have a node."""
    pending: int = 0


def orphans(state: ClusterState, before: QueueTree, after: QueueTree) -> tuple[Orphans, ...]:
    """Return how many pods of each queue of ``before`` would be in no queue of ``after``, sorted by path.

    Pods of the cluster's own namespace are left out: hardly anybody gives it a queue.
    """
    was, becomes = _cached_queue_of(state, before), _cached_queue_of(state, after)
    counts: dict[str, list[int]] = {}
    for pod in state.pods.values():
        if pod.finished or pod.namespace == SYSTEM or (queue := was(pod)) is None or becomes(pod) is not None:
            continue
        counts.setdefault(queue, [0, 0])[pod.node is None] += 1
    return tuple(
        Orphans(queue=queue, running=running, pending=pending) for queue, (running, pending) in sorted(counts.items())
    )


def _cached_queue_of(state: ClusterState, tree: QueueTree) -> Callable[[Pod], str | None]:
    """Return ``state.queue_of`` with a cache for pods that are alike to a tree."""
    known: dict[tuple[object, ...], str | None] = {}

    def queue_of(pod: Pod) -> str | None:
        cache_key = (*_ALIKE(pod), *map(pod.labels.get, NAMING_LABELS), is_foreign(pod, state.scheduler))
        cache_key = (*cache_key, *(_LED(pod) if state.scheduler else ()))
        if cache_key not in known:
            known[cache_key] = state.queue_of(pod, tree)
        return known[cache_key]

    return queue_of

"""Pods that a change of the tree would leave in no queue."""

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
"""What else counts where the scheduler places whole applications."""


class Orphans(msgspec.Struct, frozen=True, kw_only=True):
    """The pods of one queue that would be in none."""

    queue: str
    """Where they are before the change."""
    running: int = 0
    """How many of them have a node."""
    pending: int = 0


def orphans(state: ClusterState, before: QueueTree, after: QueueTree) -> tuple[Orphans, ...]:
    """The pods that are in a queue of ``before`` and would be in none of ``after``, counted by that queue, by path.

    Those of the cluster's own namespace are left out: hardly anybody gives it a queue.
    """
    was, becomes = _remembering(state, before), _remembering(state, after)
    counts: dict[str, list[int]] = {}
    for pod in state.pods.values():
        if pod.finished or pod.namespace == SYSTEM or (queue := was(pod)) is None or becomes(pod) is not None:
            continue
        counts.setdefault(queue, [0, 0])[pod.node is None] += 1
    return tuple(
        Orphans(queue=queue, running=running, pending=pending) for queue, (running, pending) in sorted(counts.items())
    )


def _remembering(state: ClusterState, tree: QueueTree) -> Callable[[Pod], str | None]:
    """``state.queue_of``, asked once for all pods of which a tree sees the same."""
    known: dict[tuple[object, ...], str | None] = {}

    def queue_of(pod: Pod) -> str | None:
        alike = (*_ALIKE(pod), *map(pod.labels.get, NAMING_LABELS), is_foreign(pod, state.scheduler))
        alike = (*alike, *(_LED(pod) if state.scheduler else ()))
        if alike not in known:
            known[alike] = state.queue_of(pod, tree)
        return known[alike]

    return queue_of

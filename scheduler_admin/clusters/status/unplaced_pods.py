"""Pods that are in no queue: the tree decides nothing about them, and what they use counts for nobody."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from engine.model.objects import Pod
from engine.model.quantities import total
from engine.model.snapshot import Snapshot
from engine.model.snapshot.queue_assignment import is_foreign
from engine.model.snapshot.resource_quotas import SYSTEM

_NAMESPACES = 20


def unplaced(snapshot: Snapshot, scheduler: str = "") -> dict[str, Any]:
    """{"running", "waiting", "used": amounts, "namespaces": [[name, pods], ...]}; empty where all are in a queue.

    Those of the cluster's own namespace are left out: hardly anybody gives it a queue. Of namespaces the twenty with
    the most are named. ``scheduler``: to whom pods may be foreign; how many run that are is told as {"foreign",
    "foreign_used", "foreign_to"}, as they have lost nothing.
    """
    found = [pod for pod in snapshot.pods if pod.queue is None and pod.namespace != SYSTEM]
    own = [pod for pod in found if not is_foreign(pod, scheduler)]
    foreign = [pod for pod in snapshot.pods if pod.node is not None and is_foreign(pod, scheduler)]
    return {**_own(own), **_foreign(foreign, scheduler)}


def _own(found: Sequence[Pod]) -> dict[str, Any]:
    if not found:
        return {}
    bound = [pod for pod in found if pod.node is not None]
    spaces = Counter(pod.namespace for pod in found)
    return {
        "running": len(bound),
        "waiting": len(found) - len(bound),
        "used": total(pod.requests for pod in bound),
        "namespaces": [[name, count] for name, count in sorted(spaces.items(), key=lambda one: (-one[1], one[0]))][
            :_NAMESPACES
        ],
    }


def _foreign(found: Sequence[Pod], scheduler: str) -> dict[str, Any]:
    if not found:
        return {}
    return {"foreign": len(found), "foreign_used": total(pod.requests for pod in found), "foreign_to": scheduler}

"""Find the pods that the controllers of evicted pods created as replacements."""

from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec

from engine.model.objects import Pod
from engine.model.snapshot import ClusterState

_SECOND_MS = 1000


class EvictedPod(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that was evicted at some time, and had a controller (``Kind/name``)."""

    uid: str
    namespace: str
    controller: str
    evicted_ms: int


def successors(state: ClusterState, lost: Iterable[EvictedPod], *, taken: Collection[str] = ()) -> dict[str, Pod]:
    """Return a map: uid of a lost pod -> the first pod that its controller created since and that replaces no other.

    ``taken``: uids of pods that replace others already. Controllers create pods when they see that a pod is
    terminating, so possibly before it is gone; the API server rounds creation times down to whole seconds. A pod that
    was lost twice, because two decisions were about it, has one successor.
    """
    lost_by_controller = defaultdict(list)
    for evicted in lost:
        lost_by_controller[evicted.namespace, evicted.controller].append(evicted)
    made = defaultdict(list)
    if lost_by_controller:
        excluded = {*taken, *(evicted.uid for group in lost_by_controller.values() for evicted in group)}
        for pod in state.pods.values():
            if (pod.namespace, pod.controller) in lost_by_controller and pod.uid not in excluded:
                made[pod.namespace, pod.controller].append(pod)
    replacements = {}
    for owner, group in lost_by_controller.items():
        pods = sorted(made[owner], key=lambda pod: (pod.created_ms, pod.uid))
        for evicted in sorted(group, key=lambda evicted: (evicted.evicted_ms, evicted.uid)):
            since_ms = evicted.evicted_ms // _SECOND_MS * _SECOND_MS
            first = next((pod for pod in pods if pod.created_ms >= since_ms), None)
            if first is not None and evicted.uid not in replacements:
                pods.remove(first)
                replacements[evicted.uid] = first
    return replacements

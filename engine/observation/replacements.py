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
    wanted = defaultdict(list)
    for one in lost:
        wanted[one.namespace, one.controller].append(one)
    made = defaultdict(list)
    if wanted:
        gone = {*taken, *(one.uid for each in wanted.values() for one in each)}
        for pod in state.pods.values():
            if (pod.namespace, pod.controller) in wanted and pod.uid not in gone:
                made[pod.namespace, pod.controller].append(pod)
    found = {}
    for owner, each in wanted.items():
        pods = sorted(made[owner], key=lambda pod: (pod.created_ms, pod.uid))
        for one in sorted(each, key=lambda one: (one.evicted_ms, one.uid)):
            since_ms = one.evicted_ms // _SECOND_MS * _SECOND_MS
            first = next((pod for pod in pods if pod.created_ms >= since_ms), None)
            if first is not None and one.uid not in found:
                pods.remove(first)
                found[one.uid] = first
    return found

"""What became of what was lost: the pod that a victim's controller made in its place."""

from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec

from engine.model.objects import Pod
from engine.model.snapshot import ClusterState

_SECOND_MS = 1000


class EvictedPod(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that was evicted at some moment, and had a controller (``Kind/name``)."""

    uid: str
    namespace: str
    controller: str
    evicted_ms: int


def successors(state: ClusterState, lost: Iterable[EvictedPod], *, taken: Collection[str] = ()) -> dict[str, Pod]:
    """By the uids of the lost, each the first pod that its controller made since and that stands in for no other.

    ``taken`` are uids of pods that stand in for others already. Controllers make pods when they see that one is going,
    so it may be before that has gone; the API server dates pods by whole seconds. One that was lost twice, as two
    decisions were about it, has one successor.
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

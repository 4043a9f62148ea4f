"""Who was told to go, and by whom, as far as Events and conditions say."""

from collections.abc import Collection, Iterable
from enum import StrEnum

import msgspec

from engine.snapshot import PREEMPTION_BY_SCHEDULER, ClusterState, Pod, Preempted

EVENT_WAIT_MS = 2_000
"""So long a victim's condition waits for its Event, which alone says for certain for whom it went; and what YuniKorn
says of one victim waits for what it says of the others."""

Key = tuple[str, str]
"""What tells one sighting from another: the victim's uid, and of its ask what the Event says, empty where none does."""


class Source(StrEnum):
    """Who evicted."""

    KUBE_SCHEDULER = "kube-scheduler"
    YUNIKORN = "yunikorn"
    API_EVICTION = "api-eviction"
    TAINT_MANAGER = "taint-manager"
    POD_GC = "pod-gc"
    KUBELET = "kubelet"


SCHEDULERS = (Source.KUBE_SCHEDULER, Source.YUNIKORN)
"""Those that preempt; the others evict for reasons of their own, as for a drain."""
SOURCES = {
    PREEMPTION_BY_SCHEDULER: Source.KUBE_SCHEDULER,
    "PreemptionByKubeScheduler": Source.KUBE_SCHEDULER,  # up to 1.26
    "EvictionByEvictionAPI": Source.API_EVICTION,
    "DeletionByTaintManager": Source.TAINT_MANAGER,
    "DeletionByPodGC": Source.POD_GC,
    "TerminationByKubelet": Source.KUBELET,
}
"""Reasons of the condition DisruptionTarget."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One pod that was told to go, and by whom."""

    source: Source
    at_ms: int
    uid: str
    namespace: str
    name: str
    node: str
    event: Preempted | None = None
    """None where only its condition tells of it."""

    @property
    def ask_uid(self) -> str:
        """The ask's uid, or ``namespace/name`` where that is all that the Event says."""
        return (
            self.event.ask_uid or f"{self.event.ask_namespace}/{self.event.ask_name}".strip("/") if self.event else ""
        )

    @property
    def key(self) -> Key:
        return self.uid, self.ask_uid

    @property
    def shared(self) -> tuple[str, str, str]:
        """What the victims of one decision have in common: YuniKorn's may be on several nodes."""
        return self.source, self.ask_uid, self.over_max if self.source is Source.YUNIKORN else self.node

    @property
    def over_max(self) -> str:
        """The queue that was to get below its max."""
        return self.event.over_max if self.event else ""


def sighted(state: ClusterState, *, now_ms: int, events: bool = True) -> tuple[Key, ...]:
    """Every pod that others evicted, as far as the state still tells, oldest first; ``events``: see ``sightings``."""
    return tuple(one.key for one in sightings(state, now_ms=now_ms, events=events))


def sightings(
    state: ClusterState, *, now_ms: int, settled: Collection[Key] = (), ours: Collection[str] = (), events: bool = True
) -> list[Sighting]:
    """Those that are not ``settled`` and whose victims (uids) are not ``ours``, oldest first.

    ``events``: whether Events can be read; where not, no condition waits for one.
    """
    told = _events(state)
    found = [*told.values(), *_of_conditions(state, told)]
    wait_ms = EVENT_WAIT_MS if events else 0
    left = (one for one in found if one.key not in settled and one.uid not in ours)
    left = (one for one in left if _told_whole(one) or now_ms - one.at_ms >= wait_ms)
    return sorted(left, key=lambda one: (one.at_ms, one.uid))


def _told_whole(one: Sighting) -> bool:
    """Whether no Event is still to come that would say more of it, or name another victim of the same decision."""
    return one.source not in SCHEDULERS or (one.source is Source.KUBE_SCHEDULER and one.event is not None)


def _events(state: ClusterState) -> dict[str, Sighting]:
    """Victim's uid -> what its Event says; of several the first, which tells when."""
    found: dict[str, Sighting] = {}
    by_yunikorn = (state.yunikorn, state.yunikorn_records)
    for source, *told in ((Source.KUBE_SCHEDULER, state.preempted), (Source.YUNIKORN, *by_yunikorn)):
        for _, event in sorted(each for events in told for each in events.items()):
            if event.by_scheduler and (event.uid not in found or event.at_ms < found[event.uid].at_ms):
                found[event.uid] = _of_event(state, event, source)
    return found


def _of_event(state: ClusterState, event: Preempted, source: Source) -> Sighting:
    pod = state.pods.get(event.uid) or state.departed.get(event.uid)
    told = event.node if event.ask_kind == "Pod" else ""  # for a group it is no node's name
    return Sighting(
        source=source,
        at_ms=event.at_ms,
        uid=event.uid,
        namespace=event.namespace,
        name=event.name,
        node=(pod.node if pod else None) or told,
        event=event,
    )


def _of_conditions(state: ClusterState, told: Collection[str]) -> Iterable[Sighting]:
    for pod in _gone_or_going(state):
        source, at_ms = SOURCES.get(pod.disruption), pod.disrupted_ms
        if source is not None and at_ms is not None and pod.node and pod.uid not in told:
            yield Sighting(
                source=source, at_ms=at_ms, uid=pod.uid, namespace=pod.namespace, name=pod.name, node=pod.node
            )


def _gone_or_going(state: ClusterState) -> Iterable[Pod]:
    """The condition comes first: one whose deletion failed has it, too, and runs on."""
    yield from (pod for pod in state.pods.values() if pod.disruption and (pod.terminating or pod.finished))
    yield from (pod for uid, pod in state.departed.items() if pod.disruption and uid not in state.pods)

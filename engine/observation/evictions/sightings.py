"""Who was told to go, and by whom, as far as Events and conditions say."""

from collections.abc import Collection, Iterable

import msgspec

from engine.model.objects import Pod, Preempted, Workload
from engine.model.snapshot import ClusterState
from engine.observation.evictions.eviction_sources import EVIDENCE, REASONS, SCHEDULERS, EvictionSource

EVENT_WAIT_MS = 2_000
"""So long a victim's condition waits for its Event, which alone says for certain for whom it went; and what other
schedulers say of one victim waits for what they say of the others."""
_CLOCKS_MS = 3_000
"""By so much two clocks of one cluster may differ."""
_AT_ONCE_MS = 30_000
"""So soon after Kueue has preempted a Workload the pods that run for it are told to go."""

Key = tuple[str, str]
"""What tells one sighting from another: the victim's uid, and of its ask what the Event says, empty where none does."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One pod that was told to go, and by whom."""

    source: EvictionSource
    at_ms: int
    uid: str
    namespace: str
    name: str
    node: str
    event: Preempted | None = None
    """None where only its condition tells of it; what Kueue says of its Workload counts as one."""
    word: str = ""
    """Why, in a word of the scheduler's own, where only its condition tells that."""

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
    def shared(self) -> tuple[str, ...]:
        """What the victims of one decision have in common: some schedulers take from several nodes for one ask."""
        evidence = EVIDENCE.get(self.source)
        place = self.node if evidence is None or evidence.one_node else self.over_max
        nameless = self.why if evidence and not evidence.asks else ""
        return self.source, self.ask_uid, place, nameless

    @property
    def over_max(self) -> str:
        """The queue that was to get below its max."""
        return self.event.over_max if self.event else ""

    @property
    def why(self) -> str:
        """Why, in a word of the scheduler's own."""
        return self.event.why if self.event else self.word


def sighted(state: ClusterState, *, now_ms: int, events: bool = True) -> tuple[Key, ...]:
    """Every pod that others evicted, as far as the state still tells, oldest first; ``events``: see ``sightings``."""
    return tuple(one.key for one in sightings(state, now_ms=now_ms, events=events))


def sightings(
    state: ClusterState, *, now_ms: int, settled: Collection[Key] = (), ours: Collection[str] = (), events: bool = True
) -> list[Sighting]:
    """Those that are not ``settled`` and whose victims (uids) are not ``ours``, oldest first.

    ``events``: whether Events can be read; where not, no condition waits for one.
    """
    told = _told(state)
    found = [*told.values(), *_of_conditions(state, told)]
    wait_ms = EVENT_WAIT_MS if events else 0
    left = (one for one in found if one.key not in settled and one.uid not in ours)
    left = (one for one in left if _told_whole(one) or now_ms - one.at_ms >= wait_ms)
    return sorted(left, key=lambda one: (one.at_ms, one.uid))


def _told_whole(one: Sighting) -> bool:
    """Whether no Event is still to come that would say more of it, or name another victim of the same decision."""
    return one.source not in SCHEDULERS or (one.source is EvictionSource.KUBE_SCHEDULER and one.event is not None)


def _told(state: ClusterState) -> dict[str, Sighting]:
    """Victim's uid -> what its scheduler says; of several words the first, which tells when."""
    found: dict[str, Sighting] = {}
    words = (
        (EvictionSource.KUBE_SCHEDULER, state.preempted.items()),
        (EvictionSource.YUNIKORN, (*state.yunikorn.items(), *state.yunikorn_records.items())),
        (EvictionSource.VOLCANO, state.volcano.items()),
        (EvictionSource.KUEUE, _of_workloads(state)),
    )
    for source, told in words:
        for _, event in sorted(told, key=lambda each: each[0]):
            if event.by_scheduler and (event.uid not in found or event.at_ms < found[event.uid].at_ms):
                found[event.uid] = _of_event(state, event, source)
    return found


def _of_workloads(state: ClusterState) -> Iterable[tuple[str, Preempted]]:
    """Pod's uid -> what Kueue says of its Workload, for pods that began to go when it said so."""
    gone = (one for uid, one in state.departed_workloads.items() if uid not in state.workloads)
    workloads = (*gone, *state.workloads.values())
    told = {(one.namespace, name): one for one in workloads if one.preempted for name in _names(one)}
    for pod in _going(state) if told else ():
        one = next((told[pod.namespace, name] for name in _named(pod) if (pod.namespace, name) in told), None)
        if one is not None and one.preempted is not None and _went_with(pod, one.preempted.at_ms):
            yield pod.uid, msgspec.structs.replace(one.preempted, uid=pod.uid, name=pod.name)


def is_of(pod: Pod, workload: Workload) -> bool:
    """Whether a pod is one of a Workload's."""
    return pod.namespace == workload.namespace and not set(_named(pod)).isdisjoint(_names(workload))


def _named(pod: Pod) -> tuple[str, ...]:
    """What a pod names of a Workload, in the order in which that counts."""
    return f"Workload/{pod.workload}", pod.controller, f"Pod/{pod.name}"


def _names(workload: Workload) -> tuple[str, ...]:
    """What its pods may name: what it was made for, or itself."""
    return *workload.owners, f"Workload/{workload.name}"


def _going(state: ClusterState) -> Iterable[Pod]:
    """Those that hold a node and are on their way out, or have just left."""
    yield from (pod for pod in state.pods.values() if pod.terminating and pod.node)
    yield from (pod for uid, pod in state.departed.items() if pod.node and uid not in state.pods)


def _went_with(pod: Pod, at_ms: int) -> bool:
    """Whether it was there then, and told to go after it: not before, nor after it had ended by itself."""
    if pod.deleted_ms is None or pod.created_ms > at_ms + _CLOCKS_MS:
        return False
    latest = at_ms + _AT_ONCE_MS if pod.finished else pod.deleted_ms
    return at_ms - _CLOCKS_MS <= pod.deleted_ms <= latest


def _of_event(state: ClusterState, event: Preempted, source: EvictionSource) -> Sighting:
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
        source, at_ms = REASONS.get(pod.disruption), pod.disrupted_ms
        if source is None or at_ms is None or not pod.node or pod.uid in told:
            continue
        named = Sighting(source=source, at_ms=at_ms, uid=pod.uid, namespace=pod.namespace, name=pod.name, node=pod.node)
        yield msgspec.structs.replace(named, word=pod.disruption_message) if source is EvictionSource.VOLCANO else named


def _gone_or_going(state: ClusterState) -> Iterable[Pod]:
    """The condition comes first: one whose deletion failed has it, too, and runs on."""
    yield from (pod for pod in state.pods.values() if pod.disruption and (pod.terminating or pod.finished))
    yield from (pod for uid, pod in state.departed.items() if pod.disruption and uid not in state.pods)

"""Find which pods others evicted, and which source evicted them, as far as Events and conditions report it."""

from collections.abc import Collection, Iterable

import msgspec

from engine.model.objects import Pod, Preempted, Workload
from engine.model.snapshot import ClusterState
from engine.observation.evictions.eviction_sources import (
    CLOCKS_MS,
    EVIDENCE,
    GROUP_KINDS,
    REASONS,
    SCHEDULERS,
    EvictionSource,
)

EVENT_WAIT_MS = 2_000
"""How long to wait for an Event after a victim's condition, because only the Event says for certain which pod it was
evicted for. What other schedulers report of one victim waits as long for what they report of the others."""
_AT_ONCE_MS = 30_000
"""Maximum time between Kueue's preemption of a Workload and the deletion of the Workload's running pods."""

Key = tuple[str, str]
"""Identifies a sighting: the victim's uid, and the preemptor as the Event names it, empty if none does."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One pod that was evicted, and the source that evicted it."""

    source: EvictionSource
    at_ms: int
    uid: str
    namespace: str
    name: str
    node: str
    """The node that the pod ran on."""
    event: Preempted | None = None
    """The Event, or what Kueue reports of the pod's Workload; None if only the pod's condition reports the eviction."""
    word: str = ""
    """The reason in the scheduler's own word, if only the condition gives it."""

    @property
    def ask_uid(self) -> str:
        """Return the preemptor's uid, or ``namespace/name`` if the Event has nothing more."""
        return (
            self.event.ask_uid or f"{self.event.ask_namespace}/{self.event.ask_name}".strip("/") if self.event else ""
        )

    @property
    def key(self) -> Key:
        return self.uid, self.ask_uid

    @property
    def shared(self) -> tuple[str, ...]:
        """Return what the victims of one decision have in common; some schedulers evict from several nodes at once."""
        evidence = EVIDENCE.get(self.source)
        place = self.place if evidence is None or evidence.one_node else self.over_max
        nameless = self.why if evidence and not evidence.names_preemptor else ""
        return self.source, self.ask_uid, place, nameless

    @property
    def for_group(self) -> bool:
        """Return whether the preemptor is a group of pods."""
        return self.event is not None and self.event.ask_kind in GROUP_KINDS

    @property
    def place(self) -> str:
        """Return the node that the preemptor gets; empty for a group, whose pods get several.

        A victim is on another node if it is a pod of a group that is only evicted as a whole.
        """
        if self.for_group:
            return ""
        named = self.event.node if self.event and self.source is EvictionSource.KUBE_SCHEDULER else ""
        return named or self.node

    @property
    def over_max(self) -> str:
        """Return the queue that was to be reduced to its max, or an empty string."""
        return self.event.over_max if self.event else ""

    @property
    def why(self) -> str:
        """Return the reason, in the scheduler's own word."""
        return self.event.why if self.event else self.word


def sighting_keys(state: ClusterState, *, now_ms: int, events: bool = True) -> tuple[Key, ...]:
    """Return the key of every pod that others evicted and the state still shows, oldest first.

    ``events``: whether Events can be read.
    """
    return tuple(sighting.key for sighting in sightings(state, now_ms=now_ms, events=events))


def sightings(
    state: ClusterState,
    *,
    now_ms: int,
    settled: Collection[Key] = (),
    own_victims: Collection[str] = (),
    events: bool = True,
) -> list[Sighting]:
    """Return the sightings that are not ``settled`` and whose victims (uids) are not ``own_victims``, oldest first.

    ``events``: whether Events can be read; if not, no condition waits for an Event.
    """
    reports = _scheduler_reports(state)
    candidates = [*reports.values(), *_of_conditions(state, reports)]
    wait_ms = EVENT_WAIT_MS if events else 0
    pending = (sighting for sighting in candidates if sighting.key not in settled and sighting.uid not in own_victims)
    pending = (sighting for sighting in pending if _is_complete(sighting) or now_ms - sighting.at_ms >= wait_ms)
    return sorted(pending, key=lambda sighting: (sighting.at_ms, sighting.uid))


def _is_complete(sighting: Sighting) -> bool:
    """Return whether no further Event is expected that adds to the sighting or names another victim."""
    return sighting.source not in SCHEDULERS or (
        sighting.source is EvictionSource.KUBE_SCHEDULER and sighting.event is not None
    )


def _scheduler_reports(state: ClusterState) -> dict[str, Sighting]:
    """Return a map: victim's uid -> what its scheduler reports; of several reports the first, which has the time."""
    sightings_by_uid: dict[str, Sighting] = {}
    sources = (
        (EvictionSource.KUBE_SCHEDULER, state.preempted.items()),
        (EvictionSource.YUNIKORN, (*state.yunikorn.items(), *state.yunikorn_records.items())),
        (EvictionSource.VOLCANO, state.volcano.items()),
        (EvictionSource.KUEUE, _of_workloads(state)),
    )
    for source, reports in sources:
        for _, event in sorted(reports, key=lambda item: item[0]):
            if event.by_scheduler and (
                event.uid not in sightings_by_uid or event.at_ms < sightings_by_uid[event.uid].at_ms
            ):
                sightings_by_uid[event.uid] = _of_event(state, event, source)
    return sightings_by_uid


def _of_workloads(state: ClusterState) -> Iterable[tuple[str, Preempted]]:
    """Yield each pod's uid with what Kueue reports of its Workload, for pods that began to terminate at that time."""
    departed = (workload for uid, workload in state.departed_workloads.items() if uid not in state.workloads)
    workloads = (*departed, *state.workloads.values())
    preempted_by_pod = {
        (workload.namespace, name): workload
        for workload in workloads
        if workload.preempted
        for name in _names(workload)
    }
    for pod in _terminating_or_departed(state) if preempted_by_pod else ():
        preempted = next(
            (
                preempted_by_pod[pod.namespace, name]
                for name in _named(pod)
                if (pod.namespace, name) in preempted_by_pod
            ),
            None,
        )
        if preempted is not None and preempted.preempted is not None and _deleted_with(pod, preempted.preempted.at_ms):
            yield pod.uid, msgspec.structs.replace(preempted.preempted, uid=pod.uid, name=pod.name)


def is_of(pod: Pod, workload: Workload) -> bool:
    """Return whether a pod belongs to a Workload."""
    return pod.namespace == workload.namespace and not set(_named(pod)).isdisjoint(_names(workload))


def _named(pod: Pod) -> tuple[str, ...]:
    """Return the names by which a pod may refer to its Workload, in order of precedence."""
    return f"Workload/{pod.workload}", pod.controller, f"Pod/{pod.name}"


def _names(workload: Workload) -> tuple[str, ...]:
    """Return the names by which pods may refer to a Workload: its owners, or the Workload itself."""
    return *workload.owners, f"Workload/{workload.name}"


def _terminating_or_departed(state: ClusterState) -> Iterable[Pod]:
    """Yield the pods on a node that are terminating, or that have just left."""
    yield from (pod for pod in state.pods.values() if pod.terminating and pod.node)
    yield from (pod for uid, pod in state.departed.items() if pod.node and uid not in state.pods)


def _deleted_with(pod: Pod, at_ms: int) -> bool:
    """Return whether a pod existed at that time and was deleted because of it: not earlier, nor once finished."""
    if pod.deleted_ms is None or pod.created_ms > at_ms + CLOCKS_MS:
        return False
    latest = at_ms + _AT_ONCE_MS if pod.finished else pod.deleted_ms
    return at_ms - CLOCKS_MS <= pod.deleted_ms <= latest


def _of_event(state: ClusterState, event: Preempted, source: EvictionSource) -> Sighting:
    pod = state.pods.get(event.uid) or state.departed.get(event.uid)
    reported_node = "" if event.ask_kind in GROUP_KINDS else event.node  # for a group, it is not a node's name
    return Sighting(
        source=source,
        at_ms=event.at_ms,
        uid=event.uid,
        namespace=event.namespace,
        name=event.name,
        node=(pod.node if pod else None) or reported_node,
        event=event,
    )


def _of_conditions(state: ClusterState, reported: Collection[str]) -> Iterable[Sighting]:
    for pod in _disrupted(state):
        source, at_ms = REASONS.get(pod.disruption), pod.disrupted_ms
        if source is None or at_ms is None or not pod.node or pod.uid in reported:
            continue
        named = Sighting(source=source, at_ms=at_ms, uid=pod.uid, namespace=pod.namespace, name=pod.name, node=pod.node)
        yield msgspec.structs.replace(named, word=pod.disruption_message) if source is EvictionSource.VOLCANO else named


def _disrupted(state: ClusterState) -> Iterable[Pod]:
    """Yield disrupted pods that are terminating, finished or gone.

    The condition is set before the deletion: a pod whose deletion failed has it too, and continues to run.
    """
    yield from (pod for pod in state.pods.values() if pod.disruption and (pod.terminating or pod.finished))
    yield from (pod for uid, pod in state.departed.items() if pod.disruption and uid not in state.pods)

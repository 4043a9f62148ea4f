"""Group sightings into decisions: which pods were evicted together, for which pod, and the effect on the queues."""

from collections.abc import Collection, Iterable
from functools import cached_property

import msgspec

from engine.model.decision import PodFacts
from engine.model.objects import Pod, Preempted
from engine.model.quantities import total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions.broken_rules import ObservedUsage, with_broken_rules
from engine.observation.evictions.eviction_sources import EvictionSource
from engine.observation.evictions.observed import Observed, ObservedVictim
from engine.observation.evictions.sightings import Key, Sighting, sightings

TOGETHER_MS = 10_000
"""Evictions by one source for one pod within this time are one decision; on one node, if EVIDENCE says so."""
FRESH_MS = 60_000
"""Maximum age at which an eviction is reported with the queues' usage, which changes later."""


def observe(
    state: ClusterState,
    tree: QueueTree,
    *,
    now_ms: int,
    settled: Collection[Key] = (),
    own_victims: Collection[str] = (),
    events: bool = True,
    most: int | None = None,
) -> tuple[Observed, ...]:
    """Return the decisions of others that the state shows, oldest first, from at most the ``most`` oldest victims.

    Sightings in ``settled`` are left out, and so are victims (uids) in ``own_victims``. ``events``: whether Events can
    be read. The function is pure: the same state gives the same result, in whatever order its objects came.
    """
    recorded = sightings(state, now_ms=now_ms, settled=settled, own_victims=own_victims, events=events)[:most]
    scene = _Scene(state, tree, now_ms)
    groups = [
        scene.observed(group)
        for group in _together(sorted(recorded, key=lambda sighting: (*sighting.shared, sighting.at_ms, sighting.uid)))
    ]
    return tuple(sorted(groups, key=lambda decision: (decision.at_ms, decision.victims[0].pod.uid)))


def _together(ordered: Iterable[Sighting]) -> list[list[Sighting]]:
    groups: list[list[Sighting]] = []
    for sighting in ordered:
        first = groups[-1][0] if groups else None
        if first and first.shared == sighting.shared and sighting.at_ms - first.at_ms <= TOGETHER_MS:
            groups[-1].append(sighting)
        else:
            groups.append([sighting])
    return groups


def _node(group: list[Sighting]) -> str:
    """Return the node that the preemptor gets, or else the victims' node; empty if these are several."""
    nodes = {sighting.place or sighting.node for sighting in group}
    return nodes.pop() if len(nodes) == 1 else ""


class _Scene:
    """The current cluster, against which every group of sightings is described."""

    def __init__(self, state: ClusterState, tree: QueueTree, now_ms: int) -> None:
        self._state, self._tree, self._now_ms = state, tree, now_ms
        self._usage = ObservedUsage(state, tree)

    def observed(self, group: list[Sighting]) -> Observed:
        """Return a group of sightings as one decision."""
        first = group[0]
        observed = Observed(
            source=first.source,
            at_ms=first.at_ms,
            node=_node(group),
            victims=tuple(self._victim(sighting) for sighting in group),
            ask_kind=first.event.ask_kind if first.event else "Pod",
            ask_place=first.event.ask_place if first.event else "",
            over_max=first.over_max,
        )
        fresh = [victim.pod for victim in observed.victims if victim.known and self._now_ms - victim.at_ms <= FRESH_MS]
        return with_broken_rules(self._with_preemptor(observed, first.event), self._usage, fresh)

    def _victim(self, sighting: Sighting) -> ObservedVictim:
        pod = self._state.placed(sighting.uid, self._tree)
        if pod is None:
            facts = msgspec.structs.replace(
                self._named(sighting.uid, sighting.namespace, sighting.name), node=sighting.node
            )
            return ObservedVictim(pod=facts, at_ms=sighting.at_ms, known=False, why=sighting.why)
        message = pod.disruption_message if sighting.source is EvictionSource.KUBELET else ""
        place = sighting.event.place if sighting.event else ""
        return ObservedVictim(pod=PodFacts.of(pod), at_ms=sighting.at_ms, said=message, why=sighting.why, place=place)

    def _with_preemptor(self, observed: Observed, event: Preempted | None) -> Observed:
        """Return the decision with its preemptor, or with the pods that may have been the preemptor."""
        if event is not None and (event.ask_uid or event.ask_name):
            if observed.source is EvictionSource.KUEUE:
                preemptor = self._preempting_workload(event.ask_uid)
            elif observed.for_group:
                preemptor = self._preempting_group(event)
            else:
                preemptor = self._preemptor(event.ask_uid)
            named = preemptor or self._named_preemptor(event)
            return msgspec.structs.replace(observed, ask=named, ask_known=preemptor is not None)
        if observed.source is not EvictionSource.KUBE_SCHEDULER:
            return observed
        nominated = self._nominated(observed)
        if len(nominated) == 1 and all(
            victim.known and victim.pod.priority < nominated[0].priority for victim in observed.victims
        ):
            return msgspec.structs.replace(observed, ask=self._preemptor(nominated[0].uid), ask_inferred=True)
        return msgspec.structs.replace(observed, nominated=tuple(sorted(pod.key for pod in nominated)))

    def _preemptor(self, uid: str) -> PodFacts | None:
        pod = self._state.placed(uid, self._tree)
        return None if pod is None else msgspec.structs.replace(PodFacts.of(pod), node="")

    def _preempting_workload(self, uid: str) -> PodFacts | None:
        """Return the Workload that preempted, as facts of a pod; its pods are created later, if at all."""
        workload = self._state.workloads.get(uid)
        if workload is None:
            return None
        named = self._named(uid, workload.namespace, workload.name)
        return msgspec.structs.replace(named, application=workload.owner or workload.name, priority=workload.priority)

    def _preempting_group(self, event: Preempted) -> PodFacts | None:
        """Return the group that preempted, as facts of a pod: with its priority, and all that its pods wait for."""
        groups = self._state.scheduling_groups.values()
        group = next((group for group in groups if group.uid == event.ask_uid), None)
        if group is None:
            return None
        members = self._members.get((group.namespace, group.name), ())
        queues = {self._state.queue_of(pod, self._tree) for pod in members}
        named = self._named(group.uid, group.namespace, group.name)
        return msgspec.structs.replace(
            named,
            queue=(queues.pop() or "") if len(queues) == 1 else named.queue,
            priority=group.priority,
            requests=total(pod.requests for pod in members if pod.node is None),
        )

    @cached_property
    def _members(self) -> dict[tuple[str, str], list[Pod]]:
        members: dict[tuple[str, str], list[Pod]] = {}
        for pod in self._state.pods.values():
            if pod.scheduling_group and not pod.finished:
                members.setdefault((pod.namespace, pod.scheduling_group), []).append(pod)
        return members

    def _named_preemptor(self, event: Preempted) -> PodFacts:
        named = self._named(event.ask_uid, event.ask_namespace, event.ask_name)
        queue = event.ask_queue or named.queue
        return msgspec.structs.replace(named, queue=queue, application=event.ask_application)

    def _named(self, uid: str, namespace: str, name: str) -> PodFacts:
        """Return the facts of a pod that was never seen; its labels, which may name another queue, are not known."""
        queue = self._tree.leaf_by_namespace.get(namespace, "")
        return PodFacts(uid=uid, namespace=namespace, name=name, queue=queue, application="", priority=0, requests={})

    def _nominated(self, observed: Observed) -> list[Pod]:
        """Return the pods that may be the preemptor: nominated to the node, with a higher priority than a victim."""
        lowest = min((victim.pod.priority for victim in observed.victims if victim.known), default=None)
        waiting = self._nominees.get(observed.node, ())
        return [pod for pod in waiting if lowest is not None and pod.priority > lowest]

    @cached_property
    def _nominees(self) -> dict[str, list[Pod]]:
        nominees: dict[str, list[Pod]] = {}
        for pod in self._state.pods.values():
            if pod.nominated_node and pod.node is None:
                nominees.setdefault(pod.nominated_node, []).append(pod)
        return nominees

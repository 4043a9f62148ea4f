"""Group sightings into decisions: which pods were evicted together, for which pod, and the effect on the queues."""

from collections.abc import Collection, Iterable

import msgspec

from engine.model.decision import PodFacts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions.broken_rules import ObservedUsage, with_broken_rules
from engine.observation.evictions.eviction_sources import EvictionSource
from engine.observation.evictions.observed import Observed, ObservedVictim, merge_observed
from engine.observation.evictions.preemptors import Preemptors
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
    groups = _across_nodes(groups)
    return tuple(sorted(groups, key=lambda decision: (decision.at_ms, decision.victims[0].pod.uid)))


def _across_nodes(groups: Iterable[Observed]) -> list[Observed]:
    """Return the decisions with those as one that were inferred on several nodes for the same group of pods."""
    whole, parts = list[Observed](), dict[str, Observed]()
    for decision in sorted(groups, key=lambda decision: decision.at_ms):
        if not (decision.for_group and decision.ask_inferred):
            whole.append(decision)
            continue
        former = parts.get(decision.preemptor_uid)
        if former is not None and decision.at_ms - former.at_ms <= TOGETHER_MS:
            parts[decision.preemptor_uid] = merge_observed(former, decision)
        else:
            whole += [former] if former else []
            parts[decision.preemptor_uid] = decision
    return [*whole, *parts.values()]


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
        self._preemptors = Preemptors(state, tree)

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
        return with_broken_rules(self._preemptors.named_in(observed, first.event), self._usage, fresh)

    def _victim(self, sighting: Sighting) -> ObservedVictim:
        pod = self._state.placed(sighting.uid, self._tree)
        if pod is None:
            named = self._preemptors.named(sighting.uid, sighting.namespace, sighting.name)
            facts = msgspec.structs.replace(named, node=sighting.node)
            return ObservedVictim(pod=facts, at_ms=sighting.at_ms, known=False, why=sighting.why)
        message = pod.disruption_message if sighting.source is EvictionSource.KUBELET else ""
        place = sighting.event.place if sighting.event else ""
        return ObservedVictim(pod=PodFacts.of(pod), at_ms=sighting.at_ms, said=message, why=sighting.why, place=place)

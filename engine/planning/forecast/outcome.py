"""The result of a forecast: plain data, with the sums that people ask for first."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from engine.model.decision import Decision, PodFacts
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.planning.scheduling_pass import AuditedDecision

AGAIN = "~"
"""Precedes the count in the name and uid of a pod that came back; no name in Kubernetes has it."""


def origin(uid: str) -> str:
    """Return the uid of the original pod of a pod in a forecast."""
    return uid.partition(AGAIN)[0]


class Settling(StrEnum):
    """How a forecast ends."""

    STABLE = "stable"
    """Nothing moves any more."""
    LOOP = "loop"
    """An earlier state came again, except for names and ages: it would repeat forever."""
    UNDECIDED = "undecided"
    """Neither within the allowed rounds."""


class Eviction(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that would be evicted, with its preemptor and round; ``round`` 1 is the next pass."""

    round: int
    ask: PodFacts
    victim: PodFacts


class PlacedPod(msgspec.Struct, frozen=True, kw_only=True):
    """A pending pod that would get a node."""

    round: int
    ask: PodFacts
    node: str


class ClusterChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the cluster from outside, at the beginning of a round."""

    round: int
    """The round, from 1 on."""
    ends: tuple[str, ...] = ()
    """Pods (uids) that end by themselves, whatever they are called in the forecast by then."""
    arrives: tuple[Pod, ...] = ()
    """Pods that are created."""


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """A sequence of preemptions that repeats forever."""

    passes: int
    """The number of rounds after which the same state comes again, except for names and ages."""
    queues: tuple[str, ...]
    """Queue paths: the preemptors' queues, then the victims', each once."""
    asks: tuple[PodFacts, ...]
    """The pods that preempt each other in turn, as they were named the first time."""

    @classmethod
    def of(cls, rounds: Sequence["Round"]) -> "Loop":
        """Return the loop that these rounds form."""
        evictions = [eviction for round_ in rounds for eviction in round_.evictions]
        preemptors: dict[str, PodFacts] = {}
        for eviction in evictions:
            preemptors.setdefault(origin(eviction.ask.uid), eviction.ask)
        queues = dict.fromkeys(
            [*(eviction.ask.queue for eviction in evictions), *(eviction.victim.queue for eviction in evictions)]
        )
        return cls(passes=len(rounds), queues=tuple(queues), asks=tuple(preemptors.values()))


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """A pass of a forecast, and its result."""

    number: int
    """The number of the round; 1 is the next pass."""
    now_ms: int
    considered: tuple[AuditedDecision, ...] = ()
    placed: tuple[PlacedPod, ...] = ()
    left: int = 0
    """Pods that exited: victims, and pods that were already terminating."""

    @property
    def preemptions(self) -> tuple[Decision, ...]:
        """Return the decisions that are carried out and evict."""
        free = (considered for considered in self.considered if not considered.refused and not considered.hold)
        return tuple(considered.decision for considered in free if considered.decision.evicts)

    @property
    def evictions(self) -> tuple[Eviction, ...]:
        """Return the pods that these decisions evict, in order."""
        return tuple(
            Eviction(round=self.number, ask=decision.ask, victim=verdict.pod)
            for decision in self.preemptions
            for verdict in decision.to_evict
        )

    @property
    def moves(self) -> bool:
        """Return whether any pod exited or was bound."""
        return bool(self.left or self.placed)


class EvictionCount(msgspec.Struct, frozen=True):
    """The number of evicted pods and of their applications."""

    pods: int
    applications: int

    @classmethod
    def of(cls, evictions: Iterable[Eviction]) -> "EvictionCount":
        """Return the sum of some evictions; a pod that is evicted twice counts twice."""
        applications = [(eviction.victim.namespace, eviction.victim.application) for eviction in evictions]
        return cls(len(applications), len(set(applications)))


class EvictionGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Evictions of one application, from one node, for one queue."""

    asker_queue: str
    queue: str
    namespace: str
    application: str
    node: str
    round: int = 1
    """The first round in which one of them is evicted."""
    first: int = 0
    """Pods that the next pass would evict."""
    later: int = 0
    """Pods that later passes would evict."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What would happen under a tree, pass by pass, without other changes."""

    rounds: tuple[Round, ...]
    settles: Settling
    loop: Loop | None = None
    """The pods and queues of the loop, if ``settles`` is ``loop``."""
    end: ClusterState
    """The cluster after the last round."""

    @property
    def passes(self) -> int:
        """Return after how many rounds nothing moves any more, or how many were computed; 0: nothing moves at all."""
        return max((round_.number for round_ in self.rounds if round_.moves), default=0)

    @property
    def evictions(self) -> tuple[Eviction, ...]:
        """Return every evicted pod, in order; a pod that comes back may be evicted again."""
        return tuple(eviction for round_ in self.rounds for eviction in round_.evictions)

    @property
    def placed(self) -> tuple[PlacedPod, ...]:
        """Return every pending pod that gets a node, in order."""
        return tuple(placed for round_ in self.rounds for placed in round_.placed)

    @property
    def waiting(self) -> tuple[AuditedDecision, ...]:
        """Return the pods that still wait in the end, each with the last decision about it."""
        last = self.rounds[-1]
        placed = {pod.ask.uid for pod in last.placed}
        return tuple(considered for considered in last.considered if considered.decision.ask.uid not in placed)

    @property
    def first_pass(self) -> EvictionCount:
        """Return the count of what the next pass would evict."""
        return EvictionCount.of(self.rounds[0].evictions)

    @property
    def total(self) -> EvictionCount:
        """Return the count of what all passes together would evict."""
        return EvictionCount.of(self.evictions)


def group_evictions(evictions: Iterable[Eviction]) -> tuple[EvictionGroup, ...]:
    """Return evictions summed up by preemptor's queue, victim's queue, namespace, application and node.

    They are in the order of their first round; within a round, the largest groups come first.
    """
    counts: dict[tuple[str, str, str, str, str], list[int]] = {}
    began: dict[tuple[str, str, str, str, str], int] = {}
    for eviction in evictions:
        victim = eviction.victim
        key = (eviction.ask.queue, victim.queue, victim.namespace, victim.application, victim.node)
        counts.setdefault(key, [0, 0])[eviction.round > 1] += 1
        began[key] = min(eviction.round, began.get(key, eviction.round))
    ordered = sorted(counts, key=lambda key: (began[key], -sum(counts[key]), key))
    return tuple(
        EvictionGroup(
            asker_queue=key[0],
            queue=key[1],
            namespace=key[2],
            application=key[3],
            node=key[4],
            round=began[key],
            first=counts[key][0],
            later=counts[key][1],
        )
        for key in ordered
    )


class ForecastDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two forecasts of the same cluster."""

    caused: tuple[Eviction, ...]
    """Evictions only under the second tree: the cost of the change."""
    spared: tuple[Eviction, ...]
    """Evictions only under the first tree: what would happen without the change."""
    served: tuple[PlacedPod, ...] = ()
    """Pending pods that get a node only under the second tree; victims that come back do not count."""
    unserved: tuple[PlacedPod, ...] = ()
    """Pending pods that get a node only under the first tree."""


def difference(first: Forecast, second: Forecast) -> ForecastDifference:
    """Return the pods that are evicted under only one of two trees, whatever their preemptor."""
    before, after = first.evictions, second.evictions
    placed_before, placed_after = (_by_origin(outcome.placed) for outcome in (first, second))
    evicted_before, evicted_after = ({eviction.victim.uid for eviction in evictions} for evictions in (before, after))
    return ForecastDifference(
        caused=tuple(eviction for eviction in after if eviction.victim.uid not in evicted_before),
        spared=tuple(eviction for eviction in before if eviction.victim.uid not in evicted_after),
        served=tuple(pod for uid, pod in placed_after.items() if uid not in placed_before),
        unserved=tuple(pod for uid, pod in placed_before.items() if uid not in placed_after),
    )


def _by_origin(placed: Iterable[PlacedPod]) -> dict[str, PlacedPod]:
    """Return the first placement of each pod; victims that come back do not count as placed pods."""
    first_placements: dict[str, PlacedPod] = {}
    for pod in placed:
        if AGAIN not in pod.ask.uid:
            first_placements.setdefault(pod.ask.uid, pod)
    return first_placements

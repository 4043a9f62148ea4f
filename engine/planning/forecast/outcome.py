"""What a forecast found: plain data, with the sums that people ask for first."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from engine.model.decision import Decision, PodFacts
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.planning.scheduling_pass import AuditedDecision

AGAIN = "~"
"""Before the count in the name and uid of a pod that came back; no name in Kubernetes has it."""


def origin(uid: str) -> str:
    """The uid of the pod in the cluster that a pod of a forecast came from."""
    return uid.partition(AGAIN)[0]


class Settling(StrEnum):
    """Where a forecast ends."""

    QUIET = "quiet"
    """Nothing moves any more."""
    LOOP = "loop"
    """A state that came before came again, but for names and ages: it would go on so for ever."""
    UNSETTLED = "unsettled"
    """Neither within the rounds allowed."""


class Eviction(msgspec.Struct, frozen=True, kw_only=True):
    """One pod that would go, for whom, and in which round; ``round`` 1 is the next pass."""

    round: int
    ask: PodFacts
    victim: PodFacts


class PlacedPod(msgspec.Struct, frozen=True, kw_only=True):
    """An ask that would get its node."""

    round: int
    ask: PodFacts
    node: str


class ClusterChange(msgspec.Struct, frozen=True, kw_only=True):
    """What comes about in the cluster besides, at the beginning of a round."""

    round: int
    """From 1 on."""
    ends: tuple[str, ...] = ()
    """Pods (uids) that end by themselves, under whichever name they are there by then."""
    arrives: tuple[Pod, ...] = ()
    """Pods that are made."""


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """What goes on for ever."""

    passes: int
    """After so many the same state, but for names and ages, comes again."""
    queues: tuple[str, ...]
    """Paths: who takes, then who is taken from, each once."""
    asks: tuple[PodFacts, ...]
    """That take from each other in turn, as they were named the first time."""

    @classmethod
    def of(cls, rounds: Sequence["Round"]) -> "Loop":
        """The loop that these rounds are."""
        evictions = [one for each in rounds for one in each.evictions]
        asks: dict[str, PodFacts] = {}
        for one in evictions:
            asks.setdefault(origin(one.ask.uid), one.ask)
        queues = dict.fromkeys([*(one.ask.queue for one in evictions), *(one.victim.queue for one in evictions)])
        return cls(passes=len(rounds), queues=tuple(queues), asks=tuple(asks.values()))


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One pass of a forecast, and what came of it."""

    number: int
    """1 is the next pass."""
    now_ms: int
    considered: tuple[AuditedDecision, ...] = ()
    placed: tuple[PlacedPod, ...] = ()
    left: int = 0
    """Pods that left: victims, and those that were on their way out."""

    @property
    def preemptions(self) -> tuple[Decision, ...]:
        """The decisions that are carried out and evict."""
        free = (one for one in self.considered if not one.refused and not one.hold)
        return tuple(one.decision for one in free if one.decision.evicts)

    @property
    def evictions(self) -> tuple[Eviction, ...]:
        """The pods that go for them, in order."""
        return tuple(
            Eviction(round=self.number, ask=decision.ask, victim=verdict.pod)
            for decision in self.preemptions
            for verdict in decision.to_evict
        )

    @property
    def moves(self) -> bool:
        """Whether anything went or was bound."""
        return bool(self.left or self.placed)


class EvictionCount(msgspec.Struct, frozen=True):
    """How many pods go, of how many applications."""

    pods: int
    applications: int

    @classmethod
    def of(cls, evictions: Iterable[Eviction]) -> "EvictionCount":
        """The sum of some evictions; a pod that goes twice counts twice."""
        applications = [(one.victim.namespace, one.victim.application) for one in evictions]
        return cls(len(applications), len(set(applications)))


class EvictionGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Evictions of one application, from one node, for one queue."""

    asker_queue: str
    queue: str
    namespace: str
    application: str
    node: str
    round: int = 1
    """The first in which one of them goes."""
    first: int = 0
    """Pods that the next pass would take."""
    later: int = 0
    """Pods that passes after it would take."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What would happen under a tree, pass by pass, if nobody did anything else."""

    rounds: tuple[Round, ...]
    settles: Settling
    loop: Loop | None = None
    """With ``loop``: who takes from whom in turn."""
    end: ClusterState
    """The cluster after the last round."""

    @property
    def passes(self) -> int:
        """After how many rounds nothing moves any more, or how many were looked at; 0: nothing moves at all."""
        return max((one.number for one in self.rounds if one.moves), default=0)

    @property
    def evictions(self) -> tuple[Eviction, ...]:
        """Every pod that goes, in order; a pod that comes back may go again."""
        return tuple(eviction for one in self.rounds for eviction in one.evictions)

    @property
    def placed(self) -> tuple[PlacedPod, ...]:
        """Every ask that gets a node, in order."""
        return tuple(found for one in self.rounds for found in one.placed)

    @property
    def waiting(self) -> tuple[AuditedDecision, ...]:
        """The asks that still wait in the end, each with the last decision about it."""
        last = self.rounds[-1]
        placed = {found.ask.uid for found in last.placed}
        return tuple(one for one in last.considered if one.decision.ask.uid not in placed)

    @property
    def first_pass(self) -> EvictionCount:
        """What the next pass would evict."""
        return EvictionCount.of(self.rounds[0].evictions)

    @property
    def total(self) -> EvictionCount:
        """What all passes together would evict."""
        return EvictionCount.of(self.evictions)


def grouped(evictions: Iterable[Eviction]) -> tuple[EvictionGroup, ...]:
    """Evictions summed up: for whom, of which queue, namespace and application, from which node.

    In the order in which they go; of those that begin in one round the most first.
    """
    counts: dict[tuple[str, str, str, str, str], list[int]] = {}
    began: dict[tuple[str, str, str, str, str], int] = {}
    for one in evictions:
        victim = one.victim
        key = (one.ask.queue, victim.queue, victim.namespace, victim.application, victim.node)
        counts.setdefault(key, [0, 0])[one.round > 1] += 1
        began[key] = min(one.round, began.get(key, one.round))
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
    """Two forecasts of the same cluster held against each other."""

    caused: tuple[Eviction, ...]
    """Only under the second tree: what the change would cost."""
    spared: tuple[Eviction, ...]
    """Only under the first: what would happen without the change."""
    served: tuple[PlacedPod, ...] = ()
    """Asks that get a node only under the second; victims that come back are none."""
    unserved: tuple[PlacedPod, ...] = ()
    """Those that get one only under the first."""


def difference(first: Forecast, second: Forecast) -> ForecastDifference:
    """Which pods go only under one of two trees. One that goes under both, for whomever, is no difference."""
    before, after = first.evictions, second.evictions
    placed_before, placed_after = (_by_origin(one.placed) for one in (first, second))
    gone_before, gone_after = ({one.victim.uid for one in evictions} for evictions in (before, after))
    return ForecastDifference(
        caused=tuple(one for one in after if one.victim.uid not in gone_before),
        spared=tuple(one for one in before if one.victim.uid not in gone_after),
        served=tuple(one for uid, one in placed_after.items() if uid not in placed_before),
        unserved=tuple(one for uid, one in placed_before.items() if uid not in placed_after),
    )


def _by_origin(placed: Iterable[PlacedPod]) -> dict[str, PlacedPod]:
    """The first time of each; victims that come back to the room that they had are no asks that were served."""
    found: dict[str, PlacedPod] = {}
    for one in placed:
        if AGAIN not in one.ask.uid:
            found.setdefault(one.ask.uid, one)
    return found

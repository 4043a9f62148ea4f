"""What was observed, as plain data: stored with its decision, read back by what explains it."""

from collections.abc import Collection
from enum import StrEnum

import msgspec

from engine.audit import LawCheck
from engine.model.decision import Decision, PodFacts, QueueFigures
from engine.observation.evictions.eviction_sources import EvictionSource
from engine.observation.evictions.kueue_verdict import Weighed
from engine.policies.yunikorn import QuirkEffect


class Flag(StrEnum):
    """A rule of the tree that a preemption went against; ours would not have been made."""

    ACROSS_FENCE = "across-fence"
    BELOW_GUARANTEE = "below-guarantee"
    SAME_QUEUE = "same-queue"


class Flagged(msgspec.Struct, frozen=True, kw_only=True):
    """A flag with what its sentence names."""

    flag: Flag
    queue: str
    """The queue of the fence, the one left below its guarantee, or the one that both run in."""
    resource: str = ""
    """With below-guarantee: in what, first by the share that is missing."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that went. Where only its name is known, its queue is that of its namespace, and nothing else is said."""

    pod: PodFacts
    at_ms: int
    known: bool = True
    """Whether the pod itself was seen."""
    said: str = ""
    """Why, in the words of the node that ended it."""
    why: str = ""
    """In a word of the scheduler's own: Kueue's reason, Volcano's action."""
    place: str = ""
    """With Kueue: the path of the ClusterQueue that it ran in, as Kueue writes it."""
    flags: tuple[Flagged, ...] = ()


class Untold(StrEnum):
    """Why a preemption was not decided again."""

    NO_ASK = "no-ask"
    """For which pod it was is not known, or no more than its name."""
    GROUP = "group"
    """It was for several pods at once."""
    NOT_SEEN = "not-seen"
    """How the cluster was just before was not seen, or is no longer known."""
    OTHER_RULES = "other-rules"
    """The rules that it was decided by are not built in."""
    TOO_MANY = "too-many"
    """There were so many at once that it would have taken too long."""


class Hindsight(msgspec.Struct, frozen=True, kw_only=True):
    """What the scheduler's own rules decide for the same ask, or the same max, on the cluster as it was just before."""

    decision: Decision
    nodes: int
    """How many the cluster had."""
    said: str = ""
    """Why the ask could not run anywhere, in the scheduler's own words."""
    quirks: tuple[QuirkEffect, ...] | None = None
    """YuniKorn's departures from its own design that changed this; None: not worked out."""


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that one source evicted on one node at one time, for one ask."""

    source: EvictionSource
    at_ms: int
    node: str
    """Empty: the victims are on several."""
    victims: tuple[Taken, ...]
    ask: PodFacts | None = None
    """None where nobody asked, or it is not known who."""
    ask_known: bool = True
    """Whether the ask itself was seen; else only its name is known."""
    ask_inferred: bool = False
    """Whether no Event names the ask: it is the one pod that was nominated to the node just then."""
    ask_kind: str = "Pod"
    ask_place: str = ""
    """With Kueue: the path of the ClusterQueue that it waits in, as Kueue writes it."""
    ask_takes: str = ""
    """With Kueue: whom workloads of that ClusterQueue may preempt in it, in Kueue's word; empty: not known."""
    over_max: str = ""
    """The queue that was to get below its max; then nobody asked."""
    nominated: tuple[str, ...] = ()
    """Where the ask is not known: ``namespace/name`` of pods that were nominated to the node just then."""
    queues: tuple[QueueFigures, ...] = ()
    """The queues of ask and victims and those of their flags, before and after, as far as they are known."""
    hindsight: Hindsight | None = None
    weighed: Weighed | None = None
    """With Kueue, in place of ``hindsight``: whole Workloads, by quota."""
    untold: Untold | None = None
    """Of a scheduler's: why there is no hindsight."""
    laws: tuple[LawCheck, ...] = ()
    """The design's laws held against it, on the cluster as it was just before; empty where that was not seen."""

    @property
    def certain(self) -> bool:
        """Whether an Event has said for whom: nothing that comes later knows better."""
        return self.ask is not None and not self.ask_inferred

    @property
    def told_again(self) -> bool:
        """Whether it was decided again."""
        return self.hindsight is not None or self.weighed is not None

    @property
    def asker(self) -> str:
        """The ask's uid; empty where it is not known."""
        return self.ask.uid if self.ask else ""


def joined(former: Observed, later: Observed) -> Observed:
    """One decision, the rest of which became known later: with the usage before the first and after the last victim.

    A victim of both is told as ``later`` has it, and so is the ask, unless it says less of it.
    """
    again = {one.pod.uid for one in later.victims}
    victims = (*(one for one in former.victims if one.pod.uid not in again), *later.victims)
    asks = max((later, former), key=lambda one: (one.certain, one.ask is not None, one.ask_known))
    told = next((one for one in (former, later) if one.told_again and one.asker == asks.asker), asks)
    held = next((one for one in (later, former) if one.laws and len(one.victims) == len(victims)), None)
    return msgspec.structs.replace(
        former,
        node=former.node if former.node == later.node else "",
        victims=victims,
        ask=asks.ask,
        ask_known=asks.ask_known,
        ask_inferred=asks.ask_inferred,
        ask_kind=asks.ask_kind,
        ask_place=asks.ask_place,
        ask_takes=asks.ask_takes,
        nominated=asks.nominated,
        queues=_spanning(former.queues, later.queues),
        hindsight=told.hindsight,
        weighed=told.weighed,
        untold=told.untold,
        laws=held.laws if held else (),  # what was held against a part of it says nothing of the whole
    )


def _spanning(former: Collection[QueueFigures], later: Collection[QueueFigures]) -> tuple[QueueFigures, ...]:
    began, ended = {one.path: one for one in former}, {one.path: one for one in later}
    return tuple(
        msgspec.structs.replace(ended.get(path, one), before=began.get(path, one).before)
        for path, one in (began | ended).items()
    )


def parted(seen: Observed, uids: Collection[str]) -> Observed:
    """What is left of a decision once it is known that these victims (uids) went for another ask."""
    left = tuple(one for one in seen.victims if one.pod.uid not in uids)
    return msgspec.structs.replace(seen, victims=left, laws=())


def encode(observed: Observed) -> bytes:
    """Canonical JSON: the same observation gives the same bytes."""
    return msgspec.json.encode(observed, order="sorted")


def decode(data: bytes | str) -> Observed:
    """Read back what ``encode`` wrote. Raises msgspec.ValidationError."""
    return msgspec.json.decode(data, type=Observed)

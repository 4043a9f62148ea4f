"""Define an observed decision as plain data, which is stored with the decision and read back to explain it."""

from collections.abc import Collection
from enum import StrEnum

import msgspec

from engine.audit import InvariantCheck
from engine.model.decision import Decision, PodFacts, QueueFigures
from engine.observation.evictions.eviction_sources import GROUP_KINDS, EvictionSource
from engine.observation.evictions.kueue_verdict import WorkloadReplay
from engine.policies.yunikorn import QuirkEffect


class Flag(StrEnum):
    """A rule of the tree that a preemption broke; this product would not have made that preemption."""

    ACROSS_FENCE = "across-fence"
    BELOW_GUARANTEE = "below-guarantee"
    SAME_QUEUE = "same-queue"


class Flagged(msgspec.Struct, frozen=True, kw_only=True):
    """A broken rule with the names that its sentence needs."""

    flag: Flag
    queue: str
    """The queue that has the fence, the queue left below its guarantee, or the queue that both pods run in."""
    resource: str = ""
    """For below-guarantee: the resource with the largest missing share."""


class ObservedVictim(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that was evicted.

    If only its name is known, its queue is the leaf of its namespace, and other facts are empty.
    """

    pod: PodFacts
    at_ms: int
    known: bool = True
    """Whether the pod itself was seen."""
    said: str = ""
    """The reason in the words of the node that ended the pod."""
    why: str = ""
    """The reason in the scheduler's own word: Kueue's reason, Volcano's action."""
    place: str = ""
    """For Kueue: the path of the ClusterQueue that the pod ran in, as Kueue writes it."""
    flags: tuple[Flagged, ...] = ()


class NotReplayedReason(StrEnum):
    """Why a preemption was not replayed."""

    NO_ASK = "no-ask"
    """The preemptor is not known, or only its name is."""
    GROUP = "group"
    """The preemption was for several pods at once."""
    RESIZE = "resize"
    """The preemption was for the resize of a running pod."""
    NOT_SEEN = "not-seen"
    """The state of the cluster just before was not seen, or is no longer known."""
    OTHER_RULES = "other-rules"
    """The rules behind the decision are not implemented here."""
    TOO_MANY = "too-many"
    """There were too many decisions at once: replaying all of them would have taken too long."""


class DecisionReplay(msgspec.Struct, frozen=True, kw_only=True):
    """The replay: what the scheduler's own rules decide for the same pod or max, on the cluster just before."""

    decision: Decision
    nodes: int
    """Number of nodes of the cluster."""
    said: str = ""
    """Why the pending pod could not run anywhere, in the scheduler's own words."""
    quirks: tuple[QuirkEffect, ...] | None = None
    """YuniKorn's departures from its own design that changed this result; None if they were not calculated."""


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that one source evicted at one time for one preemptor."""

    source: EvictionSource
    at_ms: int
    node: str
    """The node that the preemptor gets, or else the victims' node; empty if these are several."""
    victims: tuple[ObservedVictim, ...]
    ask: PodFacts | None = None
    """The preemptor; None if there is none, or it is not known."""
    ask_known: bool = True
    """Whether the preemptor itself was seen; otherwise only its name is known."""
    ask_inferred: bool = False
    """Whether no Event names the preemptor: it is the only pod that was nominated to the node at that time."""
    ask_kind: str = "Pod"
    for_resize: bool = False
    """Whether the preemptor already ran on the node, and was to be resized there."""
    ask_place: str = ""
    """For Kueue: the path of the ClusterQueue that the preemptor waits in, as Kueue writes it."""
    ask_takes: str = ""
    """For Kueue: which workloads of its own that ClusterQueue may preempt, in Kueue's word; empty if unknown."""
    over_max: str = ""
    """The queue that was to be reduced to its max; if set, there is no preemptor."""
    nominated: tuple[str, ...] = ()
    """If the preemptor is not known: ``namespace/name`` of pods that were nominated to the node at that time."""
    queues: tuple[QueueFigures, ...] = ()
    """The queues of the preemptor, victims and flags, before and after, as far as they are known."""
    hindsight: DecisionReplay | None = None
    weighed: WorkloadReplay | None = None
    """For Kueue, in place of ``hindsight``: the replay of whole Workloads, by quota."""
    untold: NotReplayedReason | None = None
    """For a scheduler's decision: why it was not replayed."""
    laws: tuple[InvariantCheck, ...] = ()
    """Checks of the design's invariants on the cluster just before; empty if that state was not seen."""

    @property
    def certain(self) -> bool:
        """Return whether an Event named the preemptor, so that no later information can improve on it."""
        return self.ask is not None and not self.ask_inferred

    @property
    def for_group(self) -> bool:
        """Return whether the preemptor is a group of pods, which may make room on several nodes."""
        return self.ask_kind in GROUP_KINDS

    @property
    def is_replayed(self) -> bool:
        """Return whether the decision was replayed."""
        return self.hindsight is not None or self.weighed is not None

    @property
    def preemptor_uid(self) -> str:
        """Return the preemptor's uid, or an empty string if it is not known."""
        return self.ask.uid if self.ask else ""


def merge_observed(former: Observed, later: Observed) -> Observed:
    """Return two parts of one decision as one, with usage before the first and after the last victim.

    A victim of both parts is reported as in ``later``, and so is the preemptor, unless ``later`` knows less of it.
    """
    seen_again = {victim.pod.uid for victim in later.victims}
    victims = (*(victim for victim in former.victims if victim.pod.uid not in seen_again), *later.victims)
    best_known = max((later, former), key=lambda part: (part.certain, part.ask is not None, part.ask_known))
    replayed = next(
        (part for part in (former, later) if part.is_replayed and part.preemptor_uid == best_known.preemptor_uid),
        best_known,
    )
    audited = next((part for part in (later, former) if part.laws and len(part.victims) == len(victims)), None)
    return msgspec.structs.replace(
        former,
        node=former.node if former.node == later.node else "",
        victims=victims,
        ask=best_known.ask,
        ask_known=best_known.ask_known,
        ask_inferred=best_known.ask_inferred,
        ask_kind=best_known.ask_kind,
        for_resize=former.for_resize or later.for_resize,
        ask_place=best_known.ask_place,
        ask_takes=best_known.ask_takes,
        nominated=best_known.nominated,
        queues=_spanning(former.queues, later.queues),
        hindsight=replayed.hindsight,
        weighed=replayed.weighed,
        untold=replayed.untold,
        laws=audited.laws if audited else (),  # checks of a part do not apply to the whole
    )


def _spanning(former: Collection[QueueFigures], later: Collection[QueueFigures]) -> tuple[QueueFigures, ...]:
    began, ended = {figures.path: figures for figures in former}, {figures.path: figures for figures in later}
    return tuple(
        msgspec.structs.replace(ended.get(path, figures), before=began.get(path, figures).before)
        for path, figures in (began | ended).items()
    )


def without_victims(observed: Observed, uids: Collection[str]) -> Observed:
    """Return what remains of a decision once it is known that these victims (uids) were evicted for another pod."""
    remaining = tuple(victim for victim in observed.victims if victim.pod.uid not in uids)
    return msgspec.structs.replace(observed, victims=remaining, laws=())


def encode(observed: Observed) -> bytes:
    """Return an observation as canonical JSON: the same observation gives the same bytes."""
    return msgspec.json.encode(observed, order="sorted")


def decode(data: bytes | str) -> Observed:
    """Return the observation that ``encode`` wrote. Raises msgspec.ValidationError."""
    return msgspec.json.decode(data, type=Observed)

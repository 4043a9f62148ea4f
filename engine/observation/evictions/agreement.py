"""Where a scheduler and its own rules came to different answers, and why as far as it can be told."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from engine.model.decision import Decision, NodeReason, NodeVerdict, Outcome, PodFacts
from engine.observation.evictions.eviction_sources import EvictionSource
from engine.observation.evictions.observed import Observed

SAMPLED_FROM = 100
"""Of more nodes than this kube-scheduler looks at a tenth, and at no fewer than this, unless it is told otherwise."""
_ANY = "name"
"""What the trace says a node loses by when it loses by nothing that kube-scheduler looks at."""


class Agreement(StrEnum):
    """How far the two go together."""

    SAME = "same"
    OTHER_VICTIMS = "other-victims"
    """On the same node."""
    OTHER_NODE = "other-node"
    NO_PREEMPTION = "no-preemption"
    """Ours would not have preempted."""


class Cause(StrEnum):
    """Why they may differ."""

    TIE = "tie"
    """Both answers are worth the same to the scheduler, which then takes any."""
    SAMPLE = "sample"
    """It looks at a part of the nodes only."""
    MOMENT = "moment"
    """It saw the cluster a moment before or after this one, or knows what is not modelled here."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The two answers side by side."""

    agreement: Agreement
    cause: Cause | None = None
    """None where they are the same."""
    only_theirs: tuple[PodFacts, ...] = ()
    """Pods that went and that ours would have left."""
    only_ours: tuple[PodFacts, ...] = ()


def compared(seen: Observed) -> Compared | None:
    """Ours beside theirs; None where there is no hindsight."""
    if seen.hindsight is None:
        return None
    ours = seen.hindsight.decision
    theirs, own = [one.pod for one in seen.victims], [one.pod for one in ours.victims]
    told = [one.pod for one in ours.to_evict]  # who was on the way out before is not told again, nor in an Event
    only_theirs, only_ours = _without(theirs, own), _without(told, theirs)
    if ours.outcome is not Outcome.PREEMPT:
        return Compared(agreement=Agreement.NO_PREEMPTION, cause=Cause.MOMENT, only_theirs=only_theirs)
    if seen.node and not seen.over_max and ours.node != seen.node:
        verdict = next((one for one in ours.trace.nodes if one.node == seen.node), None)
        agreement, cause = Agreement.OTHER_NODE, _elsewhere(seen, ours, verdict)
    elif only_theirs or only_ours:
        tie = _is_tie(seen, only_theirs, only_ours)
        agreement, cause = Agreement.OTHER_VICTIMS, Cause.TIE if tie else Cause.MOMENT
    else:
        return Compared(agreement=Agreement.SAME)
    return Compared(agreement=agreement, cause=cause, only_theirs=only_theirs, only_ours=only_ours)


def agrees(seen: Observed) -> bool:
    """Whether its own rules, on the cluster as it was just before, come to the same for the same ask."""
    found = compared(seen)
    return found is not None and found.agreement is Agreement.SAME and seen.ask is not None


def _without(pods: Iterable[PodFacts], others: Iterable[PodFacts]) -> tuple[PodFacts, ...]:
    uids = {pod.uid for pod in others}
    return tuple(pod for pod in pods if pod.uid not in uids)


def _is_tie(seen: Observed, theirs: Iterable[PodFacts], ours: Iterable[PodFacts]) -> bool:
    """Whether those are worth the same to the scheduler, or it is chance.

    Volcano looks at nodes, and at the pods of one, in an order of chance. Its victims show the order of the pods;
    nothing shows at which nodes it looked before.
    """
    if seen.source is EvictionSource.VOLCANO:
        return seen.hindsight is not None and seen.hindsight.nodes > 1
    return _worth(seen.source, theirs) == _worth(seen.source, ours)


def _worth(source: EvictionSource, pods: Iterable[PodFacts]) -> Counter[tuple[int | None, ...]]:
    """Which of them goes first, the scheduler tells by no more than this; YuniKorn knows whole seconds."""
    if source is EvictionSource.YUNIKORN:
        return Counter((pod.opted_out, pod.originator, pod.priority, pod.created_ms // 1000) for pod in pods)
    return Counter((pod.priority, pod.started_ms) for pod in pods)


def _elsewhere(seen: Observed, ours: Decision, verdict: NodeVerdict | None) -> Cause:
    """``verdict``: what our trace says of the node that the scheduler took, if it says anything."""
    if seen.source is EvictionSource.VOLCANO:
        return Cause.TIE
    dearer = verdict is None or verdict.reason is NodeReason.DEARER
    if seen.source is EvictionSource.YUNIKORN:  # which takes whatever check ends first where as many have to go
        alike = verdict is not None and dearer and verdict.victims == len(ours.victims)
        return Cause.TIE if alike else Cause.MOMENT
    if verdict is not None and dearer and verdict.detail == _ANY:
        return Cause.TIE
    nodes = seen.hindsight.nodes if seen.hindsight else 0
    return Cause.SAMPLE if dearer and nodes > SAMPLED_FROM else Cause.MOMENT

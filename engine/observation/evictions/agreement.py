"""Compare a scheduler's decision with the replay of its own rules, and explain differences where possible."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from engine.model.decision import Decision, NodeReason, NodeVerdict, Outcome, PodFacts
from engine.observation.evictions.eviction_sources import EvictionSource
from engine.observation.evictions.observed import Observed

SAMPLED_FROM = 100
"""Number of nodes above which kube-scheduler by default looks only at a tenth of them, and at no fewer than this
number."""
_ANY = "name"
"""The detail in the trace of a node that is no worse by any criterion of kube-scheduler."""


class Agreement(StrEnum):
    """How far the scheduler's decision and the replay agree."""

    SAME = "same"
    OTHER_VICTIMS = "other-victims"
    """The node is the same, but the victims differ."""
    OTHER_NODE = "other-node"
    NO_PREEMPTION = "no-preemption"
    """The replay does not preempt."""


class Cause(StrEnum):
    """Why the scheduler's decision and the replay may differ."""

    TIE = "tie"
    """Both choices are equally good to the scheduler, which then takes any of them."""
    SAMPLE = "sample"
    """The scheduler looks only at a part of the nodes."""
    MOMENT = "moment"
    """The scheduler's snapshot was slightly older or newer, or it knows something that is not modeled here."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler's decision and the replay, side by side."""

    agreement: Agreement
    cause: Cause | None = None
    """Why they may differ; None if they are the same."""
    only_theirs: tuple[PodFacts, ...] = ()
    """Pods that were evicted, and that the replay would have kept."""
    only_ours: tuple[PodFacts, ...] = ()


def compare_with_replay(seen: Observed) -> Compared | None:
    """Compare an observed decision with its replay. Returns None if it was not replayed."""
    if seen.hindsight is None:
        return None
    ours = seen.hindsight.decision
    theirs, own = [one.pod for one in seen.victims], [one.pod for one in ours.victims]
    told = [one.pod for one in ours.to_evict]  # pods that terminate already are neither evicted again nor in an Event
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
    """Return whether the replay of the scheduler's own rules leads to the same decision for the same pod."""
    found = compare_with_replay(seen)
    return found is not None and found.agreement is Agreement.SAME and seen.ask is not None


def _without(pods: Iterable[PodFacts], others: Iterable[PodFacts]) -> tuple[PodFacts, ...]:
    uids = {pod.uid for pod in others}
    return tuple(pod for pod in pods if pod.uid not in uids)


def _is_tie(seen: Observed, theirs: Iterable[PodFacts], ours: Iterable[PodFacts]) -> bool:
    """Return whether both sets of victims are equally good to the scheduler, or differ by chance.

    Volcano looks at nodes, and at the pods of a node, in random order. Its victims reveal the order of the pods;
    nothing reveals which nodes it looked at before.
    """
    if seen.source is EvictionSource.VOLCANO:
        return seen.hindsight is not None and seen.hindsight.nodes > 1
    return _worth(seen.source, theirs) == _worth(seen.source, ours)


def _worth(source: EvictionSource, pods: Iterable[PodFacts]) -> Counter[tuple[int | None, ...]]:
    """Return the properties by which the scheduler orders victims, and nothing else; YuniKorn knows whole seconds."""
    if source is EvictionSource.YUNIKORN:
        return Counter((pod.opted_out, pod.originator, pod.priority, pod.created_ms // 1000) for pod in pods)
    return Counter((pod.priority, pod.started_ms) for pod in pods)


def _elsewhere(seen: Observed, ours: Decision, verdict: NodeVerdict | None) -> Cause:
    """Return why the scheduler took another node.

    ``verdict``: what the replay's trace reports of the node that the scheduler took, if anything.
    """
    if seen.source is EvictionSource.VOLCANO:
        return Cause.TIE
    dearer = verdict is None or verdict.reason is NodeReason.DEARER
    if seen.source is EvictionSource.YUNIKORN:  # takes the first node checked of those with equally many victims
        alike = verdict is not None and dearer and verdict.victims == len(ours.victims)
        return Cause.TIE if alike else Cause.MOMENT
    if verdict is not None and dearer and verdict.detail == _ANY:
        return Cause.TIE
    nodes = seen.hindsight.nodes if seen.hindsight else 0
    return Cause.SAMPLE if dearer and nodes > SAMPLED_FROM else Cause.MOMENT

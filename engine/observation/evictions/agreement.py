"""Compare a scheduler's decision with the replay of its own rules, and explain differences where possible."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from engine.model.decision import Decision, NodeReason, NodeVerdict, Outcome, PodFacts
from engine.observation.evictions.eviction_sources import RULES, RULES_BESIDE_GROUPS, EvictionSource, RulesOf
from engine.observation.evictions.observed import Observed
from engine.policies import priority

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


def compare_with_replay(observed: Observed) -> Compared | None:
    """Compare an observed decision with its replay. Returns None if it was not replayed."""
    if observed.hindsight is None:
        return None
    replayed = observed.hindsight.decision
    evicted, chosen = [victim.pod for victim in observed.victims], [victim.pod for victim in replayed.victims]
    to_evict = [
        verdict.pod for verdict in replayed.to_evict
    ]  # pods that terminate already are neither evicted again nor in an Event
    only_evicted, only_replayed = _without(evicted, chosen), _without(to_evict, evicted)
    if replayed.outcome is not Outcome.PREEMPT:
        return Compared(agreement=Agreement.NO_PREEMPTION, cause=Cause.MOMENT, only_theirs=only_evicted)
    if observed.node and not observed.over_max and replayed.node != observed.node:
        verdict = next((candidate for candidate in replayed.trace.nodes if candidate.node == observed.node), None)
        agreement, cause = Agreement.OTHER_NODE, _elsewhere(observed, replayed, verdict)
    elif only_evicted or only_replayed:
        tie = _is_tie(observed, only_evicted, only_replayed)
        agreement, cause = Agreement.OTHER_VICTIMS, Cause.TIE if tie else Cause.MOMENT
    else:
        return Compared(agreement=Agreement.SAME)
    return Compared(agreement=agreement, cause=cause, only_theirs=only_evicted, only_ours=only_replayed)


def rules_of(observed: Observed) -> RulesOf:
    """Return the version of the rules by which a scheduler's decision was replayed."""
    replayed = observed.hindsight.decision if observed.hindsight else None
    beside_groups = replayed is not None and replayed.dialect == priority.BESIDE_GROUPS
    return RULES_BESIDE_GROUPS if beside_groups else RULES[observed.source]


def agrees(observed: Observed) -> bool:
    """Return whether the replay of the scheduler's own rules leads to the same decision for the same pod."""
    comparison = compare_with_replay(observed)
    return comparison is not None and comparison.agreement is Agreement.SAME and observed.ask is not None


def _without(pods: Iterable[PodFacts], others: Iterable[PodFacts]) -> tuple[PodFacts, ...]:
    uids = {pod.uid for pod in others}
    return tuple(pod for pod in pods if pod.uid not in uids)


def _is_tie(observed: Observed, evicted: Iterable[PodFacts], replayed: Iterable[PodFacts]) -> bool:
    """Return whether both sets of victims are equally good to the scheduler, or differ by chance.

    Volcano looks at nodes, and at the pods of a node, in random order. Its victims reveal the order of the pods;
    nothing reveals which nodes it looked at before.
    """
    if observed.source is EvictionSource.VOLCANO:
        return observed.hindsight is not None and observed.hindsight.nodes > 1
    return _worth(observed.source, evicted) == _worth(observed.source, replayed)


def _worth(source: EvictionSource, pods: Iterable[PodFacts]) -> Counter[tuple[int | None, ...]]:
    """Return the properties by which the scheduler orders victims, and nothing else; YuniKorn knows whole seconds."""
    if source is EvictionSource.YUNIKORN:
        return Counter((pod.opted_out, pod.originator, pod.priority, pod.created_ms // 1000) for pod in pods)
    return Counter((pod.priority, pod.started_ms) for pod in pods)


def _elsewhere(observed: Observed, replayed: Decision, verdict: NodeVerdict | None) -> Cause:
    """Return why the scheduler took another node.

    ``verdict``: what the replay's trace reports of the node that the scheduler took, if anything.
    """
    if observed.source is EvictionSource.VOLCANO:
        return Cause.TIE
    dearer = verdict is None or verdict.reason is NodeReason.DEARER
    if observed.source is EvictionSource.YUNIKORN:  # takes the first node checked of those with equally many victims
        equally_many = verdict is not None and dearer and verdict.victims == len(replayed.victims)
        return Cause.TIE if equally_many else Cause.MOMENT
    if verdict is not None and dearer and verdict.detail == _ANY:
        return Cause.TIE
    nodes = observed.hindsight.nodes if observed.hindsight else 0
    return Cause.SAMPLE if dearer and nodes > SAMPLED_FROM else Cause.MOMENT

"""Builds the trace of a decision of policy ``deserved``: the figures and pods it is based on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, islice

import numpy as np

from engine.feasibility import FITS
from engine.model.columns.node_columns import Flags
from engine.model.decision import (
    DeservedFigures,
    NodeReason,
    NodeVerdict,
    PodFacts,
    PodReason,
    PodVerdict,
    ReclaimNotice,
    Trace,
)
from engine.model.objects import Pod
from engine.model.quantities import add, subtract, total
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.node_candidates import NodeCandidates, NodeVictims
from engine.policies.deserved.share_balances import ShareBalances

_MAX_LISTED = 20
"""The maximum number of nodes, and of queues with reclaim notices, that are listed individually."""

_Reasons = Sequence[tuple[NodeReason, Flags]]


def notices_of(question: ReclaimAttempt, survey: NodeCandidates, victims: Iterable[Pod]) -> tuple[ReclaimNotice, ...]:
    """Return the reclaim notices of a decision.

    They go to the queues of the victims, then to queues that already have a notice, then to those that exceed what they
    deserve the most.
    """
    candidates = survey.candidates
    others = chain.from_iterable(
        candidates.in_turn(candidates.beyond & notified) for notified in (question.notified, ~question.notified)
    )
    queues = dict.fromkeys([*(pod.queue or "" for pod in victims), *islice(others, _MAX_LISTED)])
    return tuple(notice(question, queue) for queue in list(queues)[:_MAX_LISTED])


def notice(question: ReclaimAttempt, queue: str) -> ReclaimNotice:
    """Return the reclaim notice for a queue."""
    return ReclaimNotice(queue=queue, over=question.standings.beyond(queue), due_ms=question.due_ms(queue))


def figures(question: ReclaimAttempt, victims: Sequence[Pod], *, coming: bool) -> tuple[DeservedFigures, ...]:
    """Return the figures of the pending pod's queue and its ancestors, then those of the victims' queues.

    ``coming`` is whether the victims are evicted and the pending pod runs.
    """
    tree = question.tree
    own = tree.lineage(question.leaf)
    others = dict.fromkeys(path for pod in victims for path in tree.lineage(pod.queue or tree.root))
    return tuple(_figures(question, path, victims if coming else ()) for path in dict.fromkeys([*own, *others]))


def _figures(question: ReclaimAttempt, path: str, gone: Sequence[Pod]) -> DeservedFigures:
    one, tree = question.standings[path], question.tree
    after = subtract(one.used, total(pod.requests for pod in gone if tree.contains(path, pod.queue or tree.root)))
    if gone and path in question.lineage:
        after = add(after, question.ask.requests)
    return DeservedFigures(
        queue=path,
        requested=one.requested,
        used=one.used,
        after=after,
        reserved=one.reserved,
        hard=one.hard,
        deserved=one.deserved,
    )


def trace_of(
    question: ReclaimAttempt, survey: NodeCandidates | None = None, best: NodeVictims | None = None, *, coming: bool
) -> Trace:
    """Return the trace of a decision.

    Without a ``survey``, no pods were considered, and the trace only contains figures of queues.
    """
    victims = best.victims if best else ()
    queues = question.nodes.usage.figures(question.leaf, question.ask.requests, victims if coming else ())
    trace = Trace(
        fence=question.tree.fence(question.leaf) or "",
        queues=queues,
        deserved=figures(question, victims, coming=coming),
    )
    return trace if survey is None else _with_pods(trace, question, survey, best)


def _with_pods(trace: Trace, question: ReclaimAttempt, survey: NodeCandidates, best: NodeVictims | None) -> Trace:
    useless, reasons = _ruled_out(survey), list(_reasons(question, survey))
    counts = _node_counts(survey, useless, reasons)
    return Trace(
        fence=trace.fence,
        queues=trace.queues,
        deserved=trace.deserved,
        reprieved=tuple(_reprieved(question, survey, best)) if best else (),
        excluded=tuple(_excluded(question, survey, best)) if best else (),
        nodes=tuple(_node_verdicts(question, survey, useless, reasons)),
        candidates=survey.candidates.count,
        excluded_counts={str(reason): count for reason, count in sorted(survey.candidates.counts.items()) if count},
        node_counts={str(reason): count for reason, count in sorted(counts.items())},
    )


def _kept_on_node(question: ReclaimAttempt, survey: NodeCandidates, best: NodeVictims, *, going: bool) -> list[Pod]:
    """Return the pods of the chosen node that are kept, sorted by name.

    With ``going``, these are the candidates that are not victims; otherwise, the pods that are no candidates.
    """
    columns = question.nodes.columns
    if best.place is None:
        return []
    rows, victims = columns.rows(best.place), {pod.uid for pod in best.victims}
    flags = (survey.candidates.going[rows.start : rows.stop] == going).tolist()
    here = compress(columns.on(best.place), flags)
    return sorted((pod for pod in here if pod.uid not in victims), key=lambda pod: pod.key)


def _reprieved(question: ReclaimAttempt, survey: NodeCandidates, best: NodeVictims) -> Iterator[PodVerdict]:
    """Yield the candidates on the chosen node that are kept, each with the reason."""
    books = ShareBalances(question)
    for pod in best.victims:
        books.give(pod)
    why: dict[tuple[str | None, int], tuple[PodReason, str]] = {}
    for pod in _kept_on_node(question, survey, best, going=True):
        alike = pod.queue, id(pod.requests)  # most pods share the same object
        if alike not in why:
            why[alike] = _reprieve_reason(survey, books, pod)
        reason, detail = why[alike]
        yield PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=detail)


def _reprieve_reason(survey: NodeCandidates, books: ShareBalances, pod: Pod) -> tuple[PodReason, str]:
    question = survey.question
    if not question.outranks and not survey.candidates.takes_beyond(pod, books, question.wanted):
        return PodReason.WITHIN_DESERVED, pod.queue or ""
    if reserved := books.below_reserved(pod):
        return PodReason.GUARANTEE, reserved
    return PodReason.NOT_NEEDED, pod.queue or ""


def _excluded(question: ReclaimAttempt, survey: NodeCandidates, best: NodeVictims) -> Iterator[PodVerdict]:
    for pod in _kept_on_node(question, survey, best, going=False):
        if why := survey.candidates.why_not(pod):
            yield PodVerdict(pod=PodFacts.of(pod), reason=why.reason, detail=why.detail)


def _node_verdicts(
    question: ReclaimAttempt, survey: NodeCandidates, useless: Flags, reasons: _Reasons
) -> Iterator[NodeVerdict]:
    """Yield the next best nodes, the cheapest first, then nodes that could not make room."""
    nodes, best = question.nodes.columns.nodes, survey.best
    dearer = [one for one in survey.found[1 : _MAX_LISTED + 1] if one.place is not None]
    for one in dearer:
        if best is not None and one.place is not None:
            detail = one.loses(best)
            yield NodeVerdict(
                node=nodes[one.place].name, reason=NodeReason.DEARER, detail=detail, victims=len(one.victims)
            )
    for place in np.flatnonzero(useless)[: _MAX_LISTED - len(dearer)].tolist():
        reason = next(reason for reason, places in reasons if places[place])
        yield _verdict(question, survey, place, reason)


def _ruled_out(survey: NodeCandidates) -> Flags:
    """Return for every node index whether the node is ruled out because preempting there makes no room."""
    useless: Flags = ~survey.dearer
    useless[[one.place for one in survey.found if one.place is not None]] = False
    return useless


def _verdict(question: ReclaimAttempt, survey: NodeCandidates, place: int, reason: NodeReason) -> NodeVerdict:
    name = question.nodes.columns.nodes[place].name
    if reason in (NodeReason.RESERVED, NodeReason.NOT_READY, NodeReason.NO_CANDIDATES):
        return NodeVerdict(node=name, reason=reason)
    if reason is NodeReason.NOT_ENOUGH:
        return NodeVerdict(node=name, reason=reason, victims=int(survey.counts[place]))
    detail = question.nodes.feasibility.refusal(int(survey.refusing[place]), place).detail
    return NodeVerdict(node=name, reason=reason, detail=detail)


def _reasons(question: ReclaimAttempt, survey: NodeCandidates) -> Iterator[tuple[NodeReason, Flags]]:
    """Yield reasons for which nodes were not chosen, each with the nodes it applies to; the first one counts."""
    there = question.nodes
    yield NodeReason.RESERVED, there.usage.kept
    yield NodeReason.NOT_READY, there.columns.not_ready
    for number in np.flatnonzero(np.bincount(survey.refusing - FITS)) + FITS:
        reason = NodeReason.INSUFFICIENT if number == FITS else there.feasibility.checks[number].reason
        if reason is not NodeReason.INSUFFICIENT:
            yield reason, survey.refusing == number
    yield NodeReason.NOT_ENOUGH, survey.counts > 0
    yield NodeReason.NO_CANDIDATES, survey.counts == 0


def _node_counts(survey: NodeCandidates, useless: Flags, reasons: _Reasons) -> Counter[NodeReason]:
    """Count the nodes that were not chosen, by reason."""
    left, counts = useless.copy(), Counter[NodeReason]()
    for reason, places in reasons:
        counts[reason] += int(np.count_nonzero(left & places))
        left &= ~places
    found = sum(one.place is not None for one in survey.found)
    counts[NodeReason.DEARER] += int(np.count_nonzero(survey.dearer)) + max(0, found - 1)
    return +counts

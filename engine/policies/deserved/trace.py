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
from engine.model.quantities import add, subtract
from engine.policies.common.queue_usage import UsageChange
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.node_candidates import NodeCandidates
from engine.policies.deserved.shares.balances import ShareBalances
from engine.policies.deserved.victim_selection import NodeVictims

_MAX_LISTED = 20
"""The maximum number of nodes, and of queues with reclaim notices, that are listed individually."""

_Reasons = Sequence[tuple[NodeReason, Flags]]


def notices_of(candidates: Candidates, victims: Iterable[Pod]) -> tuple[ReclaimNotice, ...]:
    """Return the reclaim notices of a decision.

    They go to the queues of the victims, then to queues that already have a notice, then to those that exceed what they
    deserve the most.
    """
    attempt = candidates.attempt
    others = chain.from_iterable(
        candidates.in_order(candidates.beyond & notified) for notified in (attempt.notified, ~attempt.notified)
    )
    queues = dict.fromkeys([*(pod.queue or "" for pod in victims), *islice(others, _MAX_LISTED)])
    return tuple(notice(attempt, queue) for queue in list(queues)[:_MAX_LISTED])


def last_due(attempt: ReclaimAttempt, victims: Iterable[Pod]) -> str:
    """Return the queue of these victims, at least one, whose grace period ends last."""
    return max((pod.queue or "" for pod in victims), key=lambda path: (attempt.due_ms(path), path))


def notice(attempt: ReclaimAttempt, queue: str) -> ReclaimNotice:
    """Return the reclaim notice for a queue."""
    return ReclaimNotice(queue=queue, over=attempt.share_statuses.beyond(queue), due_ms=attempt.due_ms(queue))


def figures(attempt: ReclaimAttempt, victims: Sequence[Pod], *, coming: bool) -> tuple[DeservedFigures, ...]:
    """Return the figures of the pending pod's queue and its ancestors, then those of the victims' queues.

    ``coming`` is whether the victims are evicted and the pending pod runs.
    """
    tree = attempt.tree
    own = tree.lineage(attempt.leaf)
    others = dict.fromkeys(path for pod in victims for path in tree.lineage(pod.queue or tree.root))
    gone = UsageChange.of_pods(tree, victims if coming else ())
    return tuple(_figures(attempt, path, gone) for path in dict.fromkeys([*own, *others]))


def _figures(attempt: ReclaimAttempt, path: str, gone: UsageChange) -> DeservedFigures:
    status = attempt.share_statuses[path]
    after = subtract(status.used, gone.by_queue.get(path, {}))
    if gone.by_queue and path in attempt.lineage:
        after = add(after, attempt.requests)
    return DeservedFigures(
        queue=path,
        requested=status.requested,
        used=status.used,
        after=after,
        reserved=status.reserved,
        hard=status.hard,
        deserved=status.deserved,
    )


def trace_of(
    attempt: ReclaimAttempt,
    node_candidates: NodeCandidates | None = None,
    best: NodeVictims | None = None,
    *,
    coming: bool,
) -> Trace:
    """Return the trace of a decision.

    Without ``node_candidates``, no pods were considered, and the trace only contains figures of queues.
    """
    victims = best.victims if best else ()
    queues = attempt.nodes.usage.figures(attempt.leaf, attempt.ask.requests, victims if coming else ())
    trace = Trace(
        fence=attempt.tree.fence(attempt.leaf) or "",
        queues=queues,
        deserved=figures(attempt, victims, coming=coming),
    )
    return trace if node_candidates is None else _with_pods(trace, attempt, node_candidates, best)


def _with_pods(
    trace: Trace, attempt: ReclaimAttempt, node_candidates: NodeCandidates, best: NodeVictims | None
) -> Trace:
    useless, reasons = _ruled_out(node_candidates), list(_reasons(attempt, node_candidates))
    counts = _node_counts(node_candidates, useless, reasons)
    return Trace(
        fence=trace.fence,
        queues=trace.queues,
        deserved=trace.deserved,
        reprieved=tuple(_reprieved(attempt, node_candidates, best)) if best else (),
        excluded=tuple(_excluded(attempt, node_candidates, best)) if best else (),
        nodes=tuple(_node_verdicts(attempt, node_candidates, useless, reasons)),
        candidates=node_candidates.candidates.count,
        excluded_counts={
            str(reason): count for reason, count in sorted(node_candidates.candidates.counts.items()) if count
        },
        node_counts={str(reason): count for reason, count in sorted(counts.items())},
    )


def _kept_on_node(
    attempt: ReclaimAttempt, node_candidates: NodeCandidates, best: NodeVictims, *, candidates: bool
) -> list[Pod]:
    """Return the pods of the chosen node that are kept, sorted by name.

    With ``candidates``, these are the candidates that are not victims; otherwise, the pods that are no candidates.
    """
    columns = attempt.nodes.columns
    if best.place is None:
        return []
    rows, victims = columns.rows(best.place), {pod.uid for pod in best.victims}
    flags = (node_candidates.candidates.preemptable[rows.start : rows.stop] == candidates).tolist()
    here = compress(columns.on(best.place), flags)
    return sorted((pod for pod in here if pod.uid not in victims), key=lambda pod: pod.key)


def _reprieved(attempt: ReclaimAttempt, node_candidates: NodeCandidates, best: NodeVictims) -> Iterator[PodVerdict]:
    """Yield the candidates on the chosen node that are kept, each with the reason."""
    balances = ShareBalances(attempt)
    for pod in best.victims:
        balances.give(pod)
    why: dict[tuple[str | None, int], tuple[PodReason, str]] = {}
    for pod in _kept_on_node(attempt, node_candidates, best, candidates=True):
        alike = pod.queue, id(pod.requests)  # most pods share the same object
        if alike not in why:
            why[alike] = _reprieve_reason(node_candidates, balances, pod)
        reason, detail = why[alike]
        yield PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=detail)


def _reprieve_reason(node_candidates: NodeCandidates, balances: ShareBalances, pod: Pod) -> tuple[PodReason, str]:
    attempt = node_candidates.attempt
    if not attempt.outranks and not node_candidates.candidates.takes_beyond(pod, balances, attempt.wanted):
        return PodReason.WITHIN_DESERVED, pod.queue or ""
    if reserved := balances.below_reserved(pod):
        return PodReason.GUARANTEE, reserved
    return PodReason.NOT_NEEDED, pod.queue or ""


def _excluded(attempt: ReclaimAttempt, node_candidates: NodeCandidates, best: NodeVictims) -> Iterator[PodVerdict]:
    for pod in _kept_on_node(attempt, node_candidates, best, candidates=False):
        if why := node_candidates.candidates.why_not(pod):
            yield PodVerdict(pod=PodFacts.of(pod), reason=why.reason, detail=why.detail)


def _node_verdicts(
    attempt: ReclaimAttempt, node_candidates: NodeCandidates, useless: Flags, reasons: _Reasons
) -> Iterator[NodeVerdict]:
    """Yield the next best nodes, the cheapest first, then nodes that could not make room."""
    nodes, best = attempt.nodes.columns.nodes, node_candidates.best
    dearer = [on_node for on_node in node_candidates.ranked[1 : _MAX_LISTED + 1] if on_node.place is not None]
    for on_node in dearer:
        if best is not None and on_node.place is not None:
            name, count = nodes[on_node.place].name, len(on_node.victims)
            yield NodeVerdict(node=name, reason=NodeReason.DEARER, detail=on_node.loses(best), victims=count)
    for place in np.flatnonzero(useless)[: _MAX_LISTED - len(dearer)].tolist():
        reason = next(reason for reason, places in reasons if places[place])
        yield _verdict(attempt, node_candidates, place, reason)


def _ruled_out(node_candidates: NodeCandidates) -> Flags:
    """Return for every node index whether the node is ruled out because preempting there makes no room."""
    useless: Flags = ~node_candidates.dearer
    useless[[on_node.place for on_node in node_candidates.ranked if on_node.place is not None]] = False
    return useless


def _verdict(attempt: ReclaimAttempt, node_candidates: NodeCandidates, place: int, reason: NodeReason) -> NodeVerdict:
    name = attempt.nodes.columns.nodes[place].name
    if reason in (NodeReason.RESERVED, NodeReason.NOT_READY, NodeReason.NO_CANDIDATES):
        return NodeVerdict(node=name, reason=reason)
    if reason is NodeReason.NOT_ENOUGH:
        return NodeVerdict(node=name, reason=reason, victims=int(node_candidates.counts[place]))
    detail = attempt.nodes.feasibility.refusal(int(node_candidates.refusing[place]), place).detail
    return NodeVerdict(node=name, reason=reason, detail=detail)


def _reasons(attempt: ReclaimAttempt, node_candidates: NodeCandidates) -> Iterator[tuple[NodeReason, Flags]]:
    """Yield reasons for which nodes were not chosen, each with the nodes it applies to; the first one counts."""
    nodes = attempt.nodes
    yield NodeReason.RESERVED, nodes.usage.reserved
    yield NodeReason.NOT_READY, nodes.columns.not_ready
    for number in np.flatnonzero(np.bincount(node_candidates.refusing - FITS)) + FITS:
        reason = NodeReason.INSUFFICIENT if number == FITS else nodes.feasibility.checks[number].reason
        if reason is not NodeReason.INSUFFICIENT:
            yield reason, node_candidates.refusing == number
    yield NodeReason.NOT_ENOUGH, node_candidates.counts > 0
    yield NodeReason.NO_CANDIDATES, node_candidates.counts == 0


def _node_counts(node_candidates: NodeCandidates, useless: Flags, reasons: _Reasons) -> Counter[NodeReason]:
    """Count the nodes that were not chosen, by reason."""
    left, counts = useless.copy(), Counter[NodeReason]()
    for reason, places in reasons:
        counts[reason] += int(np.count_nonzero(left & places))
        left &= ~places
    found = sum(on_node.place is not None for on_node in node_candidates.ranked)
    counts[NodeReason.DEARER] += int(np.count_nonzero(node_candidates.dearer)) + max(0, found - 1)
    return +counts

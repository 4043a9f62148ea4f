"""The tiers of policy ``priority``: no queue, guarantee or fence has a say."""

import numpy as np

from engine.analysis.pending_reasons import nearest_node
from engine.analysis.pending_reasons.reasons import NODES, Need, Tier, TierName
from engine.feasibility import unjudged
from engine.model.objects import Pod
from engine.model.quantities import PODS
from engine.model.snapshot import Snapshot
from engine.policies.priority.node_candidates import NodeCandidates


def judge(snapshot: Snapshot, ask: Pod) -> tuple[Tier, ...]:
    """Every tier; the last one alone where a node has room, none where the ask can't be judged."""
    snapshot = snapshot.without_reservation(ask.uid)
    if ask.unread or unjudged(snapshot, ask):
        return ()
    found = NodeCandidates(snapshot, ask)
    nobody = np.zeros(len(found.columns.pods), np.bool_)
    if not found.nowhere and found.fits.any():
        needs = nearest_node.needs(found.columns, found.feasibility, ask, int(np.argmax(found.fits)), gone=nobody)
        return (Tier.of(TierName.NODE, [Need(resource=NODES, required=1, available=1), *needs]),)
    return (_priority(found), _node(found))


def _priority(found: NodeCandidates) -> Tier:
    ask = found.ask
    pods = 0 if ask.never_preempts else int(np.count_nonzero(found.candidates))
    return Tier.of(
        TierName.PRIORITY,
        [Need(resource=PODS, required=1, available=pods)],
        shut=(ask.priority_class or "Never") if ask.never_preempts else "",
        held=nearest_node.held(found.columns, ask, found.candidates) if pods else {},
    )


def _node(found: NodeCandidates) -> Tier:
    columns = found.columns
    best = None if found.nowhere else found.best
    gone = found.candidates
    if best is not None:
        gone = np.zeros(len(columns.pods), np.bool_)
        gone[found.victims_on(best)] = True
        place: int | None = best
    elif found.nowhere:
        place = None
    else:
        place = nearest_node.nearest(found.snapshot, found.ask, found.feasibility, gone, ~found.reserved)
    could = 0 if best is None else len(found.costs.places)
    nobody = np.zeros(len(columns.pods), np.bool_)
    needs = (
        ()
        if place is None
        else nearest_node.needs(columns, found.feasibility, found.ask, place, gone=nobody, evicted=gone)
    )
    refusing = {} if could else {str(reason): count for reason, count in sorted(found.reasons().items()) if count}
    first = Need(resource=NODES, required=1, available=could)
    return Tier.of(TierName.NODE, [first, *needs], refusing=refusing)

"""Judge the tiers of policy ``priority``, which ignores queues, guarantees and fences."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np

from engine.feasibility import unsupported_rules
from engine.model.objects import Pod
from engine.model.pending_reasons import NODES, Need, Tier, TierName
from engine.model.quantities import PODS
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common import nearest_node
from engine.policies.common.policy_types import PolicyTiers, room_by
from engine.policies.priority.decision import decide
from engine.policies.priority.node_candidates import NodeCandidates
from engine.policies.priority.parameters import Parameters


def judge(snapshot: Snapshot, ask: Pod) -> tuple[Tier, ...]:
    """Return every tier; only the last one if a node has room, none if the pending pod cannot be judged."""
    snapshot = snapshot.without_reservation(ask.uid)
    if ask.unread or unsupported_rules(snapshot, ask):
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


def tiers_by(parameters: Mapping[str, Any]) -> PolicyTiers:
    """Return the tiers for a revision's parameters. Raises msgspec.ValidationError."""
    own = msgspec.convert(dict(parameters), Parameters)

    def judged(snapshot: Snapshot, _tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return judge(snapshot, ask)

    return PolicyTiers(judge=judged, gets_room=room_by(partial(decide, parameters=own)))

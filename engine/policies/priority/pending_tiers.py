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
from engine.model.snapshot.eviction_units import Units
from engine.policies.common import nearest_node
from engine.policies.common.policy_types import PolicyTiers, room_by
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.decision import decide
from engine.policies.priority.node_candidates import NodeCandidates, find_node_candidates
from engine.policies.priority.parameters import Parameters
from engine.policies.priority.trace import count_reasons


def judge(snapshot: Snapshot, ask: Pod, units: Units | None = None) -> tuple[Tier, ...]:
    """Return every tier; only the last one if a node has room, none if the pending pod cannot be judged.

    ``units``: what is evicted together; None: every pod is evicted alone.
    """
    snapshot = snapshot.without_reservation(ask.uid)
    if ask.unread or unsupported_rules(snapshot, ask):
        return ()
    attempt = PriorityAttempt(snapshot, ask, units)
    if not attempt.nowhere and attempt.fits.any():
        nobody = np.zeros(len(attempt.columns.pods), np.bool_)
        place = int(np.argmax(attempt.fits))
        needs = nearest_node.needs(attempt.columns, attempt.feasibility, ask, place, gone=nobody)
        return (Tier.of(TierName.NODE, [Need(resource=NODES, required=1, available=1), *needs]),)
    return (_priority(attempt), _node(find_node_candidates(attempt)))


def _priority(attempt: PriorityAttempt) -> Tier:
    ask = attempt.ask
    pods = 0 if ask.never_preempts else int(np.count_nonzero(attempt.candidates))
    return Tier.of(
        TierName.PRIORITY,
        [Need(resource=PODS, required=1, available=pods)],
        shut=(ask.priority_class or "Never") if ask.never_preempts else "",
        held=nearest_node.held(attempt.columns, ask, attempt.candidates) if pods else {},
    )


def _node(node_candidates: NodeCandidates) -> Tier:
    attempt, columns = node_candidates.attempt, node_candidates.attempt.columns
    best = None if attempt.nowhere else node_candidates.best
    evicted = attempt.candidates
    if best is not None:
        evicted = np.zeros(len(columns.pods), np.bool_)
        evicted[node_candidates.victims_on(best)] = True
        place: int | None = best
    elif attempt.nowhere:
        place = None
    else:
        place = nearest_node.nearest(attempt.snapshot, attempt.ask, attempt.feasibility, evicted, ~attempt.reserved)
    could = 0 if best is None else len(node_candidates.costs.places)
    nobody = np.zeros(len(columns.pods), np.bool_)
    needs = (
        ()
        if place is None
        else nearest_node.needs(columns, attempt.feasibility, attempt.ask, place, gone=nobody, evicted=evicted)
    )
    reasons = {} if could else count_reasons(node_candidates)
    refusing = {str(reason): count for reason, count in sorted(reasons.items()) if count}
    first = Need(resource=NODES, required=1, available=could)
    return Tier.of(TierName.NODE, [first, *needs], refusing=refusing)


def tiers_by(parameters: Mapping[str, Any]) -> PolicyTiers:
    """Return the tiers for a revision's parameters. Raises msgspec.ValidationError."""
    own = msgspec.convert(dict(parameters), Parameters)

    def judged(snapshot: Snapshot, _tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return judge(snapshot, ask)

    return PolicyTiers(judge=judged, gets_room=room_by(partial(decide, parameters=own)), ranks=True, quick=True)

"""Find the node that comes nearest to having room for a pending pod, and what is missing there."""

import msgspec
import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags, Numbers
from engine.model.decision import NodeReason
from engine.model.objects import Pod
from engine.model.pending_reasons import NODES, Need, Tier, TierName
from engine.model.quantities import PODS, Amounts
from engine.model.snapshot import Snapshot
from engine.policies.common.attempt import PreemptionAttempt

_PARTS = 1_000_000


def held(columns: Columns, ask: Pod, pods: Flags) -> Amounts:
    """Return what some bound pods (by pod index) together hold of the requested resources."""
    asked = sorted(name for name, amount in ask.requests.items() if amount > 0 and name != PODS)
    return {name: amount for name in asked if (amount := int(columns.requests(name)[pods].sum()))}


def needs(
    columns: Columns,
    feasibility: Feasibility,
    ask: Pod,
    place: int,
    *,
    gone: Flags,
    evicted: Flags | None = None,
) -> tuple[Need, ...]:
    """Return, for each resource, the request and what the node can provide once some pods are gone.

    ``gone``: pods that leave in any case; ``evicted``: pods that would be evicted. The resource ``pods`` is reported
    only if the node has no slot left for a pod.
    """
    found = []
    here = np.zeros(len(columns.pods), np.bool_)
    here[columns.rows(place).start : columns.rows(place).stop] = True
    for resource, wanted in sorted(ask.requests.items()):
        if wanted <= 0:
            continue
        requests = columns.requests(resource)
        free = _free(feasibility, ask, resource)
        need = Need(
            where=columns.nodes[place].name,
            resource=resource,
            required=wanted,
            available=(0 if free is None else int(free[place])) + int(requests[here & gone].sum()),
            evictable=0 if evicted is None else int(requests[here & evicted].sum()),
        )
        if resource != PODS or need.missing:
            found.append(need)
    return tuple(found)


def nearest(snapshot: Snapshot, ask: Pod, feasibility: Feasibility, gone: Flags, open_to: Flags) -> int | None:
    """Return the index of the node with the least missing once the ``gone`` pods have left.

    Only nodes that lack nothing but resources are considered. They are compared by the largest fraction of a request
    that is missing, then by the sum of the fractions, then by name. Returns None if something else keeps the pod off
    every node.
    """
    leaving = DepartingPods(snapshot.columns, gone)
    bare = {name: amount for name, amount in ask.requests.items() if name == PODS}
    light = Feasibility(snapshot, msgspec.structs.replace(ask, requests=bare), miscounting=feasibility.miscounting)
    places = np.flatnonzero(open_to & (light.refusing(leaving) == FITS))
    if not len(places):
        return None
    parts = []
    for resource, wanted in sorted(ask.requests.items()):
        if wanted > 0:
            free = _free(feasibility, ask, resource)
            room = leaving.of(snapshot.columns.requests(resource)) + (0 if free is None else free)
            missing = np.clip(wanted - room[places], 0, wanted)
            parts.append((missing * _PARTS // wanted).astype(np.int64))
    if not parts:
        return int(places[0])
    order = np.lexsort((places, np.sum(parts, axis=0), np.max(parts, axis=0)))
    return int(places[order[0]])


def _free(feasibility: Feasibility, ask: Pod, resource: str) -> Numbers | None:
    """Return, by node index, what bound and nominated pods leave of a resource, or None if no node has any."""
    limits = feasibility.limits
    limit = next(
        (limit for limit in limits if (limit.reason, limit.detail) == (NodeReason.INSUFFICIENT, resource)), None
    )
    if limit is None:
        return None
    free: Numbers = limit.cap + ask.requests[resource] - limit.held
    return free - np.maximum(limit.more(), 0) if limit.added else free


def fits(attempt: PreemptionAttempt, node: str, *, soon: bool) -> Tier:
    """Return the single tier of a pod for which a node has room; ``soon``: once the terminating pods are gone."""
    place = attempt.columns.place[node]
    lacking = needs(attempt.columns, attempt.feasibility, attempt.ask, place, gone=attempt.columns.terminating)
    return Tier.of(TierName.NODE, [Need(resource=NODES, required=1, available=1), *lacking], soon=soon)

"""Which node comes nearest to having room for an ask, and what it lacks."""

import msgspec
import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.model.columns.departures import Leaving
from engine.model.columns.node_columns import Columns, Flags, Numbers
from engine.model.decision import NodeReason
from engine.model.objects import Pod
from engine.model.pending_reasons import NODES, Need, Tier, TierName
from engine.model.quantities import PODS, Amounts
from engine.model.snapshot import Snapshot
from engine.policies.common.attempt import PreemptionAttempt

_PARTS = 1_000_000


def held(columns: Columns, ask: Pod, pods: Flags) -> Amounts:
    """What some bound pods (by row) hold together of what is asked."""
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
    """What is asked of each resource beside what the node has free once the ``gone`` have left, and the ``evicted``.

    The pod itself is told of only where there is no place for it.
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
    """The place where the least is missing once the ``gone`` have left, of nodes that only lack resources.

    By the largest part of a request that is missing, then by the sum of the parts, then by name. None where something
    else keeps it off every node.
    """
    leaving = Leaving(snapshot.columns, gone)
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
    """Place -> what is free of a resource beside pods there and those nominated to it; None: no node has any."""
    limits = feasibility.limits
    limit = next((one for one in limits if (one.reason, one.detail) == (NodeReason.INSUFFICIENT, resource)), None)
    if limit is None:
        return None
    free: Numbers = limit.cap + ask.requests[resource] - limit.held
    return free - np.maximum(limit.more(), 0) if limit.added else free


def fits(attempt: PreemptionAttempt, node: str, *, soon: bool) -> Tier:
    """The one tier where a node has room; ``soon``: once those on their way out are gone."""
    place = attempt.columns.place[node]
    lacking = needs(attempt.columns, attempt.feasibility, attempt.ask, place, gone=attempt.columns.terminating)
    return Tier.of(TierName.NODE, [Need(resource=NODES, required=1, available=1), *lacking], soon=soon)

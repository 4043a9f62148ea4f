"""Searches the nodes for victims, for as few nodes as possible: most cost more than another in any case."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from engine.feasibility import FITS
from engine.model.columns.departures import PassDepartures, changed_flags
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.objects import Pod
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.departures import DeparturesOn, RowChanges
from engine.policies.deserved.node_bounds import Cost, bounds, hopeless_places
from engine.policies.deserved.other_sets import search
from engine.policies.deserved.shares.balances import Rank
from engine.policies.deserved.victim_selection import (
    NodeVictims,
    can_make_room,
    cost_of,
    victims_anywhere,
    victims_on_node,
)

MAX_SEARCHED_NODES = 50
"""The maximum number of nodes on which other sets of victims are tried; the cheapest nodes are tried."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeCandidates:
    """The victims that each node would need for the pending pod, and what they cost."""

    attempt: ReclaimAttempt
    candidates: Candidates
    counts: Numbers
    """Node index -> the number of candidates on the node."""
    refusing: Rows
    """Node index -> the number of the check that rejects the pending pod, whichever candidates are preempted."""
    useful: Flags
    """Node index -> whether preempting on the node may make room."""
    dearer: Flags
    """Node index -> whether the node was not examined closely because another node is cheaper in any case."""
    ranked: tuple[NodeVictims, ...] = ()
    """The victims on every examined node that makes room for the pending pod, the cheapest first."""
    gave_up: bool = False
    """Whether not all sets were tried, so that an allowed set may exist although none was found."""

    @property
    def best(self) -> NodeVictims | None:
        """Return the cheapest victims, or None if no node can make room."""
        return self.ranked[0] if self.ranked else None


def search_nodes(attempt: ReclaimAttempt, candidates: Candidates) -> NodeCandidates:
    """Search for the cheapest victims with which every queue keeps what it deserves."""
    counts, refusing = _counts_and_refusals(attempt, candidates)
    useful: Flags = attempt.nodes.open & (refusing == FITS) & (counts > 0)
    return _search_in_order(
        NodeCandidates(
            attempt=attempt,
            candidates=candidates,
            counts=counts,
            refusing=refusing,
            useful=useful,
            dearer=useful,
        ),
        below=False,
    )


def search_below_deserved(node_candidates: NodeCandidates) -> NodeCandidates:
    """Search again, allowing queues to end below what they deserve, where no other search has made room.

    Queues may have to end below because pods cannot be divided.
    """
    if node_candidates.attempt.outranks or not node_candidates.useful.any():
        return node_candidates
    return _search_in_order(node_candidates, below=True)


def search_other_sets(node_candidates: NodeCandidates) -> NodeCandidates:
    """Search for sets outside the usual order of victims on the cheapest nodes, where no other search has made room."""
    attempt, candidates, useful = node_candidates.attempt, node_candidates.candidates, node_candidates.useful
    if not attempt.parameters.node_fit:
        return replace(node_candidates, gave_up=bool(useful.any()) and can_make_room(attempt, candidates))
    places = [place for _least, place in bounds(attempt, candidates, useful)]
    gave_up, ranked = len(places) > MAX_SEARCHED_NODES, list[NodeVictims]()
    for place in places[:MAX_SEARCHED_NODES]:
        pods = sorted(candidates.on(place), key=_order_of_preemption(candidates))
        sets = search(attempt, candidates, place, pods)
        rows, put_back = sets.victims() or ([], [])
        gave_up |= sets.gave_up
        if rows:
            victims, kept = (tuple(pods[row] for row in some) for some in (rows, put_back))
            ranked.append(NodeVictims(victims, kept, cost_of(candidates, victims, place), place))
    return replace(node_candidates, ranked=_by_cost(ranked), gave_up=gave_up)


def _search_in_order(node_candidates: NodeCandidates, *, below: bool) -> NodeCandidates:
    """Select victims in the usual order, where the policy's parameters allow: on one node, or anywhere."""
    attempt, candidates = node_candidates.attempt, node_candidates.candidates
    if attempt.parameters.node_fit:
        return _search_by_bound(node_candidates, below=below)
    anywhere = victims_anywhere(attempt, candidates, below=below)
    nowhere = np.zeros_like(node_candidates.useful)
    return replace(node_candidates, dearer=nowhere, ranked=(anywhere,) if anywhere else ())


def _search_by_bound(node_candidates: NodeCandidates, *, below: bool) -> NodeCandidates:
    """Select victims on one node after the other, until every other node costs more in any case."""
    attempt, candidates = node_candidates.attempt, node_candidates.candidates
    dearer, ranked = node_candidates.useful.copy(), list[NodeVictims]()
    best: Cost | None = None
    hopeless: Flags | None = None
    in_order = bounds(attempt, candidates, node_candidates.useful)
    while (found := next(in_order, None)) is not None and (best is None or found[0] <= best):
        place = found[1]
        dearer[place] = False
        if victims := victims_on_node(attempt, candidates, place, below=below):
            best = victims.cost if best is None else min(best, victims.cost)
            ranked.append(victims)
        elif hopeless is None and not below:  # computed only on a failure: usually the first node makes room
            hopeless = dearer & hopeless_places(attempt, candidates)
            in_order = bounds(attempt, candidates, dearer & ~hopeless)
    if hopeless is not None:
        dearer[_may_be_as_cheap(attempt, candidates, hopeless, best)] = False
    return replace(node_candidates, dearer=dearer, ranked=_by_cost(ranked))


def _may_be_as_cheap(attempt: ReclaimAttempt, candidates: Candidates, useful: Flags, best: Cost | None) -> Flags:
    """Return which of some nodes (flags) may cost no more than the best one; all of them if there is none."""
    if best is None:
        return useful
    found = np.zeros_like(useful)
    for least, place in bounds(attempt, candidates, useful):
        if least > best:
            break
        found[place] = True
    return found


def _by_cost(victims: list[NodeVictims]) -> tuple[NodeVictims, ...]:
    return tuple(sorted(victims, key=lambda on_node: on_node.cost))


def _order_of_preemption(candidates: Candidates) -> Callable[[Pod], tuple[Rank, int, int, str]]:
    """Return the sort key of pods by which they are preempted."""
    rank = candidates.balances.rank
    return lambda pod: (rank(pod.queue or ""), pod.priority, -pod.created_ms, pod.key)


class _LatestDepartures(NamedTuple):
    """All candidates of the previous call, as pods that are evicted together."""

    departing: PassDepartures
    flags: Flags
    step: RowChanges | None


def _candidate_departures(attempt: ReclaimAttempt, candidates: Candidates) -> PassDepartures:
    """Return all candidates as pods that are evicted together, updated incrementally from the previous call."""
    cache: dict[str, _LatestDepartures] = attempt.snapshot.once("deserved departing", attempt.tree, dict)
    latest, flags = cache.get("latest"), candidates.preemptable
    departing = PassDepartures(
        attempt.nodes.columns,
        lambda: np.flatnonzero(flags),
        also=attempt.leaving,
        before=latest.departing if latest else None,
        changed=changed_flags(latest.flags, flags, _rows_since(candidates.step, latest.step)) if latest else None,
    )
    cache["latest"] = _LatestDepartures(departing, flags, candidates.step)
    return departing


class _LatestRefusals(NamedTuple):
    """What the previous pending pod of the same shape found, by node index."""

    columns: Columns
    step: RowChanges
    counts: Numbers
    refusing: Rows


def _counts_and_refusals(attempt: ReclaimAttempt, candidates: Candidates) -> tuple[Numbers, Rows]:
    """Return the number of candidates by node index, and the check that rejects the pending pod without all of them.

    Only nodes of pods that changed since the previous call are considered again.
    """
    columns, feasibility, cache = attempt.nodes.columns, attempt.nodes.feasibility, attempt.nodes.shape.cache
    latest: _LatestRefusals | None = cache.get("deserved refusals")
    rows = _rows_since(candidates.step, latest.step) if latest else None
    left = columns.since(latest.columns) if latest else None
    if latest is None or rows is None or left is None:
        departing = _candidate_departures(attempt, candidates)
        counts, refusing = departing.counts, feasibility.refusing(departing, surely=attempt.leaving)
    else:
        places = np.unique(columns.node[np.concatenate([rows, left])])
        surely = DeparturesOn(columns, places, columns.terminating.take)
        every = DeparturesOn(columns, places, lambda some: candidates.preemptable[some] | columns.terminating[some])
        counts, refusing = latest.counts.copy(), latest.refusing.copy()
        counts[places] = every.counts - surely.counts
        refusing[places] = feasibility.refusing(every, surely=surely, places=places)
    if candidates.step is not None:
        cache["deserved refusals"] = _LatestRefusals(columns, candidates.step, counts, refusing)
    return counts, refusing


def _rows_since(now: RowChanges | None, earlier: RowChanges | None) -> Rows | None:
    return None if now is None or earlier is None else now.since(earlier)

"""The plans of victims on every node for one pending pod, and the best of them, under YuniKorn's rules.

Source: tryNodes and checkPreemptionPredicates of yunikorn-core.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from engine.feasibility import NodeRefusal
from engine.feasibility.checks import RuleCheck
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import NodeReason
from engine.policies.yunikorn.attempt import YuniKornAttempt
from engine.policies.yunikorn.candidates import YuniKornCandidates
from engine.policies.yunikorn.victims.counts import FITS, NONE, applies, indices
from engine.policies.yunikorn.victims.selection import EMPTY, Plan, on_node

_BATCH = 10
"""The number of nodes that are rated together. The next ones are rated only if none of these was good enough."""
_GOOD_ENOUGH = 2**32


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeCandidates:
    """The plans of victims on all nodes as far as they were rated, and the best of them."""

    candidates: YuniKornCandidates
    index: Rows
    """Place of a node -> the number of victims, minus one, that make enough room; else FITS or NONE."""
    too_small: Flags
    """Place -> whether the node is too small for the pending pod even if it were empty."""
    planned: Flags
    """Place -> whether the node has a plan."""
    ranked: Rows
    """The places of the nodes with a plan, the fewest victims first."""
    rated: dict[int, int]
    """Place -> the rating of the plan with which all rules of the node admit the pending pod."""
    refused: dict[int, NodeRefusal]
    """Place -> the reason why no plan makes the rules of the node admit the pending pod."""
    best: Plan | None


def search_nodes(candidates: YuniKornCandidates, *, nodes_tried: bool) -> NodeCandidates:
    """Search the nodes for the best plan of victims.

    ``nodes_tried``: whether the pending pod was tried on the nodes before, so that no node has room for it.
    """
    attempt = candidates.attempt
    index, too_small = victims_needed(candidates), _too_small(attempt)
    available = ~attempt.reserved & ~attempt.columns.unschedulable & ~too_small
    planned: Flags = available & ((index >= 0) | ((index == FITS) & (not nodes_tried)))
    places = np.flatnonzero(planned)
    ranked = places[np.argsort(index[places], kind="stable")]
    ratings = _rate(candidates, index, ranked)
    return NodeCandidates(
        candidates=candidates,
        index=index,
        too_small=too_small,
        planned=planned,
        ranked=ranked,
        rated=ratings.rated,
        refused=ratings.refused,
        best=None if ratings.best is None else ratings.best[2],
    )


class _Ratings:
    """The plans that were rated so far, and the best of them with its rating and its rank."""

    def __init__(self) -> None:
        self.rated: dict[int, int] = {}
        self.refused: dict[int, NodeRefusal] = {}
        self.best: tuple[int, int, Plan] | None = None


def _rate(candidates: YuniKornCandidates, index: Rows, ranked: Rows) -> _Ratings:
    """Rate plans until a batch of nodes has one that is good enough, or until all plans are rated.

    A plan is good enough if no victim opted out or is the originator of its application.

    Source: checkPreemptionPredicates of yunikorn-core.
    """
    ratings = _Ratings()
    for batch in _batches(ranked):
        # Further victims that the node's rules require can only make a plan worse.
        least = ((score(candidates, place, int(index[place])), rank, place) for rank, place in batch)
        for rating, rank, place in sorted(least):
            if ratings.best is not None and ratings.best[:2] < (rating, rank):
                break
            plan = _plan_with_all_rules(candidates, place)
            if isinstance(plan, NodeRefusal):
                ratings.refused[place] = plan
                continue
            ratings.rated[place] = score(candidates, place, plan.index)
            rated = ratings.rated[place], rank, plan
            ratings.best = rated if ratings.best is None or rated[:2] < ratings.best[:2] else ratings.best
        if ratings.best is not None and ratings.best[0] < _GOOD_ENOUGH:
            break
    return ratings


def victims_needed(candidates: YuniKornCandidates) -> Rows:
    """Return for each node (by place) the number of victims, minus one, that make enough room.

    FITS means that no victims are needed, NONE that no number of victims is enough.

    Source: Preemptor.tryNodes of yunikorn-core.
    """
    attempt = candidates.attempt
    if applies(candidates):
        needed = indices(candidates, _free_amounts(attempt))
        if attempt.quirks.other_nodes or not (needed == FITS).any():
            return needed
    plans = (plan_on(candidates, place) for place in range(len(attempt.columns.nodes)))
    return np.fromiter((NONE if plan is None else plan.index for plan in plans), np.intp)


def _free_amounts(attempt: YuniKornAttempt) -> Numbers:
    """Return for each node (by place) the free amounts of the requested resources, in the order of their names."""
    names, columns = sorted(attempt.ask.requests), attempt.columns
    free = [columns.allocatable(name) - columns.held(name) for name in names]
    if not attempt.quirks.leaving_hold:
        departing = DepartingPods(columns, columns.terminating)
        free = [amounts + departing.of(columns.requests(name)) for amounts, name in zip(free, names, strict=True)]
    return np.stack(free, axis=1)


def _too_small(attempt: YuniKornAttempt) -> Flags:
    """Return for each node (by place) whether it is too small for the pending pod even if it were empty.

    Source: Preemptor.initWorkingState of yunikorn-core.
    """
    small = np.zeros(len(attempt.columns.nodes), np.bool_)
    for name, amount in attempt.ask.requests.items():
        small |= np.maximum(attempt.columns.allocatable(name), 0) < amount
    return small


def _batches(ranked: Rows) -> Iterator[list[tuple[int, int]]]:
    """Yield batches of nodes, as pairs of rank and place, the fewest victims first.

    Source: batchPreemptionChecks of yunikorn-core.
    """
    for start in range(0, len(ranked), _BATCH):
        yield list(enumerate(ranked[start : start + _BATCH].tolist(), start))


def score(candidates: YuniKornCandidates, place: int, index: int) -> int:
    """Return the rating of a node; the smallest is the best.

    As in YuniKorn, the node's first candidates are rated, although the plan may evict others.

    Source: checkPreemptionPredicates of yunikorn-core.
    """
    rows = candidates.rows_on(place)
    if not len(rows):
        return EMPTY
    return int(np.bitwise_or.reduce(candidates.attempt.table.dear[rows[: index + 1]], initial=0)) + index + 1


def plan_on(candidates: YuniKornCandidates, place: int) -> Plan | None:
    """Return the plan of victims for one node alone, None if all candidates there don't make enough room."""
    attempt = candidates.attempt
    node = attempt.columns.nodes[place]
    free = attempt.snapshot.free(node, without=attempt.leaving(place))
    pods = [attempt.columns.pods[row] for row in candidates.rows_on(place)]
    return on_node(attempt.balances, attempt.ask, node, free, pods)


def _plan_with_all_rules(candidates: YuniKornCandidates, place: int) -> Plan | NodeRefusal:
    """Return the plan with which all rules of the node admit the pending pod, or the reason why none does.

    Source: PreemptionPredicates of yunikorn-k8shim (predicate_manager.go).
    """
    attempt = candidates.attempt
    for number, check in enumerate(attempt.feasibility.checks):
        if isinstance(check, RuleCheck) and check.refused[place]:
            return attempt.feasibility.refusal(number, place)
    plan = plan_on(candidates, place)
    if plan is None:
        return NodeRefusal(NodeReason.NOT_ENOUGH)
    checks, leaving = attempt.feasibility.on(place), [pod.uid for pod in attempt.leaving(place)]
    refusal = None
    for index in range(plan.index, len(plan.victims)):
        refusal = checks.refusal([*leaving, *(pod.uid for pod in plan.victims[: index + 1])])
        if refusal is None:
            return msgspec.structs.replace(plan, index=index)
    return refusal if refusal is not None and (plan.index >= 0 or checks.refusal() is not None) else plan

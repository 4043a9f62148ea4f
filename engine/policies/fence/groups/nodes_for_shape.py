"""What is found on all nodes at once for members of one shape, before any member is placed."""

import numpy as np

from engine.model.collections.offsets import running_sums
from engine.model.columns.node_columns import Flags, Numbers
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.weight_bounds import Bounds
from engine.policies.fence.groups.allowances import Allowances
from engine.policies.fence.groups.node_order import Option, RankedNodes
from engine.policies.fence.groups.units import CandidateUnits, Cost
from engine.policies.fence.node_candidates import NodeCandidates, blocked_nodes, find_node_candidates
from engine.policies.fence.victims.node_costs import least_by_first_criteria, least_costs


def costs_no_less(before: tuple[int, ...], now: tuple[int, ...]) -> bool:
    """Return whether victims cost no less than before, by what has to be freed for the sake of each max."""
    return all(amount >= earlier for amount, earlier in zip(now, before, strict=True))


class NodesForShape:
    """The victims without whole groups on every node, and lower bounds of the costs with one."""

    def __init__(
        self, candidates: CandidateUnits, attempt: PreemptionAttempt, known: NodeCandidates | None = None
    ) -> None:
        """Find them. ``attempt``: of a member of the shape. ``known``: what was found without looking at groups."""
        self._candidates = candidates
        self.found = known or find_node_candidates(
            attempt, candidates.claim, candidates.amounts, candidates.may_go & ~candidates.units.whole
        )
        self._blocked = blocked_nodes(attempt, self.found.refusing)
        self._first = running_sums(self.found.victims.costs.counts)
        self._with_groups = self._least_with_groups(attempt)
        self._attempt, limits = attempt, attempt.feasibility.limits
        self._excess = Allowances(attempt, candidates.amounts).excess(attempt.ask.requests)
        self.usable = not any(self._excess) and not any(limit.mends or limit.unless is not None for limit in limits)
        """Whether the victims found are those that are chosen on a node where nothing has changed."""

    def _least_with_groups(self, attempt: PreemptionAttempt) -> Numbers:
        least = self._candidates.whole_bounds
        if least.shape[1]:
            bounds = Bounds(attempt.columns, attempt.feasibility.limits, self._candidates.may_go, attempt.leaving)
            first = least_by_first_criteria(attempt, bounds)[:, least[-1]]
            least = np.concatenate([np.maximum(least[: len(first)], first), least[len(first) :]])
        return least

    def ranked(self, open_nodes: Flags, excess: tuple[int, ...]) -> RankedNodes:
        """Return lower bounds of the costs on the nodes that are open (flags by index), the least first.

        ``excess``: by how much the member exceeds each max above it.
        """
        alone, with_groups = self.found.victims.costs.table, self._with_groups
        if not costs_no_less(self._excess, excess):
            places = np.unique(self._attempt.columns.node[self._candidates.may_go])
            least = least_costs(self._attempt, self._attempt.feasibility.limits, self._candidates.may_go)
            alone = np.concatenate([least[:, places], [places]])
        bounds = _least_of_each(alone[:, ~self._blocked[alone[-1]]], with_groups, len(open_nodes))
        return RankedNodes(bounds if open_nodes.all() else bounds[:, open_nodes[bounds[-1]]])

    def option(self, place: int) -> Option | None:
        """Return the victims on a node (by index) without whole groups, None if none were found."""
        costs = self.found.victims.costs
        index = int(np.searchsorted(costs.places, place))
        if index == len(costs.places) or costs.places[index] != place or self._blocked[place]:
            return None
        victims = self.found.victims.rows[self._first[index] : self._first[index + 1]]
        return Option(place, tuple(self._candidates.of(victims)), tuple(costs.table[:, index].tolist()))

    def least_with_groups(self, place: int) -> Cost | None:
        """Return what victims on a node (by index) cost at least with a whole group, None if there is none."""
        index = int(np.searchsorted(self._with_groups[-1], place))
        if index == self._with_groups.shape[1] or self._with_groups[-1, index] != place:
            return None
        return tuple(self._with_groups[:, index].tolist())


def _least_of_each(one: Numbers, other: Numbers, nodes: int) -> Numbers:
    """Return the lesser costs of each node (the last row) of two tables, a column for each. ``nodes``: their number."""
    both, found = np.zeros((len(one), nodes), np.int64), np.zeros(nodes, np.bool_)
    both[:, one[-1]], found[one[-1]] = one, True
    places = other[-1]
    here = both[:, places]
    decisive = (here != other).argmax(axis=0)
    each = np.arange(len(places))
    less = ~found[places] | (other[decisive, each] < here[decisive, each])
    both[:, places[less]], found[places] = other[:, less], True
    return both[:, found]

"""A search for other victims on nodes where those of kube-scheduler would violate disruption budgets."""

from collections.abc import Iterable, Sequence

from engine.feasibility import Feasibility
from engine.model.columns.node_columns import Columns
from engine.policies.common.safeguards import EvictionLimit
from engine.policies.common.victim_search import Rows, VictimSetRules, VictimSetSearch


class BudgetRules(VictimSetRules):
    """The rules that a set of victims (rows) on one node must satisfy: the disruption budgets.

    Terminating pods are victims too, but no budget counts them.
    """

    def __init__(
        self,
        feasibility: Feasibility,
        columns: Columns,
        limits: Iterable[EvictionLimit],
        place: int,
        candidates: Sequence[int],
    ) -> None:
        super().__init__(feasibility.on(place), {row: columns.pods[row] for row in candidates})
        evictable = frozenset(row for row in candidates if not columns.terminating[row])
        self.limits = [(evictable.intersection(limit.covered.tolist()), limit.allowed) for limit in limits]
        """The candidates that each disruption budget covers, and how many of them may be evicted."""

    def may_go(self, rows: Rows) -> bool:
        """Return whether the budgets allow all of these pods to be evicted together."""
        return all(len(covered.intersection(rows)) <= allowed for covered, allowed in self.limits)

    def counted_alike(self, one: int, other: int) -> bool:
        """Return whether two pods count in the same budgets."""
        return all((one in covered) == (other in covered) for covered, _ in self.limits)


def search(
    feasibility: Feasibility, columns: Columns, limits: Iterable[EvictionLimit], place: int, candidates: Sequence[int]
) -> VictimSetSearch:
    """Return a search for victims on a node (by place) that tries the least important candidates first.

    ``candidates``: rows, the most important first.
    """
    return VictimSetSearch(candidates[::-1], BudgetRules(feasibility, columns, limits, place, candidates))

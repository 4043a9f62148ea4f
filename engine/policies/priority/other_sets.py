"""A search for other victims on nodes where those of kube-scheduler would violate disruption budgets."""

from collections.abc import Iterable, Sequence

from engine.feasibility import Feasibility
from engine.model.columns.node_columns import Columns
from engine.policies.common.safeguards import EvictionLimit
from engine.policies.common.victim_search import Rows, VictimSetSearch


def search(
    feasibility: Feasibility, columns: Columns, limits: Iterable[EvictionLimit], place: int, candidates: Sequence[int]
) -> VictimSetSearch:
    """Return a search for victims on a node (by place) that tries the least important candidates first.

    ``candidates``: rows, the most important first.
    """
    spot = feasibility.on(place)
    evictable = frozenset(row for row in candidates if not columns.terminating[row])
    covered = [(evictable.intersection(limit.covered.tolist()), limit.allowed) for limit in limits]

    def uids(rows: Rows) -> list[str]:
        return [columns.pods[row].uid for row in rows]

    def room(rows: Rows, surely: Rows | None) -> bool:
        return spot.refusal(uids(rows), surely=None if surely is None else uids(surely)) is None

    def may_go(rows: Rows) -> bool:
        return all(len(of_budget.intersection(rows)) <= allowed for of_budget, allowed in covered)

    def alike(one: int, other: int) -> bool:
        first, second = columns.pods[one], columns.pods[other]
        same = first.requests == second.requests and spot.weights(first.uid) == spot.weights(second.uid)
        return same and all((one in of_budget) == (other in of_budget) for of_budget, _ in covered)

    return VictimSetSearch(candidates[::-1], room=room, may_go=may_go, alike=alike)

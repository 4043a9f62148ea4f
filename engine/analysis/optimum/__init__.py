"""Calculate the least costly victims that a policy could have chosen, exactly, over every node.

The policies are greedy: they take pods in a fixed order, then reprieve those that were not needed. Here, every set of
pods counts that the policy's own rules permit and that makes room. The least set is the one that the policy itself
would prefer when it compares two nodes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.analysis.optimum.branch_and_bound import DEAREST, MOST_CANDIDATES, OptimumSearch
from engine.analysis.optimum.optimal import Optimal
from engine.analysis.optimum.units import MOST_MEMBERS, MOST_UNITS, UnitSearch
from engine.model.decision import Decision, Outcome
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import UnknownPolicyError, find
from engine.policies.common.groups.unit_weighing import UnitWeighing, WeighedUnit
from engine.policies.common.weighing import Cost, Weighing

__all__ = ["MOST_CANDIDATES", "MOST_MEMBERS", "MOST_UNITS", "Optimal", "is_supported", "optimal"]


def is_supported(policy: str, dialect: str) -> bool:
    """Return whether the least victims can be worked out for a policy's dialect. Raises UnknownPolicyError."""
    return find(policy, dialect).optimum is not None


def optimal(
    snapshot: Snapshot, tree: QueueTree, pod: Pod, decision: Decision, parameters: Mapping[str, Any] | None = None
) -> Optimal | None:
    """Return the least costly victims next to those of the policy's ``decision``.

    Raises UnknownPolicyError for a policy without an optimum, msgspec.ValidationError for parameters that it lacks.
    """
    weigh = find(decision.policy, decision.dialect).optimum
    if weigh is None:
        raise UnknownPolicyError(decision.policy, decision.dialect)
    if decision.outcome not in (Outcome.PREEMPT, Outcome.NO_CANDIDATE, Outcome.SEARCH_LIMIT):
        return None
    if decision.safeguard:  # safeguards permit no set, so compare with all sets, as the policy did
        snapshot = snapshot.guarded(None)
    weighing = weigh(snapshot.without_reservation(pod.uid), tree, pod, parameters or {})
    if isinstance(weighing, UnitWeighing):
        return _of_units(weighing, decision)
    columns = weighing.columns
    policy_rows = tuple(sorted(columns.row[verdict.pod.uid] for verdict in decision.victims))
    search = OptimumSearch(weighing, _cost(weighing, policy_rows) if policy_rows else DEAREST)
    search.everywhere()
    rows, left_out = search.rows or policy_rows, tuple(columns.nodes[place].name for place in search.left_out)
    if not rows:
        return Optimal(left_out=left_out) if left_out else None
    return Optimal(
        node=columns.nodes[columns.node[rows[0]]].name,
        victims=tuple(columns.pods[row].key for row in rows),
        pdb_violations=dict(zip(weighing.parts, search.least, strict=True)).get("violations"),
        same=rows == policy_rows,
        distance=_distance(weighing, policy_rows, rows) if policy_rows else {},
        left_out=left_out,
    )


def _of_units(weighing: UnitWeighing, decision: Decision) -> Optimal:
    """Return the least costly units beside those of the ``decision``."""
    columns = weighing.columns
    of_policy = weighing.units_of([columns.row[verdict.pod.uid] for verdict in decision.victims])
    search = UnitSearch(weighing, _cost_of_units(weighing, of_policy) if of_policy else DEAREST)
    search.everywhere()
    same = not search.units and bool(of_policy) and search.complete
    units = of_policy if same else search.units
    nodes = {key: columns.nodes[place].name for key, place in search.nodes.items()}
    keys = {pod.uid: pod.key for pod in decision.pending}
    costs = [_cost_of_units(weighing, of) for of in (of_policy, units)]
    apart = {name: one - least for name, one, least in zip(weighing.parts, *costs, strict=True) if one != least}
    return Optimal(
        victims=tuple(columns.pods[row].key for unit in reversed(units) for row in unit.rows),
        same=same,
        nodes=nodes or ({keys[uid]: node for uid, node in decision.nodes.items()} if same else {}),
        distance=apart if of_policy and units else {},
        none=not units and search.complete,
        too_many=search.too_many,
        unfinished=not search.complete and not search.too_many,
    )


def _cost_of_units(weighing: UnitWeighing, units: Sequence[WeighedUnit]) -> Cost:
    cost = weighing.nothing
    for unit in units:
        cost = weighing.together(cost, unit.cost)
    return cost


def _cost(weighing: Weighing, rows: Sequence[int]) -> Cost:
    cost = weighing.nothing
    for row in rows:
        cost = weighing.together(cost, weighing.alone(row))
    return cost


def _distance(weighing: Weighing, policy_rows: Sequence[int], least: Sequence[int]) -> dict[str, int]:
    policy_cost, best_cost = (weighing.readable(_cost(weighing, rows)) for rows in (policy_rows, least))
    return {
        part: difference
        for part, policy_part, best_part in zip(weighing.parts, policy_cost, best_cost, strict=True)
        if (difference := policy_part - best_part)
    }

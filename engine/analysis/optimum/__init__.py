"""Calculate the least costly victims that a policy could have chosen, exactly, over every node.

The policies are greedy: they take pods in a fixed order, then reprieve those that were not needed. Here, every set of
pods counts that the policy's own rules permit and that makes room. The least set is the one that the policy itself
would prefer when it compares two nodes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.analysis.optimum.branch_and_bound import DEAREST, MOST_CANDIDATES, OptimumSearch
from engine.analysis.optimum.optimal import Optimal
from engine.model.decision import Decision, Outcome
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import UnknownPolicyError, find
from engine.policies.common.weighing import Cost, Weighing

__all__ = ["MOST_CANDIDATES", "Optimal", "is_supported", "optimal"]


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
    if decision.group or decision.trace.units:  # it is known only for single pods on one node
        return None
    if decision.safeguard:  # safeguards permit no set, so compare with all sets, as the policy did
        snapshot = snapshot.guarded(None)
    weighing = weigh(snapshot.without_reservation(pod.uid), tree, pod, parameters or {})
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

"""The limit that forbids the eviction of several pods of a node together, although each alone may be evicted."""

from engine.model.columns.node_columns import Flags
from engine.model.decision import JointLimit
from engine.model.objects import Pod
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.queue_usage import UsageChange
from engine.policies.fence.candidates import candidates_on
from engine.policies.fence.node_candidates import NodeCandidates
from engine.policies.fence.victims.other_sets import GuaranteeRules
from engine.policies.fence.victims.victim_selection import nearest_first


def limit_on(
    attempt: PreemptionAttempt, node_candidates: NodeCandidates, may_go: Flags, place: int
) -> JointLimit | None:
    """Return the guarantee or the disruption budget that forbids evicting the candidates of a node together.

    Return None if even all of them don't make enough room. The limit is determined for a minimal set of pods that would
    make enough room if there were no limits: it is the first queue, from the leaves upwards, that can't spare them all,
    otherwise the first budget. ``may_go``: the flags of all candidates.
    """
    on_node = candidates_on(attempt, may_go, place)
    rows = nearest_first(attempt.pod_index, attempt.leaf, on_node)
    rules = GuaranteeRules(attempt, node_candidates.preemptable_amounts, place, rows)
    needed = tuple(map(int, rows))
    if not rules.room(needed):
        return None
    for row in reversed(needed):
        without = tuple(other for other in needed if other != row)
        if rules.room(without):
            needed = without
    pods = [attempt.columns.pods[row] for row in needed]
    return _guarantee(attempt, node_candidates, pods) or _budget(attempt, needed)


def _guarantee(attempt: PreemptionAttempt, node_candidates: NodeCandidates, pods: list[Pod]) -> JointLimit | None:
    pod_index, usage = attempt.pod_index, attempt.usage
    freed = UsageChange.of_pods(pod_index.tree, pods)
    for path in sorted(freed.by_queue, key=lambda path: (-len(pod_index.tree.lineage(path)), path)):
        number = pod_index.number[path]
        for resource, amounts in node_candidates.preemptable_amounts.items():
            held = freed.of(path, resource)
            if held > 0 and held > amounts[number]:
                return JointLimit(
                    queue=path,
                    resource=resource,
                    guaranteed=pod_index.tree[path].guaranteed[resource],
                    used=int(usage.of(usage.for_victims, resource)[number]),
                    left=max(0, int(amounts[number])),
                    held=held,
                )
    return None


def _budget(attempt: PreemptionAttempt, needed: tuple[int, ...]) -> JointLimit | None:
    for limit in attempt.restraints.limits:
        covered = [row for row in needed if row in limit.covered]
        if len(covered) > limit.allowed:
            budget = attempt.restraints.budgets_of(covered[0])  # there is only one: two budgets would exclude the pod
            namespace = attempt.columns.pods[covered[0]].namespace
            return JointLimit(budget=f"{namespace}/{budget}", left=limit.allowed, held=len(covered))
    return None

"""Check that victims respect the safeguards, where these are known: disruption budgets, pauses and the scope."""

from engine.audit.audit_case import AuditCase
from engine.audit.checks import ComparedValues, Invariant, InvariantCheck, Line, Relation, amount, differs, same
from engine.feasibility import matches
from engine.model.objects import DisruptionBudget, Pod
from engine.model.quantities import PODS
from engine.model.snapshot import Snapshot


def budgets_kept(case: AuditCase) -> InvariantCheck:
    """Check that no disruption budget loses more pods than it allows, including pods evicted a moment ago.

    The Eviction API rejects a pod that more than one budget covers.

    Source: the Eviction API of Kubernetes (pkg/registry/core/pod/storage/eviction.go).
    """
    lines, budgets, evicted = list[Line](), case.snapshot.budgets, _evicted(case)
    terminating: list[Pod] | None = None
    for budget in budgets:
        covered = [pod for pod in evicted if _covers(budget, pod)]
        if covered:
            terminating = _expected_to_leave(case.snapshot) if terminating is None else terminating
            before = tuple(1 for pod in terminating if _covers(budget, pod))
            name = f"{budget.namespace}/{budget.name}"
            lines.append(amount(name, PODS, budget.allowed, Relation.AT_LEAST, len(covered), minus=before))
    for pod in evicted:
        names = [budget.name for budget in budgets if _covers(budget, pod)]
        lines += [same(pod.key, ", ".join(names), names[0])] if len(names) > 1 else []
    return InvariantCheck.of(Invariant.BUDGETS, lines)


def _evicted(case: AuditCase) -> list[Pod]:
    """Return the victims that have to be evicted; the others are already terminating."""
    return [pod for pod in case.victims if pod.uid not in case.ledger.leaving_uids]


def _expected_to_leave(snapshot: Snapshot) -> list[Pod]:
    columns = snapshot.columns
    leaving = (columns.pods[row] for row in columns.leaving.tolist())
    return [pod for pod in leaving if pod.deleted_ms is None]


def _covers(budget: DisruptionBudget, pod: Pod) -> bool:
    """Return whether a budget covers a pod; a pod whose eviction was just accepted is counted by the budget already."""
    known = pod.namespace == budget.namespace and pod.name not in budget.disrupted
    return known and matches(budget.expressions, pod.labels)


def pauses_kept(case: AuditCase) -> InvariantCheck:
    """Check that nothing is evicted in, or for, a queue in which evictions are paused."""
    current, lines = case.snapshot.safeguards, list[ComparedValues]()
    for pod in (case.ask, *_evicted(case)) if current and current.paused else ():
        above = case.tree.lineage(pod.queue) if pod.queue is not None and pod.queue in case.tree else ()
        lines += [differs(pod.key, path, path) for path in above if current and path in current.paused]
    return InvariantCheck.of(Invariant.PAUSED, lines)


def scope_kept(case: AuditCase) -> InvariantCheck:
    """Check that the preemptor and all evicted pods are in the namespaces or queues that enforce is limited to."""
    current, lines = case.snapshot.safeguards, list[ComparedValues]()
    if current is None:
        return InvariantCheck.of(Invariant.SCOPE, lines)
    for pod in (case.ask, *_evicted(case)):
        above = case.tree.lineage(pod.queue) if pod.queue is not None and pod.queue in case.tree else ()
        if pod.namespace not in current.namespaces and not set(above) & set(current.queues):
            places = ", ".join((*current.queues, *current.namespaces))
            lines.append(same(pod.key, pod.queue or pod.namespace, places))
    return InvariantCheck.of(Invariant.SCOPE, lines)

"""Calculates which evictions disruption budgets still allow, by the rules of the eviction API.

Source: the Eviction API of Kubernetes (pkg/registry/core/pod/storage/eviction.go).
"""

from collections import Counter
from collections.abc import Hashable, Iterable

from engine.feasibility import matches
from engine.model.objects import DisruptionBudget, Pod
from engine.model.snapshot import Snapshot


class BudgetCoverage:
    """The disruption budgets by the pods they select. A pod that two budgets cover cannot be evicted at all."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._by_namespace: dict[str, list[DisruptionBudget]] = {}
        for budget in snapshot.budgets:
            self._by_namespace.setdefault(budget.namespace, []).append(budget)
        self.covers = tuple(
            (budget.namespace, budget.name, budget.expressions, budget.disrupted) for budget in snapshot.budgets
        )
        """All properties of the budgets that ``kind`` depends on."""
        self._allowed = {(budget.namespace, budget.name): budget.allowed for budget in snapshot.budgets}
        columns = snapshot.columns
        leaving = [columns.pods[row] for row in columns.leaving.tolist()] if snapshot.budgets else []
        # budgets do not count pods that the cluster does not report as terminating yet
        self._promised = self._counted(
            pod for pod in (*leaving, *columns.stray) if pod.terminating and pod.deleted_ms is None
        )

    def covering(self, pod: Pod) -> list[str]:
        """Return the names of the budgets that cover a pod."""
        return [budget.name for budget in self._covering(pod)]

    def kind(self, pod: Pod) -> Hashable:
        """Return a key that is equal for pods which budgets treat alike, or None if no budget covers the pod."""
        covering = self._covering(pod)
        return (
            (pod.namespace, *((budget.name, pod.name in budget.disrupted) for budget in covering)) if covering else None
        )

    def allow(self, pods: Iterable[Pod]) -> bool:
        """Return whether the budgets allow all of these pods to be evicted together."""
        if not self._allowed:
            return True
        found = list(pods)
        if any(len(self._covering(pod)) > 1 for pod in found):
            return False
        counts = self._counted(found)
        return all(count + self._promised[key] <= self._allowed[key] for key, count in counts.items())

    def _counted(self, pods: Iterable[Pod]) -> Counter[tuple[str, str]]:
        return Counter(
            (budget.namespace, budget.name)
            for pod in pods
            for budget in self._covering(pod)
            if pod.name not in budget.disrupted  # its eviction is approved already, and the budget counts it
        )

    def _covering(self, pod: Pod) -> list[DisruptionBudget]:
        budgets = self._by_namespace.get(pod.namespace, ())
        return [budget for budget in budgets if matches(budget.expressions, pod.labels)]

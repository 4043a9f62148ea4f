"""What disruption budgets still allow, as the eviction API counts it."""

from collections import Counter
from collections.abc import Hashable, Iterable

from engine.feasibility import matches
from engine.model.objects import DisruptionBudget, Pod
from engine.model.snapshot import Snapshot


class BudgetCoverage:
    """A budget covers what it selects; a pod of two of them can't be evicted at all."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._by_namespace: dict[str, list[DisruptionBudget]] = {}
        for budget in snapshot.budgets:
            self._by_namespace.setdefault(budget.namespace, []).append(budget)
        self.covers = tuple((one.namespace, one.name, one.expressions, one.disrupted) for one in snapshot.budgets)
        """All that ``kind`` goes by."""
        self._allowed = {(one.namespace, one.name): one.allowed for one in snapshot.budgets}
        columns = snapshot.columns
        leaving = [columns.pods[row] for row in columns.leaving.tolist()] if snapshot.budgets else []
        # those whom the cluster does not show on their way out yet are in no budget's count
        self._promised = self._counted(
            pod for pod in (*leaving, *columns.stray) if pod.terminating and pod.deleted_ms is None
        )

    def covering(self, pod: Pod) -> list[str]:
        """The names of the budgets that cover a pod."""
        return [one.name for one in self._covering(pod)]

    def kind(self, pod: Pod) -> Hashable:
        """The same for pods that no budget tells apart."""
        covering = self._covering(pod)
        return (pod.namespace, *((one.name, pod.name in one.disrupted) for one in covering)) if covering else None

    def allow(self, pods: Iterable[Pod]) -> bool:
        """Whether all of these may go together."""
        if not self._allowed:
            return True
        found = list(pods)
        if any(len(self._covering(pod)) > 1 for pod in found):
            return False
        counts = self._counted(found)
        return all(count + self._promised[key] <= self._allowed[key] for key, count in counts.items())

    def _counted(self, pods: Iterable[Pod]) -> Counter[tuple[str, str]]:
        return Counter(
            (one.namespace, one.name)
            for pod in pods
            for one in self._covering(pod)
            if pod.name not in one.disrupted  # let through a moment ago: counted there
        )

    def _covering(self, pod: Pod) -> list[DisruptionBudget]:
        budgets = self._by_namespace.get(pod.namespace, ())
        return [one for one in budgets if matches(one.expressions, pod.labels)]

"""Which disruption budgets the eviction of units would violate, over the whole cluster.

Source: filterPodGroupsWithPDBViolation of kube-scheduler 1.37: a pod is charged to budgets one after the other, up to
the first one that it violates. The order of budgets is random there, and that of their names here.
"""

from collections.abc import Sequence

import numpy as np

from engine.model.columns.node_columns import Columns, Rows
from engine.model.objects import DisruptionBudget
from engine.model.snapshot.eviction_units import Units
from engine.policies.priority.victims import covered_rows


class BudgetCharges:
    """The budgets that units violate, if they are charged in their order."""

    def __init__(self, columns: Columns, budgets: Sequence[DisruptionBudget], units: Units, leads: Rows) -> None:
        """Charge the units; ``leads``: in order of importance."""
        self.violated: dict[int, str] = {}
        """Row of a pod -> the name of the budget that its eviction would violate."""
        self.pods: dict[int, int] = {}
        """Lead of a unit -> how many of its pods violate a budget; only units that do."""
        covering: dict[int, list[int]] = {}
        among = np.zeros(len(columns.pods), np.bool_)
        among[leads] = True
        for number, budget in enumerate(budgets):
            rows = covered_rows(columns, budget)
            for row in rows[among[units.lead[rows]]].tolist():
                covering.setdefault(row, []).append(number)
        left = [budget.allowed for budget in budgets]
        for lead in self._charged(units, leads, covering):
            for row in units.rows(lead):
                for number in covering.get(row, ()):
                    left[number] -= 1
                    if left[number] < 0:
                        self.violated[row] = budgets[number].name
                        self.pods[lead] = self.pods.get(lead, 0) + 1
                        break

    def _charged(self, units: Units, leads: Rows, covering: dict[int, list[int]]) -> list[int]:
        """Return the units with a covered pod, in their order."""
        of_covered = np.unique(units.lead[np.array(list(covering), np.intp)]) if covering else np.zeros(0, np.intp)
        charged: list[int] = leads[np.isin(leads, of_covered)].tolist()
        return charged

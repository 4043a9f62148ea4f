"""Which disruption budgets the eviction of units would violate, over the whole cluster."""

from collections.abc import Sequence

import numpy as np

from engine.model.columns.node_columns import Columns, Rows
from engine.model.objects import DisruptionBudget
from engine.model.snapshot.eviction_units import Units
from engine.policies.priority.unit_victims import CoveringBudgets


def violations(
    columns: Columns, budgets: Sequence[DisruptionBudget], units: Units, leads: Rows
) -> dict[int, dict[int, str]]:
    """Return the pods (rows) of each unit (lead) that violate a budget, with its name; units without any are left out.

    ``leads``: the units in order of importance, in which they use up the budgets.

    Source: filterPodGroupsWithPDBViolation of kube-scheduler 1.37.
    """
    covering = CoveringBudgets(columns, budgets)
    left = covering.allowances()
    covered = leads[np.isin(leads, covering.leads(units))].tolist()
    charged = {lead: covering.charge(units.rows(lead), left) for lead in covered}
    return {lead: over for lead, over in charged.items() if over}

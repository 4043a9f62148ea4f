"""What may still be taken together for a gang: from queues (invariant 2), under disruption budgets, and under a max.

Source: rules 2 and 5 of YuniKorn's design document "Preemption"; that they hold for the sum of all victims and all
members of a gang is this product's own reading.
"""

from engine.model.quantities import Amounts
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.max_amounts import MaxAmounts
from engine.policies.common.groups.units import UnitAllowances
from engine.policies.fence.groups.units import Unit
from engine.policies.fence.preemptable_amounts import AmountsByQueue


class Allowances(UnitAllowances[Unit]):
    """The amounts that are left, updated as members are placed and units taken."""

    def __init__(self, attempt: PreemptionAttempt, amounts: AmountsByQueue) -> None:
        """Begin with nobody placed. ``amounts``: what may be preempted once all members are."""
        tree = attempt.tree
        self._amounts = amounts
        self._taken: dict[tuple[int, str], int] = {}
        self._budgets = [limit.allowed for limit in attempt.restraints.limits]
        self._max = MaxAmounts(tree, attempt.leaf, attempt.used)

    def ask(self, requests: Amounts, times: int = 1) -> None:
        self._max.ask(requests, times)

    def under_max(self) -> bool:
        return not self._max.exceeded()

    def allows(self, unit: Unit) -> bool:
        """Return whether a unit may go too, by invariant 2 and the disruption budgets."""
        for (number, resource), held in unit.held.items():
            if self._taken.get((number, resource), 0) + held > self._amounts[resource][number]:
                return False
        return all(covered <= self._budgets[number] for number, covered in unit.budgets.items())

    def take(self, unit: Unit, times: int = 1) -> None:
        for which, held in unit.held.items():
            self._taken[which] = self._taken.get(which, 0) + times * held
        for number, covered in unit.budgets.items():
            self._budgets[number] -= times * covered
        self._max.take(unit.capped, times)

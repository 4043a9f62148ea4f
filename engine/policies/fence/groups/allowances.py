"""What may still be taken together for a gang: from queues (invariant 2), under disruption budgets, and under a max.

Source: rules 2 and 5 of YuniKorn's design document "Preemption"; that they hold for the sum of all victims and all
members of a gang is this product's own reading.
"""

from engine.model.quantities import Amounts
from engine.policies.common.attempt import PreemptionAttempt
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
        self._over = {
            (path, resource): attempt.used(path, resource) - cap
            for path in tree.lineage(attempt.leaf)[1:]
            for resource, cap in tree[path].max.items()
        }
        """Queue above the members and resource with a max -> by how much it is exceeded; negative: what is left."""
        self._asked = dict.fromkeys(self._over, 0)

    def ask(self, requests: Amounts, times: int = 1) -> None:
        """Count what a member requests, or no longer (``times`` -1)."""
        for path, resource in self._over:
            amount = times * requests.get(resource, 0)
            self._over[path, resource] += amount
            self._asked[path, resource] += amount

    def under_max(self) -> bool:
        """Return whether the members fit under every max above them. One that they do not ask for does not matter."""
        return all(over <= 0 or self._asked[which] <= 0 for which, over in self._over.items())

    def allows(self, unit: Unit) -> bool:
        """Return whether a unit may go too, by invariant 2 and the disruption budgets."""
        for (number, resource), held in unit.held.items():
            if self._taken.get((number, resource), 0) + held > self._amounts[resource][number]:
                return False
        return all(covered <= self._budgets[number] for number, covered in unit.budgets.items())

    def take(self, unit: Unit, times: int = 1) -> None:
        """Count a unit as evicted, or no longer (``times`` -1)."""
        for which, held in unit.held.items():
            self._taken[which] = self._taken.get(which, 0) + times * held
        for number, covered in unit.budgets.items():
            self._budgets[number] -= times * covered
        for limit, held in unit.capped.items():
            self._over[limit] -= times * held

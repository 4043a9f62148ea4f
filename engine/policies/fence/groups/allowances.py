"""What may still be taken together for a gang: from queues (invariant 2), under disruption budgets, and under a max.

Source: rules 2 and 5 of YuniKorn's design document "Preemption"; that they hold for the sum of all victims and all
members of a gang is this product's own reading.
"""

from functools import cached_property

import numpy as np

from engine.model.quantities import Amounts
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.max_amounts import MaxAmounts
from engine.policies.common.groups.units import UnitAllowances
from engine.policies.fence.groups.units import Unit
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue


class Allowances(UnitAllowances[Unit]):
    """The amounts that are left, updated as members are placed and units taken."""

    def __init__(self, attempt: PreemptionAttempt, amounts: AmountsByQueue) -> None:
        """Begin with nobody placed. ``amounts``: what may be preempted once all members are."""
        tree = attempt.tree
        self._amounts = {resource: of_queues.tolist() for resource, of_queues in amounts.items()}
        self._at_first, self._pod_index = amounts, attempt.pod_index
        self._taken: dict[tuple[int, str], int] = {}
        self._limits = attempt.restraints.limits
        self._budgets = [limit.allowed for limit in self._limits]
        self._columns = attempt.columns
        self._max = MaxAmounts(tree, attempt.leaf, attempt.used)

    def ask(self, requests: Amounts, times: int = 1) -> None:
        self._max.ask(requests, times)

    def under_max(self) -> bool:
        return not self._max.exceeded()

    def excess(self, requests: Amounts) -> tuple[int, ...]:
        """Return by how much a further member would exceed each max above; 0 for one that no member asks for."""
        return self._max.excess(requests)

    def allows(self, unit: Unit) -> bool:
        """Return whether a unit may go too, by invariant 2 and the disruption budgets."""
        for (number, resource), held in unit.held.items():
            if self._taken.get((number, resource), 0) + held > self._amounts[resource][number]:
                return False
        return all(covered <= self._budgets[number] for number, covered in unit.budgets.items())

    def left(self) -> dict[str, list[int]]:
        """Return, for each guaranteed resource, by queue number, how much more the queue may lose."""
        left = {resource: of_queues.copy() for resource, of_queues in self._amounts.items()}
        for (number, resource), held in self._taken.items():
            if resource in left:
                left[resource][number] -= held
        return left

    @property
    def may_bind(self) -> bool:
        """Return whether what was taken may be the reason that pods of one node may not go together."""
        return self._queues_may_bind or any(
            left < limit.allowed and left < most
            for limit, left, most in zip(self._limits, self._budgets, self._most_covered, strict=True)
        )

    @property
    def _queues_may_bind(self) -> bool:
        """Return whether some queue may lose less than it could have lost, and less than its pods hold on a node."""
        left: AmountsByQueue = {}
        for (number, resource), held in self._taken.items():
            if resource in self._amounts and held > 0:
                if resource not in left:
                    amounts = self._at_first[resource]
                    left[resource] = np.full_like(amounts, self._pod_index.limitless(amounts))
                left[resource][number] = self._amounts[resource][number] - held
        return any(self._pod_index.exceeds_on_a_node(resource, amounts).any() for resource, amounts in left.items())

    @cached_property
    def _most_covered(self) -> list[int]:
        """Return, for each limit of disruption budgets, how many pods it covers on one node at most."""
        return [int(np.bincount(self._columns.node[limit.covered]).max(initial=0)) for limit in self._limits]

    def take(self, unit: Unit, times: int = 1) -> None:
        for which, held in unit.held.items():
            self._taken[which] = self._taken.get(which, 0) + times * held
        for number, covered in unit.budgets.items():
            self._budgets[number] -= times * covered
        self._max.take(unit.capped, times)

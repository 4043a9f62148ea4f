"""What may still be taken together for a gang: by what is reserved, by disruption budgets, and under hard limits.

Source: the section on preemption of the proposal of k8s-arbitrator; that it holds for the sum of all victims and all
members of a gang is this product's own reading.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.policies.common.groups.max_amounts import MaxAmounts
from engine.policies.common.groups.units import UnitAllowances
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.budget_coverage import BudgetCoverage
from engine.policies.deserved.groups.units import ReclaimUnit
from engine.policies.deserved.shares.balances import ShareBalances

Held = dict[tuple[str, str], int]


class ReclaimAllowances(UnitAllowances[ReclaimUnit]):
    """What queues use as members are placed and units taken, and what is left of every limit."""

    def __init__(self, attempts: Iterable[ReclaimAttempt], budgets: BudgetCoverage) -> None:
        """Begin with nobody placed. ``attempts``: one for all members that are alike."""
        self._balances = {frozenset(attempt.wanted): ShareBalances(attempt) for attempt in attempts}
        """Requested resources -> what queues use, with the order in which they give these."""
        self._any = next(iter(self._balances.values()))
        attempt = self._any.attempt
        self._budgets = budgets
        self._tree = attempt.tree
        self._max = MaxAmounts(attempt.tree, attempt.leaf, attempt.share_statuses.used)
        self._taken: dict[int, ReclaimUnit] = {}
        self._capped: dict[int, Held] = {}

    def balances(self, attempt: ReclaimAttempt) -> ShareBalances:
        """Return what queues use now, for one of the attempts."""
        return self._balances[frozenset(attempt.wanted)]

    def ask(self, requests: Amounts, times: int = 1) -> None:
        self._max.ask(requests, times)

    def under_max(self) -> bool:
        return not self._max.exceeded()

    @property
    def capped(self) -> bool:
        """Return whether anything is limited above the members."""
        return self._max.any

    def relieves(self, unit: ReclaimUnit) -> bool:
        """Return whether a unit holds some of what exceeds a hard limit."""
        return any(self._held(unit).get(which, 0) > 0 for which in self._max.exceeded())

    def allows(self, unit: ReclaimUnit) -> bool:
        """Return whether reserved amounts and disruption budgets allow a unit to go too."""
        return self._keeps_reserved(unit) and self._budgets.allow(chain(self._pods(), unit.victims))

    def _pods(self) -> Iterable[Pod]:
        return (pod for unit in self._taken.values() for pod in unit.victims)

    def _keeps_reserved(self, unit: ReclaimUnit) -> bool:
        given, keeps = list[tuple[str, Amounts]](), True
        for queue, held in unit.held.items():
            keeps = keeps and not self._any.below_reserved_without(queue, held)
            if len(unit.held) > 1:
                self._any.give_amounts(queue, held)
                given.append((queue, held))
        for queue, held in given:
            self._any.give_amounts(queue, held, -1)
        return keeps

    def take(self, unit: ReclaimUnit, times: int = 1) -> None:
        for balances in self._balances.values():
            for queue, held in unit.held.items():
                balances.give_amounts(queue, held, times)
        if self.capped:
            self._max.take(self._held(unit), times)
        if times > 0:
            self._taken[unit.lead] = unit
        else:
            del self._taken[unit.lead]

    def _held(self, unit: ReclaimUnit) -> Held:
        """Return what a unit holds in the queues above the members of what is limited there."""
        if unit.lead not in self._capped:
            held = Counter[tuple[str, str]]()
            for queue, requests in unit.held.items():
                held.update(self._max.held_by(self._tree, queue, requests))
            self._capped[unit.lead] = held
        return self._capped[unit.lead]

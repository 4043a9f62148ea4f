"""How a policy weighs sets of victims, so that the least set can be searched for."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.feasibility import Feasibility
from engine.feasibility.checks import AmountCheck
from engine.model.columns.node_columns import Columns

Cost = tuple[int, ...]
"""What a set is compared by: the least wins, the first difference decides."""
Bound = Callable[[int], Cost]
"""Place -> a cost that no set there is below."""


class NeededAmount(NamedTuple):
    """An amount, and what each of some candidates holds of it."""

    weights: Sequence[int]
    amount: int


class Weighing(ABC):
    """One ask under one policy: who may go, when that is enough, and what it costs."""

    columns: Columns
    feasibility: Feasibility
    parts: tuple[str, ...]
    """What the parts of a cost are called."""
    nothing: Cost
    """The cost of the empty set."""
    levels: tuple[int, ...]
    """The parts that a set has no less of than any pod in it."""
    ties: int
    """The number of last parts that only order pods which are alike otherwise: the cheaper one is evicted."""

    @property
    def limits(self) -> list[AmountCheck]:
        """Return the limits that say by themselves how much has to be freed; the others need a whole set."""
        return [limit for limit in self.feasibility.limits if not limit.mends and limit.unless is None]

    @abstractmethod
    def places(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the nodes where evictions might help; the policy's own comes first, so that others are pruned."""

    @abstractmethod
    def bound(self) -> Bound:
        """Return a lower bound of the cost of every set on a node; it is requested once."""

    @abstractmethod
    def candidates(self, place: int) -> Sequence[int]:
        """Return the rows of the pods that may be evicted from a node."""

    def leaving(self, place: int) -> Sequence[str]:
        """Return the uids of the pods that leave a node in any case and are no candidates."""
        del place
        return ()

    @abstractmethod
    def needs(self, place: int, rows: Sequence[int]) -> list[NeededAmount]:
        """Return the amounts of which some have to be freed on a node, as far as limits say so one by one."""

    def spares(self, rows: Sequence[int]) -> list[NeededAmount]:
        """Return the amounts of which at most a given amount may be freed."""
        del rows
        return []

    @abstractmethod
    def alone(self, row: int) -> Cost:
        """Return the cost of evicting one pod."""

    @abstractmethod
    def together(self, cost: Cost, one: Cost) -> Cost:
        """Return a set's cost with one more pod in it, which is never lower than before."""

    @abstractmethod
    def at_least(self, cost: Cost, more: int, least: Cost, levels: Sequence[int]) -> Cost:
        """Return a lower bound of a set's cost with ``more`` pods, none below ``least``, some at each of ``levels``."""

    def readable(self, cost: Cost) -> Cost:
        """Return a cost as people read it."""
        return cost

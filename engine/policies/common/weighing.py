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
    """So many parts, the last ones, tell pods apart that are otherwise alike: of those the cheaper one goes."""

    @property
    def limits(self) -> list[AmountCheck]:
        """Those that tell by themselves how much has to go; the others are held against a whole set."""
        return [limit for limit in self.feasibility.limits if not limit.mends and limit.unless is None]

    @abstractmethod
    def places(self) -> tuple[Sequence[int], Sequence[int]]:
        """Where evictions might help: first what the policy would take, so that the others are soon given up."""

    @abstractmethod
    def bound(self) -> Bound:
        """What a set on a node costs at least; asked for once."""

    @abstractmethod
    def candidates(self, place: int) -> Sequence[int]:
        """The rows of the pods that may go from a node."""

    def leaving(self, place: int) -> Sequence[str]:
        """The uids of those that are no candidates and go in any case."""
        del place
        return ()

    @abstractmethod
    def needs(self, place: int, rows: Sequence[int]) -> list[NeededAmount]:
        """Of each at least so much has to go, as far as that can be told line by line."""

    def spares(self, rows: Sequence[int]) -> list[NeededAmount]:
        """Of each at most so much may go."""
        del rows
        return []

    @abstractmethod
    def alone(self, row: int) -> Cost:
        """What one pod costs."""

    @abstractmethod
    def together(self, cost: Cost, one: Cost) -> Cost:
        """A set's cost with one more in it; it is never less than before."""

    @abstractmethod
    def at_least(self, cost: Cost, more: int, least: Cost, levels: Sequence[int]) -> Cost:
        """A set's cost with so many more, none below ``least`` in any part, and some one at each of the ``levels``."""

    def told(self, cost: Cost) -> Cost:
        """The same as people read it."""
        return cost

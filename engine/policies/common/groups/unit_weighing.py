"""How a policy weighs sets of units that are evicted for pods placed together, so that the least set can be found."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from engine.model.columns.node_columns import Columns
from engine.model.objects import Pod
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.victim_search import SetRules
from engine.policies.common.weighing import Cost


class WeighedUnit(Protocol):
    """Pods that are evicted together, and what that costs by itself."""

    @property
    def rows(self) -> tuple[int, ...]:
        """Return the rows of the pods."""

    @property
    def cost(self) -> Cost:
        """Return what the eviction costs, in the parts of the weighing."""


class NodeShares(NamedTuple):
    """What has to be freed on a node, and what each unit frees there."""

    missing: tuple[int, ...]
    """For each limit, by how much it is exceeded if nothing is evicted; negative: what is left."""
    freed: Mapping[int, tuple[int, ...]]
    """Number of a unit -> what it frees of each limit."""
    costs: Mapping[int, Cost]
    """Number of a unit -> what the eviction of its pods on this node costs at least."""


class UnitRules(SetRules, Protocol):
    """The rules for sets of units, each given by its number, that make room for members on their nodes."""

    @property
    def units(self) -> Sequence[WeighedUnit]:
        """Return the units on these nodes, the most expendable first."""

    def shares(self) -> "Iterable[NodeShares]":
        """Return what the units free on each node, and what is missing there; only where members are ``monotone``."""

    def near(self, rows: tuple[int, ...]) -> bool:
        """Return whether each unit of a set is needed by a member on one of the unit's own nodes, or under a max."""


class MembersToPlace(ABC):
    """Pods that all need a node."""

    members: Sequence[Pod]
    placed: Placed
    """Others that have a node without any eviction."""
    nodes: Sequence[Sequence[int]]
    """For each member, the nodes (by index) that it may get."""
    number_of_units: int
    """How many units may be evicted on these nodes."""
    monotone: bool
    """Whether evictions and members elsewhere make no difference to a member, and more evictions never harm it."""

    @abstractmethod
    def alike(self, one: int, other: int) -> bool:
        """Return whether two members (by number) differ in identity alone."""

    @abstractmethod
    def rules(self, places: Sequence[int]) -> UnitRules:
        """Return the rules with the first members on some nodes. Without the others, they only allow more."""


class UnitWeighing(ABC):
    """One decision about pods that are placed together, or for which whole groups may be evicted."""

    columns: Columns
    parts: tuple[str, ...]
    """What the parts of a cost are called."""
    nothing: Cost
    """The cost of the empty set."""
    largest: tuple[int, ...]
    """The parts of a set's cost that are the largest of its units; the others are sums."""

    @abstractmethod
    def choices(self) -> Iterator[MembersToPlace]:
        """Yield the members that could be served together, each choice of them by itself."""

    def together(self, cost: Cost, one: Cost) -> Cost:
        """Return a set's cost with one more unit in it, which is never lower than before."""
        pairs = enumerate(zip(cost, one, strict=True))
        return tuple(max(had, more) if part in self.largest else had + more for part, (had, more) in pairs)

    @abstractmethod
    def units_of(self, rows: Iterable[int]) -> Sequence[WeighedUnit]:
        """Return the units of some pods (rows)."""

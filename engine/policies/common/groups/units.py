"""Running pods that are evicted together, as policies weigh them: a pod alone, or a whole group."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import UnitFacts
from engine.model.quantities import Amounts
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import Units, group_of, is_whole
from engine.policies.common.attempt import PreemptionAttempt

_IN_FULL = 100
"""The number of whole groups that a trace names one by one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EvictionUnit:
    """Running pods that are evicted together."""

    lead: int
    rows: tuple[int, ...]
    places: tuple[int, ...]
    """The index of the node of each of them."""

    @cached_property
    def pods(self) -> list[tuple[int, int]]:
        """Return the row of each pod with the index of its node."""
        return list(zip(self.rows, self.places, strict=True))

    def on(self, place: int) -> list[tuple[int, int]]:
        """Return the same of the pods on one node (by index)."""
        return self.pods if len(self.rows) == 1 else [pod for pod in self.pods if pod[1] == place]


AnyUnit = TypeVar("AnyUnit", bound=EvictionUnit)


class UnitsByNode(Protocol[AnyUnit]):
    """The units that may be evicted, each considered by itself."""

    @property
    def attempt(self) -> PreemptionAttempt:
        """Return an attempt of one of the members."""

    @property
    def may_go(self) -> Flags:
        """Return, by row, whether the pod may go, with all of its unit."""

    def on(self, places: Iterable[int]) -> list[AnyUnit]:
        """Return the units with a pod on one of some nodes, the most expendable first."""


class UnitAllowances(ABC, Generic[AnyUnit]):
    """What may still be taken together for a gang, updated as members are placed and units taken."""

    @abstractmethod
    def ask(self, requests: Amounts, times: int = 1) -> None:
        """Count what a member requests, or no longer (``times`` -1)."""

    @abstractmethod
    def under_max(self) -> bool:
        """Return whether the members fit under every max above them. One that they do not ask for does not matter."""

    @abstractmethod
    def allows(self, unit: AnyUnit) -> bool:
        """Return whether a unit may go too."""

    @abstractmethod
    def take(self, unit: AnyUnit, times: int = 1) -> None:
        """Count a unit as evicted, or no longer (``times`` -1)."""

    def allow_all(self, units: Iterable[AnyUnit]) -> bool:
        """Return whether units may go together, beside those that were taken."""
        allowed, taken = True, list[AnyUnit]()
        for unit in units:
            allowed = allowed and self.allows(unit)
            self.take(unit)
            taken.append(unit)
        for unit in taken:
            self.take(unit, -1)
        return allowed


def staying_whole(snapshot: Snapshot, units: Units, stays: Flags) -> Rows:
    """Return the leads of whole groups of which a pod stays. ``stays``: whether a pod (by row) may not go by itself.

    A group stays as well if a pod of it is on no known node.
    """
    columns = snapshot.columns
    elsewhere = (group_of(snapshot, pod) for pod in columns.stray if not pod.terminating)
    lost = [units.members(group) for group in elsewhere if group is not None and is_whole(group)]
    rows = np.flatnonzero(units.whole & ~columns.terminating & stays)
    return np.unique(units.lead[np.concatenate([rows, *lost])])


def unit_facts(
    snapshot: Snapshot, units: Units, rows: Iterable[int], may_go: Flags, *, evicted: bool
) -> Iterator[UnitFacts]:
    """Yield the whole groups among some pods (rows), with those of their pods that may go."""
    columns = snapshot.columns
    leads = dict.fromkeys(int(units.lead[row]) for row in rows if units.whole[row])
    for _, lead in zip(range(_IN_FULL), leads, strict=False):
        pod = columns.pods[lead]
        yield UnitFacts(
            group=f"{pod.namespace}/{pod.scheduling_group}",
            priority=int(units.priority[lead]),
            pods=tuple(columns.pods[row].uid for row in units.rows(lead) if may_go[row]),
            evicted=evicted,
        )

"""Define a counterfactual: one change, and the decision that follows from it."""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from engine.model.change import Change
from engine.model.decision import Decision
from engine.model.quantities import Amounts


class Then(StrEnum):
    """The result that a change would have."""

    FITS = "fits"
    """A node has room for the pending pod without any eviction."""
    NO_VIOLATION = "no-violation"
    """All victims are within their disruption budgets."""
    SPARED = "spared"
    """A victim is kept."""


class Counterfactual(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest change of one kind, and the node and victims that would be chosen with it."""

    then: Then
    change: Change
    smaller: Amounts = {}
    """For changes ``request``, ``group-request`` and ``own-request``: the reduction of each resource's request."""
    pod: str = ""
    """For change ``priority``: the pod whose priority changes, as ``namespace/name``."""
    group: str | UnsetType = UNSET
    """For change ``group-priority``: the group whose priority changes, as ``namespace/name``."""
    members: int | UnsetType = UNSET
    """For change ``members``: the number of pods that would have to run at once."""
    priority: int | None = None
    """For changes ``priority`` and ``group-priority``: the new priority."""
    budgets: dict[str, int] = {}
    """For change ``budget``: ``namespace/name`` -> the number of disruptions that the budget would have to allow."""
    queue: str = ""
    """For changes ``guarantee`` and ``weight``: the path of the queue whose settings change."""
    amounts: Amounts = {}
    """For change ``guarantee``: the new amount of each resource that changes."""
    more: Amounts = {}
    """For change ``guarantee``: the increase of each resource that changes."""
    unkept: str = ""
    """The nearest queue, from the changed queue upward, whose guarantee or max forbids the change; empty if none."""
    weight: int | None = None
    """For change ``weight``: the new weight, in billionths."""
    started_ms: int | None = None
    """For change ``start``: the latest start that is early enough, in milliseconds since 1970."""
    node: str = ""
    """The node that would be chosen; empty if none would be."""
    victims: tuple[str, ...] = ()
    """The pods that would be evicted, as ``namespace/name``."""
    spared: str = ""
    """For result ``spared``: the victim that would be kept, as ``namespace/name``."""

    @classmethod
    def of(cls, again: Decision, then: Then, change: Change, **changed: Any) -> "Counterfactual":
        """Return a counterfactual with the node and victims of the decision ``again``."""
        victims = tuple(one.pod.key for one in again.victims)
        return cls(then=then, change=change, node=again.node or "", victims=victims, **changed)

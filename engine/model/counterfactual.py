"""One change, and what follows from it."""

from enum import StrEnum
from typing import Any

import msgspec

from engine.model.change import Change
from engine.model.decision import Decision
from engine.model.quantities import Amounts


class Then(StrEnum):
    """What there would be with the change."""

    FITS = "fits"
    """A node has room for the ask without any eviction."""
    NO_VIOLATION = "no-violation"
    """All victims are within their disruption budgets."""
    SPARED = "spared"
    """A victim stays."""


class Counterfactual(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest change of one kind, and the node and victims that would be chosen with it."""

    then: Then
    change: Change
    smaller: Amounts = {}
    """Of changes ``request`` and ``own-request``: by how much less of each resource."""
    pod: str = ""
    """Of change ``priority``: whose, as ``namespace/name``."""
    priority: int | None = None
    """And which it would have to be."""
    budgets: dict[str, int] = {}
    """Of change ``budget``: by ``namespace/name``, how many each would have to allow."""
    queue: str = ""
    """Of changes ``guarantee`` and ``weight``: the path of the queue that would be set otherwise."""
    amounts: Amounts = {}
    """And to how much of which resource."""
    more: Amounts = {}
    """By how much that is more than it was."""
    unkept: str = ""
    """And the nearest queue, from it upwards, whose guarantee or max does not allow for that; empty: none."""
    weight: int | None = None
    """Of change ``weight``: what it would have to be, in billionths."""
    started_ms: int | None = None
    """Of change ``start``: the latest start early enough, in milliseconds since 1970."""
    node: str = ""
    """Empty: none would be found."""
    victims: tuple[str, ...] = ()
    """``namespace/name`` of those who would go."""
    spared: str = ""
    """Then ``spared``: the victim meant, as ``namespace/name``."""

    @classmethod
    def of(cls, again: Decision, then: Then, change: Change, **changed: Any) -> "Counterfactual":
        """With the node and victims of what was decided ``again``."""
        victims = tuple(one.pod.key for one in again.victims)
        return cls(then=then, change=change, node=again.node or "", victims=victims, **changed)

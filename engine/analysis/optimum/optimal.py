"""Define the report of the least costly victims."""

import msgspec


class Optimal(msgspec.Struct, frozen=True, kw_only=True):
    """The least costly set of victims, and how far the policy's own set is from it."""

    node: str = ""
    """The victims' node; empty if no set was found, although not all nodes were searched."""
    victims: tuple[str, ...] = ()
    """The victims as ``namespace/name``, most important first."""
    pdb_violations: int | None = None
    """Number of disruption budget violations, which only policy ``priority`` counts."""
    same: bool = False
    """Whether no set was found that costs less than the policy's own victims; if so, ``victims`` are these."""
    distance: dict[str, int] = {}
    """How much more the policy's own victims cost, by cost part, in the order in which the policy compares; equal
    parts are left out. The first part decides. Empty if the policy found no victims."""
    left_out: tuple[str, ...] = ()
    """Nodes without a result: they have too many candidates, or the search took too long."""
    nodes: dict[str, str] = {}
    """The nodes of the members of a gang, by ``namespace/name``; they need no eviction or the ``victims`` go for them.
    Empty for a single pod."""
    none: bool = False
    """Whether it is sure that no permitted set makes room, which is known for gangs and where whole groups may go."""
    too_many: dict[str, int] = {}
    """What a gang has too many of to be searched: ``members`` that need evictions, or ``units`` that may go."""
    unfinished: bool = False
    """Whether the search for a gang took too long, so that a lesser set may exist."""

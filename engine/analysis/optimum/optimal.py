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

"""What is told of the least victims."""

import msgspec


class Optimal(msgspec.Struct, frozen=True, kw_only=True):
    """The least set of victims, and how far the policy's own is from it."""

    node: str = ""
    """Empty where no set was found, though not all nodes were searched."""
    victims: tuple[str, ...] = ()
    """``namespace/name``, most important first."""
    pdb_violations: int | None = None
    """Of policy ``priority`` alone: no other counts them."""
    same: bool = False
    """Whether the policy's own victims cost no more than any that were found; then these are they."""
    distance: dict[str, int] = {}
    """What the policy's own have more of, by what the policy compares sets by. Of those that differ, the first decides;
    empty where the policy found none."""
    left_out: tuple[str, ...] = ()
    """Nodes on which it was not worked out: too many pods that may go, or too long a search."""

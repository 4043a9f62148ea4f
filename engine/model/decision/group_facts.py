"""What a decision records where pods are placed together, or evicted together: the group, its nodes, and the units."""

import msgspec


class GroupFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of pods that is decided as a whole, and where its members get a node."""

    namespace: str
    name: str
    uid: str = ""
    priority: int
    needed: int
    """How many of its pods must have a node before any of them is bound."""
    bound: int = 0
    """How many had one already."""
    nodes: dict[str, str] = {}
    """Uid of a member that gets a node -> the node, in the order in which they were placed."""
    scheduled: int = 0
    """How many members would have a node, those that had one included."""
    untried: int = 0
    """How many had not been tried when it was clear that too few would have one."""
    spared: int = 0
    """How many running pods of lower priority on these nodes may stay after all."""

    @property
    def key(self) -> str:
        """Return the group's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class UnitFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The running pods of a group that are evicted together, or stay together."""

    group: str
    """``namespace/name``."""
    priority: int
    pods: tuple[str, ...]
    """Their uids."""
    evicted: bool
    violations: int = 0
    """How many of its pods exceed a disruption budget."""

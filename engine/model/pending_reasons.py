"""What an ask that waits has to pass, tier by tier, and what would let it through."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec

from engine.model.change import Change
from engine.model.decision import JointLimit, ReclaimNotice
from engine.model.quantities import Amounts

NODES = "nodes"
"""In place of a resource: how many nodes could take the ask."""
BORROWS, FLAVORS = "borrows", "flavors"
"""What shuts the quota that is left: its queue would have to borrow, or no flavor suits its pods."""
WORKLOADS = "workloads"
"""In place of a resource: how many of Kueue's workloads may go for the ask."""


class TierName(StrEnum):
    """In the order in which they are told."""

    CONSIDERED = "considered"
    """Of Kueue's workloads: whether its queues let it be considered at all."""
    HARD = "hard"
    """Of policy ``deserved``: the hard cap of the ask's leaf and of every queue above."""
    DESERVED = "deserved"
    """Of policy ``deserved``: with the ask its queue uses no more than it deserves."""
    OVERUSED = "overused"
    """Of policy ``deserved``: whether preemption reaches a queue that uses more than it deserves of what is asked."""
    QUOTA = "quota"
    """The max of the ask's leaf and of every queue above."""
    GUARANTEE = "guarantee"
    """What is left of the guarantees that it may claim (law 4)."""
    FENCE = "fence"
    """Whom preemption reaches for it, whatever the priorities: fence, opt-outs, and what queues can spare."""
    MOST = "most"
    """Of policies that give quota: what the ask's queue could have if nobody else used any."""
    PRIORITY = "priority"
    """Who of those may go for an ask of its priority."""
    GIVING = "giving"
    """Of policy ``deserved``: who of all may go, with what is reserved for others left alone."""
    GRACE = "grace"
    """Of policy ``deserved``: whether those who would go for it had their time to give back; it passes by itself."""
    NODE = "node-fit"
    """Whether there is a node that has room, or where those who may go make it."""
    LEFT = "left"
    """Of policies that give quota: what its queue could have now, or once those are gone who may go."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One amount that a tier asks for."""

    where: str = ""
    """The path of the queue, or the node, that the amount is of; empty: the whole cluster."""
    resource: str
    required: int
    available: int
    """Less than nothing where more is used already than there is."""
    evictable: int = 0
    """So much more evictions could make available there."""

    @property
    def missing(self) -> int:
        """How much is not there, nor can be made; 0 where the tier lets the ask through."""
        return max(0, self.required - self.available - self.evictable)


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that preemption reaches."""

    queue: str
    pods: int
    """So many of its pods could go, were it not for their priority."""
    spare: Amounts
    """Of what is asked, how much may be taken from it before a guarantee breaks."""


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """A change that lets the ask through a tier: made, and judged again."""

    change: Change
    smaller: Amounts = {}
    """Of change ``request``: by how much less of each resource."""
    queues: dict[str, Amounts] = {}
    """Of changes ``max``, ``hard``, ``guarantee``, ``less-guaranteed`` and ``reserved``: path -> what it would have to
    be; of ``fence`` the queue alone."""
    unkept: str = ""
    """Of change ``guarantee``: the nearest queue upwards whose own one or max does not allow for that; empty: none."""
    priority: int | None = None
    """Of change ``priority``: the lowest that does."""
    enough: bool = False
    """Whether the ask then gets room, so that nothing else is in its way."""


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that an ask has to pass."""

    name: TierName
    passes: bool
    """Whether it lets the ask through: nothing is missing."""
    needs: tuple[Need, ...] = ()
    shut: str = ""
    """What shuts it: the leaf without any guarantee, the queue that disables preemption, the class that says Never.

    Of tier ``considered`` one of engine.policies.cohort.Inadmissible, of tier ``left`` BORROWS or FLAVORS."""
    reached: tuple[Reached, ...] = ()
    """Of tiers ``fence`` and ``overused``, the queues with pods that could go, in the tree's order."""
    held: Amounts = {}
    """Of tiers ``priority`` and ``giving``, what those who may go hold of what is asked."""
    staying: dict[str, int] = {}
    """Of tier ``giving``, why others of those queues stay: PodReason -> number of pods."""
    notices: tuple[ReclaimNotice, ...] = ()
    """Of tier ``grace``, who still has time to give back; the queue is empty where it is not told."""
    soon: bool = False
    """Of tier ``node-fit``, whether there is room only once pods on their way out are gone."""
    limited: str = ""
    """Of tier ``node-fit``, the node where those who may go one by one would make the room together."""
    limit: JointLimit | None = None
    """What stops them from going together there."""
    refusing: dict[str, int] = {}
    """Of tier ``node-fit``, why nodes can't take it: NodeReason -> number of nodes."""
    remedies: tuple[Remedy, ...] = ()
    """Where it does not let the ask through: each alone gets it past this tier; the nearest first."""

    @classmethod
    def of(cls, name: TierName, needs: Iterable[Need], **rest: Any) -> "Tier":
        """Shut where anything is missing."""
        found = tuple(needs)
        return cls(name=name, passes=not any(need.missing for need in found), needs=found, **rest)


class Ahead(msgspec.Struct, frozen=True, kw_only=True):
    """How many asks a pass considers before this one."""

    cluster: int
    queue: int
    """Of those, how many are of its own queue."""


class PendingReasons(msgspec.Struct, frozen=True, kw_only=True):
    """Why an ask waits."""

    tiers: tuple[Tier, ...]
    """In the order of TierName; those that the policy doesn't have are left out, all but the last where a node has
    room anyway."""
    ahead: Ahead
    together: bool = False
    """Whether the ask gets room with the first remedy of every tier that refuses, all of them together."""

    @property
    def refusing(self) -> tuple[Tier, ...]:
        """The tiers that do not let it through."""
        return tuple(tier for tier in self.tiers if not tier.passes)

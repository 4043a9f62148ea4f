"""Define what a pending pod has to pass, tier by tier, and the remedies that would let it pass."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec

from engine.model.change import Change
from engine.model.decision import JointLimit, ReclaimNotice
from engine.model.quantities import Amounts

NODES = "nodes"
"""Used in place of a resource: the number of nodes that could take the pending pod."""
BORROWS, FLAVORS = "borrows", "flavors"
"""Why the remaining quota cannot be used: the queue would have to borrow, or no flavor suits the pods."""
WORKLOADS = "workloads"
"""Used in place of a resource: the number of Kueue workloads that may be evicted for the pending workload."""


class TierName(StrEnum):
    """The tiers, in the order in which they are reported."""

    ADMISSIBLE = "admissible"
    """For Kueue workloads: whether the workload's queues let it be considered at all."""
    GROUP = "group"
    """For a pod of a group that is decided as a whole: whether enough pods of the group exist, and are alike."""
    GROUP_GATES = "group-gates"
    """For a pod of a group with a pod that has scheduling gates, which ``shut`` names: no pod of it is scheduled."""
    HARD = "hard-limit"
    """Policy ``deserved``: the hard cap of the pending pod's leaf and of every queue above."""
    DESERVED = "deserved"
    """Policy ``deserved``: with the pending pod, its queue uses no more than it deserves."""
    OVERUSED = "overused"
    """Policy ``deserved``: preemption reaches a queue that uses more than it deserves of a requested resource."""
    QUOTA = "quota"
    """The max of the pending pod's leaf and of every queue above."""
    GUARANTEE = "guarantee"
    """What is left of the guarantees that the pending pod may claim (invariant 4)."""
    FENCE = "fence"
    """The pods that preemption reaches whatever their priority: limited by fences, opt-outs, and preemptable
    amounts."""
    POTENTIAL = "potential-quota"
    """Quota policies: what the pending pod's queue could have if no other queue used any quota."""
    PRIORITY = "priority"
    """The reachable pods that may be evicted for a pod of the pending pod's priority."""
    RESERVED = "reserved-share"
    """Policy ``deserved``: the pods that may be evicted without going below what is reserved for their queues."""
    GRACE = "grace-period"
    """Policy ``deserved``: whether the victims' queues had their time to give back; this tier passes by itself over
    time."""
    NODE = "node-fit"
    """Whether a node has room, or evictions on it can make room."""
    GROUP_NODES = "group-nodes"
    """For a pod of a group: whether enough of the group's pods have room at once, or evictions can make it."""
    AVAILABLE = "available-quota"
    """Quota policies: what the queue could have now, or after the permitted evictions."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One amount that a tier requires."""

    where: str = ""
    """The path of the queue, or the node, that provides the amount; empty for the whole cluster."""
    resource: str
    required: int
    available: int
    """The available amount; negative if more is used already than there is."""
    evictable: int = 0
    """How much more evictions could make available there."""

    @property
    def missing(self) -> int:
        """Return the amount that is neither available nor evictable; 0 if the need is satisfied."""
        return max(0, self.required - self.available - self.evictable)


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """A queue whose pods preemption can reach."""

    queue: str
    pods: int
    """Number of its pods that could be evicted if priorities did not matter."""
    spare: Amounts
    """Of each requested resource, how much may be taken from the queue before a guarantee breaks."""


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """A change that lets the pending pod pass a tier, as verified by judging the changed case."""

    change: Change
    smaller: Amounts = {}
    """For change ``request``: the reduction of each resource's request."""
    queues: dict[str, Amounts] = {}
    """For changes ``max``, ``hard``, ``guarantee``, ``less-guaranteed`` and ``reserved``: path -> the new amounts;
    for ``fence``, only the path of the queue."""
    unkept: str = ""
    """For change ``guarantee``: the nearest queue upward whose own guarantee or max forbids it; empty if none does."""
    priority: int | None = None
    """For change ``priority``: the lowest priority that is enough."""
    enough: bool = False
    """Whether the pending pod then gets room, so that no other tier blocks it."""


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement that a pending pod has to pass."""

    name: TierName
    passes: bool
    """Whether the pending pod passes: nothing is missing."""
    needs: tuple[Need, ...] = ()
    shut: str = ""
    """What blocks the tier: the leaf without any guarantee, the queue that disables preemption, the class that says
    Never.

    For tier ``considered``, a value of engine.policies.cohort.Inadmissible; for tier ``left``, BORROWS or FLAVORS.
    """
    reached: tuple[Reached, ...] = ()
    """For tiers ``fence`` and ``overused``: the queues with pods that could be evicted, in the tree's order."""
    held: Amounts = {}
    """For tiers ``priority`` and ``giving``: what the evictable pods hold of the requested resources."""
    staying: dict[str, int] = {}
    """For tier ``giving``: why other pods of those queues are kept, as PodReason -> number of pods."""
    notices: tuple[ReclaimNotice, ...] = ()
    """For tier ``grace``: the queues that still have time to give back; a queue's path is empty if it is hidden."""
    soon: bool = False
    """For tier ``node-fit``: whether there is room only once terminating pods are gone."""
    limited: str = ""
    """For tier ``node-fit``: the node where pods that may be evicted singly would make room if evicted together."""
    limit: JointLimit | None = None
    """What prevents these pods from being evicted together."""
    refusing: dict[str, int] = {}
    """For tier ``node-fit``: why nodes cannot take the pod, as NodeReason -> number of nodes."""
    remedies: tuple[Remedy, ...] = ()
    """If the tier is not passed: changes each of which alone is enough to pass it, the nearest first."""

    @classmethod
    def of(cls, name: TierName, needs: Iterable[Need], **rest: Any) -> "Tier":
        """Return a tier that passes if no need is missing anything."""
        found = tuple(needs)
        return cls(name=name, passes=not any(need.missing for need in found), needs=found, **rest)


class Ahead(msgspec.Struct, frozen=True, kw_only=True):
    """The number of pending pods that a pass considers before this one."""

    cluster: int
    queue: int
    """The number of those that are in the same queue."""


class PendingReasons(msgspec.Struct, frozen=True, kw_only=True):
    """The reasons why a pod is pending, tier by tier."""

    tiers: tuple[Tier, ...]
    """The tiers in the order of TierName, without those that the policy lacks; only the last one if a node already
    has room."""
    ahead: Ahead
    together: bool = False
    """Whether the pod gets room if the first remedy of every failed tier is applied, all of them together."""

    @property
    def refusing(self) -> tuple[Tier, ...]:
        """Return the tiers that the pod does not pass."""
        return tuple(tier for tier in self.tiers if not tier.passes)

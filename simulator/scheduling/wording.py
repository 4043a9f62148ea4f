"""The messages of kube-scheduler (1.36, for groups of pods 1.37) where no node is feasible, verbatim.

Source: FitError of pkg/scheduler/framework, types.go, the reasons of the filter plugins, and schedule_one_podgroup.go.
"""

from collections import Counter
from collections.abc import Iterable

from engine.model.decision import NodeReason
from engine.model.quantities import PODS

_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
_SPREAD = "node(s) didn't match pod topology spread constraints"
_TAINT = "node(s) had untolerated taint(s)"
WORDS: dict[NodeReason, str] = {
    NodeReason.UNSCHEDULABLE: "node(s) were unschedulable",
    NodeReason.TAINT: _TAINT,
    NodeReason.RESERVED: _TAINT,
    NodeReason.SELECTOR: _AFFINITY,
    NodeReason.AFFINITY: _AFFINITY,
    NodeReason.HOST_PORT: "node(s) didn't have free ports for the requested pod ports",
    NodeReason.CLAIM_IN_USE: (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
        "another pod"
    ),
    NodeReason.VOLUME: "node(s) didn't match PersistentVolume's node affinity",
    NodeReason.VOLUME_ZONE: "node(s) had no available volume zone",
    NodeReason.SPREAD: _SPREAD,
    NodeReason.SPREAD_KEY: f"{_SPREAD} (missing required label)",
    NodeReason.POD_AFFINITY: "node(s) didn't match pod affinity rules",
    NodeReason.ANTI_AFFINITY: "node(s) didn't match pod anti-affinity rules",
    NodeReason.KEPT_OUT: "node(s) didn't satisfy existing pods anti-affinity rules",
}
"""The messages about one node; missing resources are described by ``insufficient_resource``."""

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
NO_NODES = "no nodes available to schedule pods"
GROUP_UNSCHEDULABLE = "pod group is unschedulable"
"""The message about a group of which enough pods run, and no other fits."""
_GROUP_PREEMPTION = ", pod group preemption: "
NO_GROUP_VICTIMS = f"{_GROUP_PREEMPTION}No preemption victims found for incoming preemptor"
GROUP_WAITS_FOR_VICTIMS = f"{_GROUP_PREEMPTION}ongoing preemption on nominated nodes"
_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
_NO_DEVICES = "no new claims to deallocate"
"""The message of the dynamic resources plugin, which runs before preemption."""


def insufficient_resource(resource: str) -> str:
    """Return the message about a node where too little of a resource is free."""
    return "Too many pods" if resource == PODS else f"Insufficient {resource}"


def no_nodes_available(reasons: Iterable[str], nodes: int) -> str:
    """Return `0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.`, sorted by text."""
    counted = sorted(f"{times} {reason}" for reason, times in Counter(reasons).items())
    return f"0/{nodes} nodes are available: {', '.join(counted)}."


def unbound_claim(missing: str, nodes: int) -> str:
    """Return the message about a pod with an unbound claim; ``missing``: the name of a claim that does not exist."""
    claims = f'persistentvolumeclaim "{missing}" not found' if missing else _UNBOUND
    return f"0/{nodes} nodes are available: {claims}. not found"  # its ending is the dynamic resources plugin's, too


def no_preemption(message: str) -> str:
    """Return the suffix for a pod that preempts nothing."""
    return f" {_NO_DEVICES}, preemption: {message}"


def too_few(needed: int, scheduled: int, remaining: int) -> str:
    """Return the message about a group of which too few pods fit at once."""
    return f"minCount ({needed}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"


def other_priority(found: int, expected: int) -> str:
    """Return the message about a group with a pod of another priority."""
    rule = "all pods in a single pod group should have the same priority as the pod group's priority"
    return f"{rule}, got {found} and {expected}"


def group_preempts(victims: int) -> str:
    """Return the suffix for a group that preempts a number of pods."""
    return f"{_GROUP_PREEMPTION}found a placement for podgroup, preempting {victims} victims"


def no_group_preemption(message: str) -> str:
    """Return the suffix for a group that preempts nothing."""
    return f", deallocation and deletion of ResourceClaims completed{_GROUP_PREEMPTION}{message}"

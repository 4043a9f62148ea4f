"""Which node a pod can run on, and how good each is: the filters and the score of the simulated kube-scheduler."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from engine.decision import NodeReason
from engine.feasibility import Refusal
from engine.feasibility.plain import refusal
from engine.resources import PODS, Amounts, subtract, total
from engine.snapshot import Node, Pod, Snapshot


class Rule(StrEnum):
    """What turned a node down; it decides which events can help the pod."""

    UNSCHEDULABLE = "unschedulable"
    TAINTS = "taints"
    AFFINITY = "affinity"
    PORTS = "ports"
    RESOURCES = "resources"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a node does not take a pod, in kube-scheduler's words; `curable` says whether evictions could help."""

    rule: Rule
    reasons: tuple[str, ...]
    curable: bool


UNSCHEDULABLE = "node(s) were unschedulable"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"
PORTS = "node(s) didn't have free ports for the requested pod ports"


def reject(pod: Pod, node: Node, staying: Iterable[Pod]) -> Rejection | None:
    """Return why `pod` can't run on `node` beside the pods `staying`, None when it can.

    Source: the filters of kube-scheduler's default profile, in their order, as far as the engine's formats know them.
    """
    beside = tuple(staying)
    # The engine lets a reservation's own ask through by its UID; kube-scheduler knows nothing but tolerations.
    bare = msgspec.structs.replace(pod, uid="", requests={}, affinity=(), anti_affinity=(), spread=(), claims=())
    here = Snapshot(now_ms=0, nodes=(node,), pods=tuple(msgspec.structs.replace(one, node=node.name) for one in beside))
    if not node.ready:
        return Rejection(Rule.TAINTS, ("node(s) had untolerated taint {node.kubernetes.io/not-ready: }",), False)
    found = refusal(here, bare, node, nominated=False)
    if found is not None:
        return _worded(found, node)
    return _short(pod, node, subtract(node.allocatable, total(other.requests for other in beside)))


def _worded(found: Refusal, node: Node) -> Rejection:
    match found.reason:
        case NodeReason.UNSCHEDULABLE:
            return Rejection(Rule.UNSCHEDULABLE, (UNSCHEDULABLE,), False)
        case NodeReason.TAINT | NodeReason.RESERVED:
            taint = next(item for item in node.taints if f"{item.key}:{item.effect}" == found.detail)
            return Rejection(Rule.TAINTS, (f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}",), False)
        case NodeReason.HOST_PORT:
            return Rejection(Rule.PORTS, (PORTS,), True)
        case _:
            return Rejection(Rule.AFFINITY, (AFFINITY,), False)


def _short(pod: Pod, node: Node, free: Amounts) -> Rejection | None:
    short = [name for name, amount in pod.requests.items() if amount > max(free.get(name, 0), 0)]
    if not short:
        return None
    reasons = tuple("Too many pods" if name == PODS else f"Insufficient {name}" for name in short)
    curable = all(pod.requests[name] <= node.allocatable.get(name, 0) for name in short)
    return Rejection(Rule.RESOURCES, reasons, curable)


def score(pod: Pod, node: Node, used: Amounts) -> int:
    """Return how much of the node's cpu and memory would stay free, in percent (LeastAllocated)."""
    shares = []
    for name in ("cpu", "memory"):
        room = node.allocatable.get(name, 0)
        left = room - used.get(name, 0) - pod.requests.get(name, 0)
        shares.append(left * 100 // room if room > 0 and left > 0 else 0)
    return sum(shares) // len(shares)


def unavailable(rejections: Iterable[Rejection], nodes: int) -> str:
    """Return `0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.` in kube-scheduler's form."""
    if nodes == 0:
        return "no nodes available to schedule pods"
    counts: dict[str, int] = {}
    for rejection in rejections:
        for reason in rejection.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return f"0/{nodes} nodes are available: {listed(counts)}."


def listed(counts: dict[str, int]) -> str:
    """Return counted reasons in the order of their text."""
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))

"""Rules that no eviction can cure: readiness, cordon, taints, node selector, node affinity, size; and host ports.

Nor does an eviction cure that a node, or a pod that stays on it, can't be read.
"""

from collections.abc import Collection, Iterable, Mapping

import msgspec

from engine.decision import NodeReason
from engine.resources import fits
from engine.snapshot import Node, NodeSelectorTerm, Pod, Requirement, Taint, Toleration

UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
RESERVED_TAINT_KEY = "scheduler-admin.io/reserved-for"
"""Ours: the node is kept for the ask whose UID is the value."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a pod can't run on a node; ``detail`` names the taint, label or resource."""

    reason: NodeReason
    detail: str = ""


def refusal(pod: Pod, node: Node, staying: Collection[Pod] = ()) -> Refusal | None:
    """The first reason why ``pod`` can't run on ``node`` however many pods leave, beyond those ``staying``.

    Source: kube-scheduler's plugins NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, in their order.
    """
    if node.unread or any(other.unread for other in staying):
        return Refusal(NodeReason.UNREAD)
    if not node.ready:
        return Refusal(NodeReason.NOT_READY)
    if node.unschedulable and not _tolerated(UNSCHEDULABLE_TAINT, pod.tolerations):
        return Refusal(NodeReason.UNSCHEDULABLE)
    for taint in node.taints:
        if taint.effect != "PreferNoSchedule" and not _tolerated(taint, pod.tolerations) and not _own(taint, pod):
            reserved = taint.key == RESERVED_TAINT_KEY
            return Refusal(NodeReason.RESERVED if reserved else NodeReason.TAINT, f"{taint.key}:{taint.effect}")
    for key, value in sorted(pod.node_selector.items()):
        if node.labels.get(key) != value:
            return Refusal(NodeReason.SELECTOR, f"{key}={value}")
    if pod.node_affinity and not any(_term_matches(term, node) for term in pod.node_affinity):
        return Refusal(NodeReason.AFFINITY)
    if not fits(pod.requests, node.allocatable):
        short = min(name for name, amount in pod.requests.items() if amount > node.allocatable.get(name, 0))
        return Refusal(NodeReason.TOO_SMALL, short)
    return _port_conflict(pod, staying)


def _own(taint: Taint, pod: Pod) -> bool:
    """Our own reservation never keeps out the ask that it is for."""
    return taint.key == RESERVED_TAINT_KEY and taint.value == pod.uid


def _tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.key not in ("", taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.operator in ("", "Equal") and toleration.value == taint.value


def _term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    if not term.expressions and not term.fields:
        return False  # an empty term matches no node
    return matches(term.expressions, node.labels) and matches(term.fields, {"metadata.name": node.name})


def matches(expressions: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    """Whether labels meet every expression, as apimachinery's label selectors read them."""
    return all(_meets(expression, labels) for expression in expressions)


def _meets(rule: Requirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(rule.key)
    match rule.operator:
        case "In":
            return value in rule.values
        case "NotIn":
            return value not in rule.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compares(rule, value)
        case _:
            return False


def _compares(rule: Requirement, value: str | None) -> bool:
    try:
        have, want = int(value or ""), int(rule.values[0])
    except (ValueError, IndexError):
        return False
    return have > want if rule.operator == "Gt" else have < want


def _port_conflict(pod: Pod, staying: Iterable[Pod]) -> Refusal | None:
    for other in staying:
        for taken in other.host_ports:
            for wanted in pod.host_ports:
                any_ip = "0.0.0.0" in (taken.ip, wanted.ip)  # noqa: S104 - Kubernetes' word for every address
                same = (taken.port, taken.protocol) == (wanted.port, wanted.protocol)
                if same and (any_ip or taken.ip == wanted.ip):
                    return Refusal(NodeReason.HOST_PORT, str(wanted.port))
    return None

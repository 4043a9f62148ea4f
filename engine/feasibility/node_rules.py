"""What keeps a pod off a node whoever leaves it: the node's own state, and where the pod wants to be.

Sources: kube-scheduler's plugins NodeUnschedulable, TaintToleration, NodeAffinity, VolumeBinding and VolumeZone.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from engine.feasibility.checks import RuleCheck
from engine.feasibility.selectors import UNSCHEDULABLE_TAINT, matches, tolerated, untolerated
from engine.model.columns.node_columns import Columns, Flags
from engine.model.decision import NodeReason
from engine.model.objects import Node, NodeSelectorTerm, Pod, Requirement, Taint
from engine.model.snapshot import Snapshot

RESERVED_TAINT_KEY = "scheduler-admin.io/reserved-for"
"""Ours: the node is kept for the ask whose UID is the value."""


def node_state(columns: Columns, pod: Pod) -> Iterator[RuleCheck]:
    """Nodes that can't be read, are cordoned, or have a taint that the pod does not tolerate."""
    if columns.unread_nodes.any():
        yield RuleCheck(NodeReason.UNREAD, columns.unread_nodes)
    if columns.unschedulable.any() and not tolerated(UNSCHEDULABLE_TAINT, pod.tolerations):
        yield RuleCheck(NodeReason.UNSCHEDULABLE, columns.unschedulable)
    tainted = columns.taint_kinds.flags(lambda node: keeping(pod, node) is not None)
    reserved = columns.taint_kinds.flags(lambda node: _is_reservation(keeping(pod, node)))
    if reserved.any():
        yield RuleCheck(NodeReason.RESERVED, reserved, lambda place: _told(keeping(pod, columns.nodes[place])))
    if tainted.any():
        yield RuleCheck(NodeReason.TAINT, tainted, lambda place: _told(keeping(pod, columns.nodes[place])))


def keeping(pod: Pod, node: Node) -> Taint | None:
    """The taint that keeps a pod off a node. Our own reservation never keeps out the ask that it is for."""
    taints = (taint for taint in node.taints if (taint.key, taint.value) != (RESERVED_TAINT_KEY, pod.uid))
    return untolerated(pod.tolerations, taints)


def _is_reservation(taint: Taint | None) -> bool:
    return taint is not None and taint.key == RESERVED_TAINT_KEY


def _told(taint: Taint | None) -> str:
    return f"{taint.key}:{taint.effect}" if taint else ""


def wanted_nodes(columns: Columns, pod: Pod) -> Iterator[RuleCheck]:
    """The pod's node selector and required node affinity."""
    for key, value in sorted(pod.node_selector.items()):
        rule = Requirement(key, "In", (value,))
        yield RuleCheck(NodeReason.SELECTOR, ~having(columns, rule), f"{key}={value}")
    if pod.node_affinity:
        yield RuleCheck(NodeReason.AFFINITY, ~meeting(columns, pod.node_affinity))


def meeting(columns: Columns, terms: Iterable[NodeSelectorTerm]) -> Flags:
    """Place -> whether the node meets one of the terms; an empty term is met by none."""
    met = np.zeros(len(columns.nodes), np.bool_)
    for term in terms:
        if term.expressions or term.fields:
            met |= _all(columns, term)
    return met


def _all(columns: Columns, term: NodeSelectorTerm) -> Flags:
    met = np.ones(len(columns.nodes), np.bool_)
    for rule in term.expressions:
        met &= having(columns, rule)
    if term.fields:
        named = (matches(term.fields, {"metadata.name": node.name}) for node in columns.nodes)
        met &= np.fromiter(named, np.bool_, len(columns.nodes))
    return met


def having(columns: Columns, rule: Requirement) -> Flags:
    """Place -> whether the node's labels meet an expression; each value of the label is asked once."""
    numbers, values = columns.label(rule.key)
    answers = [matches((rule,), {rule.key: value}) for value in values]
    answers.append(matches((rule,), {}))  # number -1: nodes without the label
    return np.array(answers, np.bool_)[numbers]


def reachable(snapshot: Snapshot, pod: Pod) -> Iterator[RuleCheck]:
    """The volumes that the pod's claims are bound to: some are reached from a few nodes only."""
    columns = snapshot.columns
    for name in dict.fromkeys((*pod.claims, *pod.own_claims)):
        claim = snapshot.claims.get((pod.namespace, name))
        volume = snapshot.volumes.get(claim.volume) if claim else None
        if volume is None:
            continue  # ``unbound`` has refused it
        if volume.node_affinity:
            yield RuleCheck(NodeReason.VOLUME, ~meeting(columns, volume.node_affinity), name)
    zoned = np.zeros(len(columns.nodes), np.bool_)
    for key in ZONES:
        zoned |= columns.label(key)[0] >= 0
    for name in dict.fromkeys((*pod.claims, *pod.own_claims)):
        claim = snapshot.claims.get((pod.namespace, name))
        volume = snapshot.volumes.get(claim.volume) if claim else None
        for rule in volume.zones if volume else ():
            yield RuleCheck(NodeReason.VOLUME_ZONE, zoned & ~_in_zone(columns, rule), name)


def unbound(snapshot: Snapshot, pod: Pod) -> str | None:
    """The first of the pod's claims that is not there, or not bound to a volume that is there.

    A claim of its own must be made for it, not for another pod.
    """
    for name in (*pod.claims, *pod.own_claims):
        claim = snapshot.claims.get((pod.namespace, name))
        if claim is None or claim.volume not in snapshot.volumes:
            return name
        if name in pod.own_claims and claim.owner != pod.uid:
            return name
    return None


def unjudged(snapshot: Snapshot, pod: Pod) -> tuple[str, ...]:
    """The rules of a pod on where it may run that can't be judged: such an ask is left alone."""
    claims = (snapshot.claims.get((pod.namespace, name)) for name in (*pod.claims, *pod.own_claims))
    waiting = any(claim is not None and claim.waiting for claim in claims)
    return (*pod.unread_rules, "unboundClaims") if waiting else pod.unread_rules


def contradictory(pod: Pod) -> bool:
    """Whether each term of the pod's node affinity names nodes, but none that all its fields agree on."""
    named: set[str] = set()
    for term in pod.node_affinity:
        fields = [set(rule.values) for rule in term.fields if (rule.key, rule.operator) == ("metadata.name", "In")]
        if not fields:
            return False
        named |= set.intersection(*fields)
    return bool(pod.node_affinity) and not named


ZONES = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
"""Labels that say where a node is -> the one of today that says the same."""


def _in_zone(columns: Columns, rule: Requirement) -> Flags:
    """A node without a label of former days is asked by the one of today."""
    has = columns.label(rule.key)[0] >= 0
    today = Requirement(ZONES[rule.key], rule.operator, rule.values)
    return np.where(has, having(columns, rule), having(columns, today))

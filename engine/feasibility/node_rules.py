"""Rules that keep a pod off a node whichever pods leave: the node's own state, and where the pod wants to be.

Sources: kube-scheduler's plugins NodeUnschedulable, TaintToleration, NodeAffinity, VolumeBinding and VolumeZone.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from engine.feasibility.checks import RuleCheck
from engine.feasibility.selectors import UNSCHEDULABLE_TAINT, first_untolerated, matches, tolerated
from engine.model.columns.node_columns import Columns, Flags
from engine.model.decision import NodeReason
from engine.model.objects import Node, NodeSelectorTerm, Pod, Requirement, Taint
from engine.model.snapshot import Snapshot

RESERVED_TAINT_KEY = "scheduler-admin.io/reserved-for"
"""The key of our own taint: the node is reserved for the pending pod whose UID is the taint's value."""


def node_state_checks(columns: Columns, pod: Pod) -> Iterator[RuleCheck]:
    """Yield the checks for nodes that can't be read, are cordoned, or have a taint that the pod does not tolerate."""
    if columns.unread_nodes.any():
        yield RuleCheck(NodeReason.UNREAD, columns.unread_nodes)
    if columns.unschedulable.any() and not tolerated(UNSCHEDULABLE_TAINT, pod.tolerations):
        yield RuleCheck(NodeReason.UNSCHEDULABLE, columns.unschedulable)
    tainted = columns.of_nodes.flags(lambda node: repelling_taint(pod, node) is not None)
    reserved = columns.of_nodes.flags(lambda node: _is_reservation(repelling_taint(pod, node)))
    if reserved.any():
        yield RuleCheck(
            NodeReason.RESERVED, reserved, lambda place: _taint_text(repelling_taint(pod, columns.nodes[place]))
        )
    if tainted.any():
        yield RuleCheck(
            NodeReason.TAINT, tainted, lambda place: _taint_text(repelling_taint(pod, columns.nodes[place]))
        )


def repelling_taint(pod: Pod, node: Node) -> Taint | None:
    """Return the taint that keeps a pod off a node, or None. Our reservation never keeps out the pod that it is for."""
    taints = (taint for taint in node.taints if (taint.key, taint.value) != (RESERVED_TAINT_KEY, pod.uid))
    return first_untolerated(pod.tolerations, taints)


def _is_reservation(taint: Taint | None) -> bool:
    return taint is not None and taint.key == RESERVED_TAINT_KEY


def _taint_text(taint: Taint | None) -> str:
    return f"{taint.key}:{taint.effect}" if taint else ""


def node_selection_checks(columns: Columns, pod: Pod) -> Iterator[RuleCheck]:
    """Yield the checks of the pod's node selector and required node affinity."""
    for key, value in sorted(pod.node_selector.items()):
        rule = Requirement(key, "In", (value,))
        yield RuleCheck(NodeReason.SELECTOR, ~matching_label(columns, rule), f"{key}={value}")
    if pod.node_affinity:
        yield RuleCheck(NodeReason.AFFINITY, ~matching_terms(columns, pod.node_affinity))


def matching_terms(columns: Columns, terms: Iterable[NodeSelectorTerm]) -> Flags:
    """Return, by node index, whether the node matches one of the terms; an empty term matches no node."""
    met = np.zeros(len(columns.nodes), np.bool_)
    for term in terms:
        if term.expressions or term.fields:
            met |= _all(columns, term)
    return met


def _all(columns: Columns, term: NodeSelectorTerm) -> Flags:
    met = np.ones(len(columns.nodes), np.bool_)
    for rule in term.expressions:
        met &= matching_label(columns, rule)
    if term.fields:
        named = (matches(term.fields, {"metadata.name": node.name}) for node in columns.nodes)
        met &= np.fromiter(named, np.bool_, len(columns.nodes))
    return met


def matching_label(columns: Columns, rule: Requirement) -> Flags:
    """Return, by node index, whether the node's labels match an expression; each label value is tested once."""
    numbers, values = columns.label(rule.key)
    answers = [matches((rule,), {rule.key: value}) for value in values]
    answers.append(matches((rule,), {}))  # number -1: nodes without the label
    return np.array(answers, np.bool_)[numbers]


def volume_checks(snapshot: Snapshot, pod: Pod) -> Iterator[RuleCheck]:
    """Yield the checks of the volumes that the pod's claims are bound to, as some are reachable from few nodes only."""
    columns = snapshot.columns
    for name in dict.fromkeys((*pod.claims, *pod.own_claims)):
        claim = snapshot.claims.get((pod.namespace, name))
        volume = snapshot.volumes.get(claim.volume) if claim else None
        if volume is None:
            continue  # ``first_unbound_claim`` refuses the pod already
        if volume.node_affinity:
            yield RuleCheck(NodeReason.VOLUME, ~matching_terms(columns, volume.node_affinity), name)
    zoned = np.zeros(len(columns.nodes), np.bool_)
    for key in ZONES:
        zoned |= columns.label(key)[0] >= 0
    for name in dict.fromkeys((*pod.claims, *pod.own_claims)):
        claim = snapshot.claims.get((pod.namespace, name))
        volume = snapshot.volumes.get(claim.volume) if claim else None
        for rule in volume.zones if volume else ():
            yield RuleCheck(NodeReason.VOLUME_ZONE, zoned & ~_in_zone(columns, rule), name)


def first_unbound_claim(snapshot: Snapshot, pod: Pod) -> str | None:
    """Return the first of the pod's claims that is missing, or not bound to a volume that exists; else None.

    A claim of an ephemeral volume must have been created for this pod, not for another pod.
    """
    for name in (*pod.claims, *pod.own_claims):
        claim = snapshot.claims.get((pod.namespace, name))
        if claim is None or claim.volume not in snapshot.volumes:
            return name
        if name in pod.own_claims and claim.owner != pod.uid:
            return name
    return None


def unsupported_rules(snapshot: Snapshot, pod: Pod) -> tuple[str, ...]:
    """Return the placement rules of a pod that can't be evaluated; a pending pod with any is not decided."""
    claims = (snapshot.claims.get((pod.namespace, name)) for name in (*pod.claims, *pod.own_claims))
    waiting = any(claim is not None and claim.waiting for claim in claims)
    return (*pod.unread_rules, "unboundClaims") if waiting else pod.unread_rules


def contradictory(pod: Pod) -> bool:
    """Return whether the pod's node affinity names nodes only, and no node that all fields of a term agree on."""
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
"""Labels that say where a node is -> the current label with the same meaning."""


def _in_zone(columns: Columns, rule: Requirement) -> Flags:
    """Return, by node index, whether the node is in a zone.

    If the node lacks a deprecated label, the current label with the same meaning counts.
    """
    has = columns.label(rule.key)[0] >= 0
    today = Requirement(ZONES[rule.key], rule.operator, rule.values)
    return np.where(has, matching_label(columns, rule), matching_label(columns, today))

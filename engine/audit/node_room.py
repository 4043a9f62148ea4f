"""Find out why a node refuses the pending pod, by sums of amounts alone where no other rule can matter."""

from collections.abc import Sequence

from engine.audit.audit_case import AuditCase
from engine.feasibility import NodeRefusal
from engine.feasibility.plain import refusal
from engine.feasibility.selectors import first_untolerated, term_selects, wants_node
from engine.model.decision import NodeReason
from engine.model.objects import AffinityTerm, Node, Pod
from engine.model.quantities import PODS


def node_refusal(case: AuditCase, *back: Pod) -> NodeRefusal | None:
    """Return why the decision's node refuses the pending pod without the victims, except those put ``back``; or None.

    It is what ``feasibility.plain.refusal`` returns, which is asked wherever another rule than amounts might matter.
    """
    pod, node = case.ask, case.node
    assert node is not None
    put_back = [other for other in back if other.node == node.name and other.uid not in case.ledger.leaving_uids]
    unread = True in [other.unread for other in (*case.staying, *put_back)]
    if unread or not _only_amounts_matter(case, pod, node):
        return refusal(case.snapshot, pod, node, case.departing_uids(*back))
    return _first_short(case, put_back)


def _first_short(case: AuditCase, put_back: Sequence[Pod]) -> NodeRefusal | None:
    """Return the first amount that is too large for the node, or for what the pods that stay leave of it; or None."""
    if not put_back and False not in [line.holds for line in case.resource_lines]:
        return None
    lines = sorted(case.resource_lines, key=lambda line: (line.resource != PODS, line.resource))
    for line in lines:
        if line.bound > line.start and line.resource != PODS:
            return NodeRefusal(NodeReason.TOO_SMALL, line.resource)
    for line in lines:
        if line.result - sum([other.requests.get(line.resource, 0) for other in put_back]) < line.bound:
            return NodeRefusal(NodeReason.INSUFFICIENT, line.resource)
    return None


def _only_amounts_matter(case: AuditCase, pod: Pod, node: Node) -> bool:
    """Return whether the node can refuse the pod for too large amounts only, whichever of its pods leave."""
    if pod.host_ports or pod.claims or pod.own_claims or pod.spread or pod.affinity or pod.anti_affinity:
        return False
    if node.unread or node.unschedulable or not wants_node(pod, node):
        return False
    if node.taints and first_untolerated(pod.tolerations, node.taints) is not None:
        return False
    return case.ledger.nominated_to(node.name) <= {pod.uid} and not _is_kept_out(case, pod)


def _is_kept_out(case: AuditCase, pod: Pod) -> bool:
    """Return whether the anti-affinity of any bound pod, wherever it is, selects the pending pod."""
    ledger = case.ledger
    terms = ledger.once("anti-affinity", lambda: _anti_affinity(case))
    if not terms:
        return False
    labels, about = pod.labels, case.snapshot.namespaces.get(pod.namespace, {})
    shape = ("kept out", pod.namespace, tuple(labels.items()))
    return ledger.once(shape, lambda: any(term_selects(term, pod.namespace, labels, about) for term in terms))


def _anti_affinity(case: AuditCase) -> set[AffinityTerm]:
    return {term for kind in case.snapshot.columns.anti_kinds.there for term in kind.anti_affinity}

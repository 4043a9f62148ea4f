"""Explains in words what surprises people in decisions by priority."""

from engine.analysis.anomalies import Anomaly, AnomalyKind
from engine.explain.change_texts import names
from engine.model.message import Message, Name, Param, gettext_noop, ngettext_noop
from engine.model.quantities import format_amount

SENTENCES: dict[AnomalyKind, tuple[str, str]] = {
    AnomalyKind.FRAGMENTED: ngettext_noop(
        "%(total)s %(resource)s are free on %(count)s node, but no node has more than %(most)s.",
        "%(total)s %(resource)s are free in all on the %(count)s nodes that may take it, but no node has more than "
        "%(most)s.",
    ),
    AnomalyKind.LOWER_ELSEWHERE: ngettext_noop(
        "A victim has priority %(most)s, and %(count)s pod of a lower one stays on another node (%(pods)s): all "
        "victims are of one node, and no other node would have made the room at a lower cost.",
        "A victim has priority %(most)s, and %(count)s pods of lower ones stay on other nodes (%(pods)s): all victims "
        "are of one node, and no other node would have made the room at a lower cost.",
    ),
    AnomalyKind.LOWER_PROTECTED: ngettext_noop(
        "A victim has priority %(most)s, and %(count)s pod of a lower one stays on the same node (%(pods)s): its "
        "disruption budget does not allow for it, so it was put back first.",
        "A victim has priority %(most)s, and %(count)s pods of lower ones stay on the same node (%(pods)s): their "
        "disruption budgets do not allow for them, so they were put back first.",
    ),
    AnomalyKind.LOWER_NO_HELP: ngettext_noop(
        "A victim has priority %(most)s, and %(count)s pod of a lower one stays on the same node (%(pods)s): the ask "
        "fits beside it.",
        "A victim has priority %(most)s, and %(count)s pods of lower ones stay on the same node (%(pods)s): the ask "
        "fits beside them.",
    ),
    AnomalyKind.OTHER_NODES: ngettext_noop(
        "On %(node)s room could be made only if %(pods)s went too, on another node of %(topology)s: pods of two nodes "
        "never go for one ask.",
        "On %(node)s room could be made only if pods on other nodes of %(topology)s went too, such as %(pods)s: pods "
        "of two nodes never go for one ask.",
    ),
    AnomalyKind.OVER_BUDGET: ngettext_noop(
        "%(count)s victim is beyond its disruption budget (%(budgets)s): kube-scheduler keeps budgets where it can, "
        "and no node that makes room violates them less.",
        "%(count)s victims are beyond their disruption budgets (%(budgets)s): kube-scheduler keeps budgets where it "
        "can, and no node that makes room violates them less.",
    ),
    AnomalyKind.EMPTY_BUDGET: ngettext_noop(
        "The disruption budget %(budgets)s has an empty selector, which kube-scheduler takes for no pod: it did not "
        "protect %(pods)s.",
        "The disruption budgets %(budgets)s have empty selectors, which kube-scheduler takes for no pod: they did not "
        "protect %(pods)s.",
    ),
    AnomalyKind.BEST_EFFORT: ngettext_noop(
        "%(count)s pod on %(node)s that requests neither cores nor memory stays (%(pods)s): quality of service has no "
        "say in who is preempted. It has where a node itself runs short: then its kubelet goes by usage over requests "
        "first.",
        "%(count)s pods on %(node)s that request neither cores nor memory stay (%(pods)s): quality of service has no "
        "say in who is preempted. It has where a node itself runs short: then its kubelet goes by usage over requests "
        "first.",
    ),
    AnomalyKind.TOP_CLASS: ngettext_noop(
        "By its class %(classes)s the ask has priority %(most)s, more than any pod that runs but the system's, so "
        "%(count)s pod goes for it (%(pods)s). If it is not that important, its class is too high: make it again with "
        "another one.",
        "By its class %(classes)s the ask has priority %(most)s, more than any pod that runs but the system's, so "
        "%(count)s pods go for it (%(pods)s). If it is not that important, its class is too high: make it again "
        "with another one.",
    ),
    AnomalyKind.NOT_READY: ngettext_noop(
        "Node %(nodes)s is not ready, as one that has just been added; once it is, the ask would fit there without any "
        "preemption. kube-scheduler does not wait for that.",
        "Nodes such as %(nodes)s are not ready, as those that have just been added; once they are, the ask would fit "
        "there without any preemption. kube-scheduler does not wait for that.",
    ),
    AnomalyKind.GRACE: ngettext_noop(
        "The victim has %(most)s s to leave (%(pods)s). Until it has, the room is not there, and other pods may "
        "take it first.",
        "The victims have up to %(most)s s to leave (%(pods)s). Until they have, the room is not there, and other pods "
        "may take it first.",
    ),
}
WASTED: dict[str, str] = {
    "taken": gettext_noop(
        "Its victims went in vain: others took the room on %(node)s first. kube-scheduler keeps none free for the ask."
    ),
    "gone": gettext_noop("Its victims went in vain: the ask itself went away before it could run."),
    "bound-elsewhere": gettext_noop(
        "Its victims went in vain: before they had left another node could take the ask, and kube-scheduler let it."
    ),
}
"""The text for each way in which a decision of kube-scheduler ended without placing the preemptor."""
TAKEN_BY = gettext_noop(
    "Its victims went in vain: the room on %(node)s was taken first. Since then these came there, the highest priority "
    "first: %(pods)s. kube-scheduler keeps none free for the ask."
)


def anomaly_sentence(anomaly: Anomaly) -> Message:
    """Return the sentence about an anomaly, with its numbers."""
    forms = SENTENCES[anomaly.trouble]
    fragmented = anomaly.trouble is AnomalyKind.FRAGMENTED
    params: dict[str, Param] = {
        "total": format_amount(anomaly.resource, anomaly.total) if fragmented else "",
        "most": format_amount(anomaly.resource, anomaly.most) if fragmented else str(anomaly.most),
        "resource": anomaly.resource,
        "node": Name(anomaly.node),
        "pods": names(anomaly.pods),
        "budgets": Name(", ".join(anomaly.names)),
        "topology": Name("=".join(anomaly.names)),
        "nodes": Name(", ".join(anomaly.names)),
        "classes": Name(", ".join(anomaly.names)),
        "count": anomaly.count,
    }
    used = {name: value for name, value in params.items() if any(f"%({name})s" in form for form in forms)}
    return Message(forms[0], used, plural=forms[1], count=anomaly.count)


def wasted_preemption(ending: str, node: str, came: str = "") -> Message | None:
    """Return why the preemptor never ran where room was made for it; None where that is unknown, or it did.

    ``came``: the pods that were placed there since, as far as they were seen.
    """
    if ending not in WASTED:
        return None
    if ending == "taken" and came:
        return Message(TAKEN_BY, {"node": Name(node), "pods": Name(came)})
    return Message(WASTED[ending], {"node": Name(node)} if "%(node)s" in WASTED[ending] else {})

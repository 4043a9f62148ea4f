"""Explains in words what surprises people in decisions by priority."""

from engine.analysis.anomalies import Anomaly, AnomalyKind
from engine.explain.change_texts import names
from engine.model.message import Message, Name, Param, gettext_noop, ngettext_noop
from engine.model.quantities import format_amount

SENTENCES: dict[AnomalyKind, tuple[str, str]] = {
    AnomalyKind.FRAGMENTED: ngettext_noop(
        "%(total)s %(resource)s is free on %(count)s node, but no node has more than %(most)s free.",
        "%(total)s %(resource)s is free on the %(count)s suitable nodes in total, but no node has more "
        "than %(most)s free.",
    ),
    AnomalyKind.LOWER_ELSEWHERE: ngettext_noop(
        "A victim has priority %(most)s, while %(count)s pod with a lower priority on another node was "
        "spared (%(pods)s). All victims must be on one node, and no other node would have made room at a "
        "lower cost.",
        "A victim has priority %(most)s, while %(count)s pods with lower priorities on other nodes were "
        "spared (%(pods)s). All victims must be on one node, and no other node would have made room at a "
        "lower cost.",
    ),
    AnomalyKind.LOWER_PROTECTED: ngettext_noop(
        "A victim has priority %(most)s, while %(count)s pod with a lower priority on the same node was "
        "spared (%(pods)s). Its disruption budget does not allow its eviction, so it was spared first.",
        "A victim has priority %(most)s, while %(count)s pods with lower priorities on the same node were "
        "spared (%(pods)s). Their disruption budgets do not allow their eviction, so they were spared "
        "first.",
    ),
    AnomalyKind.LOWER_NO_HELP: ngettext_noop(
        "A victim has priority %(most)s, while %(count)s pod with a lower priority on the same node was "
        "spared (%(pods)s), because the pending pod fits beside it.",
        "A victim has priority %(most)s, while %(count)s pods with lower priorities on the same node were "
        "spared (%(pods)s), because the pending pod fits beside them.",
    ),
    AnomalyKind.OTHER_NODES: ngettext_noop(
        "Room on %(node)s would also need the eviction of %(pods)s on another node of %(topology)s. "
        "Victims are never on two nodes.",
        "Room on %(node)s would also need the eviction of pods on other nodes of %(topology)s, such as "
        "%(pods)s. Victims are never on two nodes.",
    ),
    AnomalyKind.OVER_BUDGET: ngettext_noop(
        "%(count)s victim exceeds its disruption budget (%(budgets)s). kube-scheduler respects budgets "
        "only where it can, and every node that makes room violates at least as many.",
        "%(count)s victims exceed their disruption budgets (%(budgets)s). kube-scheduler respects budgets "
        "only where it can, and every node that makes room violates at least as many.",
    ),
    AnomalyKind.EMPTY_BUDGET: ngettext_noop(
        "The disruption budget %(budgets)s has an empty selector, which kube-scheduler matches with no "
        "pod, so it did not protect %(pods)s.",
        "The disruption budgets %(budgets)s have empty selectors, which kube-scheduler matches with no "
        "pod, so they did not protect %(pods)s.",
    ),
    AnomalyKind.BEST_EFFORT: ngettext_noop(
        "%(count)s pod on %(node)s that requests neither CPU nor memory was spared (%(pods)s). The QoS "
        "class does not decide who is preempted. It counts only when a node itself runs short: the "
        "kubelet then first ends pods that use more than they request.",
        "%(count)s pods on %(node)s that request neither CPU nor memory were spared (%(pods)s). The QoS "
        "class does not decide who is preempted. It counts only when a node itself runs short: the "
        "kubelet then first ends pods that use more than they request.",
    ),
    AnomalyKind.TOP_CLASS: ngettext_noop(
        "The priority class %(classes)s gives the pending pod priority %(most)s, higher than every "
        "running pod except system pods, so %(count)s pod is preempted for it (%(pods)s). If it is not "
        "that important, recreate it with a lower priority class.",
        "The priority class %(classes)s gives the pending pod priority %(most)s, higher than every "
        "running pod except system pods, so %(count)s pods are preempted for it (%(pods)s). If it is not "
        "that important, recreate it with a lower priority class.",
    ),
    AnomalyKind.NOT_READY: ngettext_noop(
        "Node %(nodes)s is not ready, possibly because it was just added. Once it is ready, the pending "
        "pod would fit there without preemption. kube-scheduler does not wait for that.",
        "Nodes such as %(nodes)s are not ready, possibly because they were just added. Once they are "
        "ready, the pending pod would fit there without preemption. kube-scheduler does not wait for that.",
    ),
    AnomalyKind.GRACE: ngettext_noop(
        "The victim has %(most)s s to exit (%(pods)s). Until then the room is not free, and other pods "
        "may take it first.",
        "The victims have up to %(most)s s to exit (%(pods)s). Until then the room is not free, and other "
        "pods may take it first.",
    ),
}
WASTED: dict[str, str] = {
    "capacity-taken": gettext_noop(
        "Its victims were evicted in vain: other pods took the room on %(node)s first. kube-scheduler "
        "does not reserve it."
    ),
    "pod-gone": gettext_noop("Its victims were evicted in vain: the pending pod was deleted before it could run."),
    "bound-elsewhere": gettext_noop(
        "Its victims were evicted in vain: before they had exited, another node had room, and kube-scheduler used it."
    ),
}
"""The text for each way in which a decision of kube-scheduler ended without placing the preemptor."""
TAKEN_BY = gettext_noop(
    "Its victims were evicted in vain: other pods took the room on %(node)s first. These started there "
    "since then, highest priority first: %(pods)s. kube-scheduler does not reserve the room."
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
    if ending == "capacity-taken" and came:
        return Message(TAKEN_BY, {"node": Name(node), "pods": Name(came)})
    return Message(WASTED[ending], {"node": Name(node)} if "%(node)s" in WASTED[ending] else {})

"""Explains why each pod was evicted or kept, why each node was not chosen, and what held a decision back."""

from engine.explain.decision import deserved, groups, priority
from engine.explain.decision.figures import decisive, figures, narrowest
from engine.explain.decision.joint_limits import limited_node
from engine.model.decision import Decision, Interlock, NodeReason, NodeVerdict, PodReason, PodVerdict
from engine.model.message import (
    Message,
    Name,
    Param,
    format_amount_list,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
)
from engine.model.quantities import PODS, format_amount
from engine.policies import texts_of

POD_LABELS: dict[PodReason, str] = {
    PodReason.OVER_GUARANTEE: gettext_noop("above guarantee"),
    PodReason.LAST_RESORT: gettext_noop("last resort"),
    PodReason.LOWER_PRIORITY: gettext_noop("lower priority"),
    PodReason.OVER_BUDGET: gettext_noop("exceeds disruption budget"),
    PodReason.NOT_NEEDED: gettext_noop("not needed"),
    PodReason.GUARANTEE: gettext_noop("guarantee"),
    PodReason.NO_HELP: gettext_noop("does not help"),
    PodReason.WANTED_NEAR: gettext_noop("must stay near"),
    PodReason.SAME_QUEUE: gettext_noop("same queue"),
    PodReason.SAME_APPLICATION: gettext_noop("same application"),
    PodReason.ENTITLED_SUBTREE: gettext_noop("under the same guarantee"),
    PodReason.OUTSIDE_FENCE: gettext_noop("outside the fence"),
    PodReason.HIGHER_PRIORITY: gettext_noop("higher priority"),
    PodReason.DISABLED: gettext_noop("preemption disabled"),
    PodReason.PAUSED: gettext_noop("queue paused"),
    PodReason.OUTSIDE_SCOPE: gettext_noop("outside the scope of Enforce"),
    PodReason.OPTED_OUT: gettext_noop("opted out"),
    PodReason.DAEMONSET: gettext_noop("DaemonSet"),
    PodReason.TERMINATING: gettext_noop("terminating"),
    PodReason.NO_QUEUE: gettext_noop("no queue"),
    PodReason.SHIELDED: gettext_noop("protected"),
    PodReason.WHOLE_GROUP: gettext_noop("group stays whole"),
    PodReason.IN_QUEUE: gettext_noop("in its own queue"),
    PodReason.RECLAIMED: gettext_noop("quota claimed back"),
    PodReason.RECLAIMED_BORROWING: gettext_noop("claimed back while borrowing"),
    PodReason.FAIR_SHARING: gettext_noop("fair sharing"),
    PodReason.RULES: gettext_noop("not allowed by its queue’s rules"),
    PodReason.NOT_BORROWING: gettext_noop("borrows nothing"),
    PodReason.NOT_WHILE_BORROWING: gettext_noop("not while borrowing"),
    PodReason.SHARE: gettext_noop("smaller share"),
    PodReason.OVER_DESERVED: gettext_noop("above deserved share"),
    PodReason.WITHIN_DESERVED: gettext_noop("within deserved share"),
    PodReason.IN_GRACE: gettext_noop("grace period"),
    PodReason.SYSTEM: gettext_noop("part of the cluster itself"),
}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.OVER_GUARANTEE: gettext_noop("%(queue)s uses more than its guarantee"),
    PodReason.LAST_RESORT: gettext_noop("opted out of preemption, but no other pods free enough: last resort"),
    PodReason.NOT_NEEDED: gettext_noop("can be preempted, but the others free enough without it"),
    PodReason.LOWER_PRIORITY: gettext_noop("has the lower priority %(priority)s"),
    PodReason.OVER_BUDGET: gettext_noop("the disruption budget %(budget)s does not allow it"),
    PodReason.GUARANTEE: gettext_noop("without it, %(queue)s would be below its guarantee"),
    PodReason.NO_HELP: gettext_noop("holds %(held)s, none of which the node lacks"),
    PodReason.WANTED_NEAR: gettext_noop("must stay: the pending pod can run only near it (pod affinity)"),
    PodReason.SAME_QUEUE: gettext_noop("is in %(queue)s, like the pending pod"),
    PodReason.SAME_APPLICATION: gettext_noop("belongs to the pending pod’s own application"),
    PodReason.ENTITLED_SUBTREE: gettext_noop("is in %(queue)s, whose guarantee the pending pod claims"),
    PodReason.OUTSIDE_FENCE: gettext_noop("is in %(own)s, outside the fence of %(queue)s"),
    PodReason.HIGHER_PRIORITY: gettext_noop("has the higher priority %(priority)s"),
    PodReason.DISABLED: gettext_noop("is in %(queue)s, where preemption is disabled"),
    PodReason.OUTSIDE_SCOPE: gettext_noop("is outside the queues and namespaces that Enforce is limited to"),
    PodReason.PAUSED: gettext_noop("is in %(queue)s, which is paused"),
    PodReason.OPTED_OUT: gettext_noop("opted out of preemption by its priority class"),
    PodReason.DAEMONSET: gettext_noop("belongs to a DaemonSet, which would recreate it on the node at once"),
    PodReason.TERMINATING: gettext_noop("is already terminating"),
    PodReason.NO_QUEUE: gettext_noop("belongs to no queue"),
    PodReason.SHIELDED: gettext_noop("protected under every policy (%(rule)s)"),
    PodReason.WHOLE_GROUP: gettext_noop("can go only with its whole group %(rule)s, which stays"),
    PodReason.IN_QUEUE: gettext_noop("is in %(queue)s, like the pending pod, and the queue’s rules allow it"),
    PodReason.RECLAIMED: gettext_noop("%(queue)s uses more than its own quota, and others claim it back"),
    PodReason.RECLAIMED_BORROWING: gettext_noop(
        "%(queue)s uses more than its own quota, and priority %(priority)s is low enough for a pending pod that borrows"
    ),
    PodReason.FAIR_SHARING: gettext_noop("%(queue)s has the larger share"),
    PodReason.RULES: gettext_noop("the rules of the pending pod’s queue do not let it preempt from %(queue)s"),
    PodReason.NOT_BORROWING: gettext_noop("%(queue)s does not use more than its own quota of what is short"),
    PodReason.NOT_WHILE_BORROWING: gettext_noop(
        "the rules of the pending pod’s queue let it preempt this pod only while it borrows nothing"
    ),
    PodReason.SHARE: gettext_noop("without it, %(queue)s would have a smaller share than the pending pod’s side"),
    PodReason.OVER_DESERVED: gettext_noop("%(queue)s uses more than its deserved share"),
    PodReason.WITHIN_DESERVED: gettext_noop("%(queue)s uses no more than its deserved share of what is requested"),
    PodReason.IN_GRACE: gettext_noop("%(queue)s uses more than its deserved share and is still in its grace period"),
    PodReason.SYSTEM: gettext_noop("belongs to the cluster itself, which deserves all it requests"),
}
ALLOWED = gettext_noop(
    "%(queue)s uses %(before)s %(resource)s with a guarantee of %(guaranteed)s, and %(after)s without it"
)
ALLOWED_UNGUARANTEED = gettext_noop("%(queue)s has no guarantee for what the pod holds")

NODE_LABELS: dict[NodeReason, str] = {
    NodeReason.DEARER: gettext_noop("would cost more"),
    NodeReason.UNSCHEDULABLE: gettext_noop("cordoned"),
    NodeReason.NOT_READY: gettext_noop("not ready"),
    NodeReason.TAINT: gettext_noop("taint"),
    NodeReason.SELECTOR: gettext_noop("node selector"),
    NodeReason.AFFINITY: gettext_noop("node affinity"),
    NodeReason.HOST_PORT: gettext_noop("host port"),
    NodeReason.TOO_SMALL: gettext_noop("too small"),
    NodeReason.INSUFFICIENT: gettext_noop("not enough free"),
    NodeReason.CLAIM_IN_USE: gettext_noop("PVC in use"),
    NodeReason.UNBOUND_CLAIM: gettext_noop("PVC not bound"),
    NodeReason.VOLUME: gettext_noop("volume not reachable"),
    NodeReason.VOLUME_ZONE: gettext_noop("volume in another zone"),
    NodeReason.SPREAD: gettext_noop("topology spread"),
    NodeReason.SPREAD_KEY: gettext_noop("no spread label"),
    NodeReason.POD_AFFINITY: gettext_noop("pod affinity"),
    NodeReason.ANTI_AFFINITY: gettext_noop("pod anti-affinity"),
    NodeReason.KEPT_OUT: gettext_noop("avoided by pods"),
    NodeReason.RESERVED: gettext_noop("reserved"),
    NodeReason.UNREAD: gettext_noop("unreadable"),
    NodeReason.NO_CANDIDATES: gettext_noop("no candidates"),
    NodeReason.NOT_ENOUGH: gettext_noop("not enough"),
}
NODE_SENTENCES: dict[NodeReason, str] = {
    NodeReason.DEARER: gettext_noop("its victims would cost more"),
    NodeReason.UNSCHEDULABLE: gettext_noop("cordoned: accepts no new pods"),
    NodeReason.NOT_READY: gettext_noop("not ready"),
    NodeReason.TAINT: gettext_noop("taint %(detail)s, which the pending pod does not tolerate"),
    NodeReason.SELECTOR: gettext_noop("lacks the label %(detail)s that the pending pod’s node selector requires"),
    NodeReason.AFFINITY: gettext_noop("does not match the pending pod’s node affinity"),
    NodeReason.HOST_PORT: gettext_noop("host port %(detail)s is used by a pod that can’t be preempted"),
    NodeReason.TOO_SMALL: gettext_noop("too small even when empty: not enough %(detail)s"),
    NodeReason.INSUFFICIENT: gettext_noop("not enough %(detail)s is free"),
    NodeReason.CLAIM_IN_USE: gettext_noop("another pod uses %(detail)s, which allows one pod at a time"),
    NodeReason.UNBOUND_CLAIM: gettext_noop(
        "the pending pod’s PersistentVolumeClaim %(detail)s is not bound to a volume"
    ),
    NodeReason.VOLUME: gettext_noop("the volume of the PersistentVolumeClaim %(detail)s is not reachable from it"),
    NodeReason.VOLUME_ZONE: gettext_noop("the volume of the PersistentVolumeClaim %(detail)s is in another zone"),
    NodeReason.SPREAD: gettext_noop("its %(detail)s would exceed the topology spread"),
    NodeReason.SPREAD_KEY: gettext_noop("lacks the label %(detail)s, which the pending pod is spread by"),
    NodeReason.POD_AFFINITY: gettext_noop("its %(detail)s has no pod that the pending pod must be near"),
    NodeReason.ANTI_AFFINITY: gettext_noop("its %(detail)s has a pod that the pending pod must avoid"),
    NodeReason.KEPT_OUT: gettext_noop("its %(detail)s has a pod that must avoid the pending pod"),
    NodeReason.RESERVED: gettext_noop("reserved for another pending pod"),
    NodeReason.UNREAD: gettext_noop("the node or a pod on it can’t be read, so its free capacity is unknown"),
    NodeReason.NO_CANDIDATES: gettext_noop("none of its pods can be preempted"),
    NodeReason.NOT_ENOUGH: gettext_noop("its pods that can be preempted do not free enough"),
}
NOT_ENOUGH_COUNTED = ngettext_noop(
    "its one pod that can be preempted does not free enough",
    "its %(count)s pods that can be preempted do not free enough together",
)
DEARER: dict[str, tuple[str, str]] = {
    "opted-out": ngettext_noop(
        "would evict %(count)s pod, and more that opted out", "would evict %(count)s pods, and more that opted out"
    ),
    "originators": ngettext_noop(
        "would evict %(count)s pod, and more first pods of applications",
        "would evict %(count)s pods, and more first pods of applications",
    ),
    "priority": ngettext_noop(
        "would evict %(count)s pod with a higher priority", "would evict %(count)s pods, one with a higher priority"
    ),
    "victims": ngettext_noop("would evict %(count)s pod, which is more", "would evict %(count)s pods, which is more"),
    "violations": ngettext_noop(
        "would evict %(count)s pod and violate more disruption budgets",
        "would evict %(count)s pods and violate more disruption budgets",
    ),
    "sum": ngettext_noop(
        "would evict %(count)s pod with a higher total priority",
        "would evict %(count)s pods with a higher total priority",
    ),
    "start": ngettext_noop(
        "would evict %(count)s pod that started earlier",
        "would evict %(count)s pods, the most important of which started earlier",
    ),
    "distance": ngettext_noop(
        "would evict %(count)s pod from a more distant queue",
        "would evict %(count)s pods from more distant queues",
    ),
    "work-lost": ngettext_noop(
        "would evict %(count)s pod that has run longer", "would evict %(count)s pods that have run longer"
    ),
    "age": ngettext_noop("would evict %(count)s older pod", "would evict %(count)s pods, the newest of them older"),
    "name": ngettext_noop(
        "would cost the same, %(count)s pod; the node name decides",
        "would cost the same, %(count)s pods; the node name decides",
    ),
}
INTERLOCKS: dict[Interlock, str] = {
    Interlock.PAUSED: gettext_noop("On hold: the cluster is paused."),
    Interlock.QUEUE_PAUSED: gettext_noop("On hold: the queue of the pending pod or of a victim is paused."),
    Interlock.DENY_WINDOW: gettext_noop("On hold: no pods may be evicted at this time of day."),
    Interlock.ALLOW_WINDOW: gettext_noop("On hold: it is outside the eviction window."),
    Interlock.WATCH_GAP: gettext_noop("On hold: part of the cluster has not been observed for a while."),
    Interlock.CLOCK_SKEW: gettext_noop("On hold: the clocks of this server and the API server differ too much."),
    Interlock.NODES_NOT_READY: gettext_noop("On hold: too many nodes are not ready."),
    Interlock.FAILING_WRITES: gettext_noop("On hold: too many requests to the API server fail."),
    Interlock.EVICTIONS_PER_PASS: gettext_noop("On hold: it would exceed the evictions allowed per pass."),
    Interlock.EVICTIONS_PER_MINUTE: gettext_noop("On hold: it would exceed the evictions allowed per minute."),
    Interlock.EVICTIONS_PER_QUEUE: gettext_noop("On hold: a queue would lose more pods than allowed per minute."),
    Interlock.EVICTIONS_PER_NAMESPACE: gettext_noop(
        "On hold: a namespace would lose more pods than allowed per minute."
    ),
    Interlock.EVICTIONS_PER_NODE: gettext_noop("On hold: a node would lose more pods than allowed per minute."),
    Interlock.RESERVED_NODES: gettext_noop("On hold: the number of reserved nodes is at its limit."),
    Interlock.DISRUPTION_BUDGET: gettext_noop("On hold: it would violate a disruption budget."),
    Interlock.COOL_DOWN: gettext_noop(
        "On hold: the last decision for this pod did not help it, so the engine waits before the next one."
    ),
    Interlock.OTHER_INSTALLATION: gettext_noop(
        "On hold: another installation acts on this cluster, or may still believe that it does."
    ),
    Interlock.OTHER_SCHEDULER: gettext_noop(
        "On hold: another scheduler has appeared in the cluster since Enforce was set, and nobody has "
        "confirmed that both may preempt."
    ),
    Interlock.OUT_OF_SCOPE: gettext_noop(
        "On hold: Enforce is limited to some queues and namespaces, and the pending pod or a victim is outside them."
    ),
    Interlock.STOPPED_IN_CLUSTER: gettext_noop(
        "On hold: someone stopped all engines from the cluster, with an annotation on its Lease."
    ),
    Interlock.NO_LEASE: gettext_noop(
        "On hold: no engine holds the cluster’s Lease, and this one can’t acquire it. The Clusters page shows why."
    ),
}
HELD = gettext_noop("On hold by the safeguard %(interlock)s.")
HELD_BACK = gettext_noop("The decision is on hold.")
"""Where it is not known by what."""
_OUTSIDE = gettext_noop("On hold: Enforce is limited to some queues and namespaces, and %(queue)s is outside them.")
_PAUSED = gettext_noop("On hold: %(queue)s is paused, so no pods are evicted for it.")
_ALL_PAUSED = gettext_noop("On hold: %(queue)s is paused, and the pending pod does not fit without evicting its pods.")
_ALL_BUDGETS = gettext_noop(
    "On hold: the disruption budget %(budget)s does not allow these evictions, and no other pods free enough."
)


def pod_label(reason: str, policy: str) -> Message:
    """Return a pod's reason in a word or two, for counts."""
    labels = {**POD_LABELS, **texts_of(policy).pod_labels}
    return Message(labels[PodReason(reason)]) if reason in set(PodReason) else Message(reason)


def pod_verdict(verdict: PodVerdict, decision: Decision) -> Message:
    """Return why a pod is evicted or kept, for a table row beside the pod's name."""
    if (with_group := groups.pod_verdict(decision, verdict)) is not None:
        return with_group
    template = _pod_sentence(verdict, decision.policy)
    params: dict[str, Param] = {
        "queue": short_name(verdict.detail or verdict.pod.queue),
        "own": short_name(verdict.pod.queue),
        "priority": str(verdict.pod.priority),
        "held": format_amount_list(verdict.pod.requests),
        "rule": Name(verdict.detail),
        "budget": Name(verdict.detail),
    }
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})


def _pod_sentence(verdict: PodVerdict, policy: str) -> str:
    if policy == priority.POLICY and verdict.reason is PodReason.NOT_NEEDED and verdict.detail:
        return priority.PUT_BACK_FIRST
    return texts_of(policy).pods.get(verdict.reason, POD_SENTENCES[verdict.reason])


def allowed(decision: Decision) -> tuple[Message, ...]:
    """Return what allowed each victim, in the victims' order: each counts on what the victims before it left."""
    evicted: dict[tuple[str, str], int] = {}
    messages = []
    for verdict in decision.victims:
        messages.append(_allowed(decision, verdict, evicted))
        for resource, held in verdict.pod.requests.items():
            key = (verdict.pod.queue, resource)
            evicted[key] = evicted.get(key, 0) + held
    return tuple(messages)


def _allowed(decision: Decision, verdict: PodVerdict, evicted: dict[tuple[str, str], int]) -> Message:
    pod = verdict.pod
    if verdict.reason is PodReason.OVER_DESERVED and (why := deserved.allowed(decision, verdict, evicted)):
        return why
    queue_figures = figures(decision, pod.queue)
    if verdict.reason is not PodReason.OVER_GUARANTEE or queue_figures is None:
        return pod_verdict(verdict, decision)
    held = [name for name, value in pod.requests.items() if value > 0 and name != PODS]
    decisive_resource = decisive(decision)
    resource = narrowest(queue_figures, [name for name in held if name == decisive_resource]) or narrowest(
        queue_figures, held
    )
    if resource is None:
        return Message(ALLOWED_UNGUARANTEED, {"queue": short_name(pod.queue)})
    before = queue_figures.before.get(resource, 0) - evicted.get((pod.queue, resource), 0)
    return Message(
        ALLOWED,
        {
            "queue": short_name(pod.queue),
            "before": format_amount(resource, before),
            "guaranteed": format_amount(resource, queue_figures.guaranteed[resource]),
            "resource": resource,
            "after": format_amount(resource, before - pod.requests[resource]),
        },
    )


def node_label(reason: str) -> Message:
    """Return a node's reason in a word or two, for counts."""
    return Message(NODE_LABELS[NodeReason(reason)]) if reason in set(NodeReason) else Message(reason)


def node_verdict(verdict: NodeVerdict) -> Message:
    """Return why a node was not chosen."""
    if verdict.reason is NodeReason.DEARER and verdict.detail in DEARER:
        return plural_message(DEARER[verdict.detail], verdict.victims)
    if verdict.limit:
        return limited_node(verdict.limit, verdict.victims)
    if verdict.reason is NodeReason.NOT_ENOUGH and verdict.victims:
        return plural_message(NOT_ENOUGH_COUNTED, verdict.victims)
    if verdict.victims and verdict.reason in priority.NODES:
        return plural_message(priority.NODES[verdict.reason], verdict.victims, detail=Name(verdict.detail))
    template = NODE_SENTENCES[verdict.reason]
    return Message(template, {"detail": Name(verdict.detail)} if "%(detail)s" in template else {})


def held_back(decision: Decision | None, hold: str) -> Message:
    """Return why a decision is held back, with the budget or the queue where no other choice was allowed."""
    safeguard = decision.safeguard if decision is not None else None
    if decision is None or not safeguard or safeguard.interlock != hold:
        return hold_message(hold)
    if hold == Interlock.DISRUPTION_BUDGET:
        return Message(_ALL_BUDGETS, {"budget": Name(safeguard.detail)})
    queue = safeguard.detail
    if hold == Interlock.OUT_OF_SCOPE:
        return Message(_OUTSIDE, {"queue": short_name(queue)})
    in_that_queue = decision.ask.queue == queue or decision.ask.queue.startswith(f"{queue}.")
    return Message(_PAUSED if in_that_queue else _ALL_PAUSED, {"queue": short_name(queue)})


def hold_message(hold: str) -> Message:
    """Return that a decision is held back, and by which safeguard: the sentence that follows those of the decision."""
    if not hold:
        return Message(HELD_BACK)
    if hold in set(Interlock):
        return Message(INTERLOCKS[Interlock(hold)])
    return Message(HELD, {"interlock": hold})

"""Explains why each pod was evicted or kept, why each node was not chosen, and what held a decision back."""

from engine.explain.decision import deserved, priority
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
from engine.policies import foreign_dialects, texts_of

POD_LABELS: dict[PodReason, str] = {
    PodReason.OVER_GUARANTEE: gettext_noop("above guarantee"),
    PodReason.LAST_RESORT: gettext_noop("last resort"),
    PodReason.LOWER_PRIORITY: gettext_noop("lower priority"),
    PodReason.OVER_BUDGET: gettext_noop("beyond its disruption budget"),
    PodReason.NOT_NEEDED: gettext_noop("not needed"),
    PodReason.GUARANTEE: gettext_noop("guarantee"),
    PodReason.NO_HELP: gettext_noop("no help"),
    PodReason.WANTED_NEAR: gettext_noop("wanted near"),
    PodReason.SAME_QUEUE: gettext_noop("same queue"),
    PodReason.SAME_APPLICATION: gettext_noop("same application"),
    PodReason.ENTITLED_SUBTREE: gettext_noop("under the same guarantee"),
    PodReason.OUTSIDE_FENCE: gettext_noop("outside the fence"),
    PodReason.HIGHER_PRIORITY: gettext_noop("higher priority"),
    PodReason.DISABLED: gettext_noop("preemption disabled"),
    PodReason.PAUSED: gettext_noop("queue paused"),
    PodReason.OUTSIDE_SCOPE: gettext_noop("enforce is limited"),
    PodReason.OPTED_OUT: gettext_noop("opted out"),
    PodReason.DAEMONSET: gettext_noop("DaemonSet"),
    PodReason.TERMINATING: gettext_noop("on its way out"),
    PodReason.NO_QUEUE: gettext_noop("no queue"),
    PodReason.SHIELDED: gettext_noop("protected"),
    PodReason.IN_QUEUE: gettext_noop("in its own queue"),
    PodReason.RECLAIMED: gettext_noop("claimed back"),
    PodReason.RECLAIMED_BORROWING: gettext_noop("claimed back while borrowing"),
    PodReason.FAIR_SHARING: gettext_noop("fair sharing"),
    PodReason.RULES: gettext_noop("not by its queue’s rules"),
    PodReason.NOT_BORROWING: gettext_noop("borrows nothing"),
    PodReason.NOT_WHILE_BORROWING: gettext_noop("not while borrowing"),
    PodReason.SHARE: gettext_noop("smaller share"),
    PodReason.OVER_DESERVED: gettext_noop("more than deserved"),
    PodReason.WITHIN_DESERVED: gettext_noop("no more than deserved"),
    PodReason.IN_GRACE: gettext_noop("grace period"),
    PodReason.SYSTEM: gettext_noop("the cluster’s own"),
}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.OVER_GUARANTEE: gettext_noop("%(queue)s uses more than it is guaranteed (laws 2 and 5)"),
    PodReason.LAST_RESORT: gettext_noop("opted out, but nothing else makes the room: the last resort (law 1)"),
    PodReason.NOT_NEEDED: gettext_noop("may go, but the others make the room without it"),
    PodReason.LOWER_PRIORITY: gettext_noop("of the lower priority %(priority)s"),
    PodReason.OVER_BUDGET: gettext_noop("the disruption budget %(budget)s does not allow for it"),
    PodReason.GUARANTEE: gettext_noop("without it %(queue)s would be below its guarantee (law 2)"),
    PodReason.NO_HELP: gettext_noop("holds %(held)s, nothing of what the node lacks"),
    PodReason.WANTED_NEAR: gettext_noop("has to stay: the ask may run only near it (pod affinity)"),
    PodReason.SAME_QUEUE: gettext_noop("runs in %(queue)s, as the ask does (law 3)"),
    PodReason.SAME_APPLICATION: gettext_noop("belongs to the ask’s own application (law 3)"),
    PodReason.ENTITLED_SUBTREE: gettext_noop("runs under %(queue)s, whose guarantee the ask claims (law 4)"),
    PodReason.OUTSIDE_FENCE: gettext_noop("runs in %(own)s, beyond the fence of %(queue)s (law 7)"),
    PodReason.HIGHER_PRIORITY: gettext_noop("has the higher priority %(priority)s (law 6)"),
    PodReason.DISABLED: gettext_noop("runs under %(queue)s, where preemption is disabled"),
    PodReason.OUTSIDE_SCOPE: gettext_noop("is in none of the queues and namespaces that enforce is limited to"),
    PodReason.PAUSED: gettext_noop("runs under %(queue)s, which is paused: nothing is evicted there"),
    PodReason.OPTED_OUT: gettext_noop("opted out of preemption by its priority class (law 1)"),
    PodReason.DAEMONSET: gettext_noop("a DaemonSet’s pod, which would come straight back to the node"),
    PodReason.TERMINATING: gettext_noop("already on its way out"),
    PodReason.NO_QUEUE: gettext_noop("runs in no queue"),
    PodReason.SHIELDED: gettext_noop("protected, whatever the policy says (%(rule)s)"),
    PodReason.IN_QUEUE: gettext_noop("of %(queue)s as the ask is, whose rules let it be taken"),
    PodReason.RECLAIMED: gettext_noop("%(queue)s uses more than its own quota, and others claim it back"),
    PodReason.RECLAIMED_BORROWING: gettext_noop(
        "%(queue)s uses more than its own quota, and its priority %(priority)s is low enough for an ask that borrows"
    ),
    PodReason.FAIR_SHARING: gettext_noop("%(queue)s has the larger share"),
    PodReason.RULES: gettext_noop("the rules of the ask’s queue let it take nothing from %(queue)s"),
    PodReason.NOT_BORROWING: gettext_noop("%(queue)s uses no more than its own quota of what is short, or no longer"),
    PodReason.NOT_WHILE_BORROWING: gettext_noop(
        "the rules of the ask’s queue let it take this one only while it borrows nothing itself"
    ),
    PodReason.SHARE: gettext_noop("without it %(queue)s would have a smaller share than the ask’s side"),
    PodReason.OVER_DESERVED: gettext_noop("%(queue)s uses more than it deserves"),
    PodReason.WITHIN_DESERVED: gettext_noop("%(queue)s uses no more than it deserves of what is asked"),
    PodReason.IN_GRACE: gettext_noop("%(queue)s uses more than it deserves, and still has time to give back by itself"),
    PodReason.SYSTEM: gettext_noop("belongs to the cluster itself, which deserves all that it asks"),
}
ALLOWED = gettext_noop("laws 2, 5: %(queue)s %(before)s > %(guaranteed)s %(resource)s, stays at %(after)s")
ALLOWED_THEIRS = gettext_noop(
    "%(queue)s has %(before)s %(resource)s where %(guaranteed)s are guaranteed, and %(after)s without it"
)
"""Under another scheduler's rules: none of our invariants has allowed it."""
ALLOWED_UNGUARANTEED = gettext_noop("laws 2, 5: %(queue)s is guaranteed nothing of what it holds")

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
    NodeReason.CLAIM_IN_USE: gettext_noop("claim in use"),
    NodeReason.UNBOUND_CLAIM: gettext_noop("claim not bound"),
    NodeReason.VOLUME: gettext_noop("volume out of reach"),
    NodeReason.VOLUME_ZONE: gettext_noop("volume in another zone"),
    NodeReason.SPREAD: gettext_noop("topology spread"),
    NodeReason.SPREAD_KEY: gettext_noop("no spread label"),
    NodeReason.POD_AFFINITY: gettext_noop("pod affinity"),
    NodeReason.ANTI_AFFINITY: gettext_noop("pod anti-affinity"),
    NodeReason.KEPT_OUT: gettext_noop("kept out"),
    NodeReason.RESERVED: gettext_noop("reserved"),
    NodeReason.UNREAD: gettext_noop("unread"),
    NodeReason.NO_CANDIDATES: gettext_noop("no candidates"),
    NodeReason.NOT_ENOUGH: gettext_noop("not enough"),
}
NODE_SENTENCES: dict[NodeReason, str] = {
    NodeReason.DEARER: gettext_noop("its victims would cost more"),
    NodeReason.UNSCHEDULABLE: gettext_noop("cordoned: it takes no new pods"),
    NodeReason.NOT_READY: gettext_noop("not ready"),
    NodeReason.TAINT: gettext_noop("taint %(detail)s, which the ask does not tolerate"),
    NodeReason.SELECTOR: gettext_noop("lacks the label %(detail)s of the ask’s node selector"),
    NodeReason.AFFINITY: gettext_noop("the ask’s node affinity does not match it"),
    NodeReason.HOST_PORT: gettext_noop("host port %(detail)s is taken by a pod that stays"),
    NodeReason.TOO_SMALL: gettext_noop("too small even when empty: not enough %(detail)s"),
    NodeReason.INSUFFICIENT: gettext_noop("not enough %(detail)s is free"),
    NodeReason.CLAIM_IN_USE: gettext_noop("another pod uses %(detail)s, which one pod at a time may use"),
    NodeReason.UNBOUND_CLAIM: gettext_noop("the ask’s claim %(detail)s is not bound to a volume"),
    NodeReason.VOLUME: gettext_noop("the volume of the ask’s claim %(detail)s can’t be reached from it"),
    NodeReason.VOLUME_ZONE: gettext_noop("the volume of the ask’s claim %(detail)s lies in another zone"),
    NodeReason.SPREAD: gettext_noop("its %(detail)s would have too many of the pods that are to be spread"),
    NodeReason.SPREAD_KEY: gettext_noop("lacks the label %(detail)s, by which the ask is to be spread"),
    NodeReason.POD_AFFINITY: gettext_noop("its %(detail)s has no pod that the ask wants to be near"),
    NodeReason.ANTI_AFFINITY: gettext_noop("its %(detail)s has a pod that the ask keeps away from"),
    NodeReason.KEPT_OUT: gettext_noop("its %(detail)s has a pod that keeps away from the ask"),
    NodeReason.RESERVED: gettext_noop("reserved for another ask"),
    NodeReason.UNREAD: gettext_noop("it, or a pod on it, can’t be read, so what is free on it is not known"),
    NodeReason.NO_CANDIDATES: gettext_noop("no pod on it may go"),
    NodeReason.NOT_ENOUGH: gettext_noop("the pods on it that may go do not make the room"),
}
NOT_ENOUGH_COUNTED = ngettext_noop(
    "the one pod on it that may go does not make the room",
    "the %(count)s pods on it that may go do not make the room together",
)
DEARER: dict[str, tuple[str, str]] = {
    "opted-out": ngettext_noop(
        "would take %(count)s pod, and more that opted out", "would take %(count)s pods, and more that opted out"
    ),
    "originators": ngettext_noop(
        "would take %(count)s pod, and more originators", "would take %(count)s pods, and more originators"
    ),
    "priority": ngettext_noop(
        "would take %(count)s pod of a higher priority", "would take %(count)s pods, one of a higher priority"
    ),
    "victims": ngettext_noop("would take %(count)s pod, which is more", "would take %(count)s pods, which is more"),
    "violations": ngettext_noop(
        "would take %(count)s pod, beyond more disruption budgets",
        "would take %(count)s pods, beyond more disruption budgets",
    ),
    "sum": ngettext_noop(
        "would take %(count)s pod of higher priority in sum", "would take %(count)s pods of higher priority in sum"
    ),
    "start": ngettext_noop(
        "would take %(count)s pod that started earlier",
        "would take %(count)s pods, the most important of which started earlier",
    ),
    "distance": ngettext_noop(
        "would take %(count)s pod from further away in the tree",
        "would take %(count)s pods from further away in the tree",
    ),
    "work-lost": ngettext_noop(
        "would take %(count)s pod that has run for longer", "would take %(count)s pods that have run for longer"
    ),
    "age": ngettext_noop("would take %(count)s older pod", "would take %(count)s pods, the newest of them older"),
    "name": ngettext_noop(
        "would cost the same, %(count)s pod; the first name decides",
        "would cost the same, %(count)s pods; the first name decides",
    ),
}
INTERLOCKS: dict[Interlock, str] = {
    Interlock.PAUSED: gettext_noop("Held back: the cluster is paused."),
    Interlock.QUEUE_PAUSED: gettext_noop("Held back: the queue of the ask or of a victim is paused."),
    Interlock.DENY_WINDOW: gettext_noop("Held back: these are hours in which nothing may be evicted."),
    Interlock.ALLOW_WINDOW: gettext_noop("Held back: these are not the hours in which evictions are allowed."),
    Interlock.WATCH_GAP: gettext_noop("Held back: a part of the cluster has not been followed for a while."),
    Interlock.CLOCK_SKEW: gettext_noop("Held back: our clock and the API server’s differ too much."),
    Interlock.NODES_NOT_READY: gettext_noop("Held back: too many nodes are not ready."),
    Interlock.FAILING_WRITES: gettext_noop("Held back: too many of our requests to the API server fail."),
    Interlock.EVICTIONS_PER_PASS: gettext_noop("Held back: it would exceed the evictions allowed in a pass."),
    Interlock.EVICTIONS_PER_MINUTE: gettext_noop("Held back: it would exceed the evictions allowed in a minute."),
    Interlock.EVICTIONS_PER_QUEUE: gettext_noop("Held back: a queue would lose more pods than allowed in a minute."),
    Interlock.EVICTIONS_PER_NAMESPACE: gettext_noop(
        "Held back: a namespace would lose more pods than allowed in a minute."
    ),
    Interlock.EVICTIONS_PER_NODE: gettext_noop("Held back: a node would lose more pods than allowed in a minute."),
    Interlock.RESERVED_NODES: gettext_noop("Held back: as many nodes as allowed are reserved already."),
    Interlock.DISRUPTION_BUDGET: gettext_noop("Held back: it would break a pod disruption budget."),
    Interlock.COOL_DOWN: gettext_noop(
        "Held back: the last decision for this ask came to nothing, so it waits a while."
    ),
    Interlock.LEASE: gettext_noop("Held back: another installation acts on this cluster, or may still believe so."),
    Interlock.RIVAL: gettext_noop(
        "Held back: another scheduler has appeared in the cluster since enforce was set, and nobody has confirmed that"
        " both are to act."
    ),
    Interlock.SCOPE: gettext_noop(
        "Held back: enforce is limited to some queues and namespaces, and the ask or a victim is in none of them."
    ),
    Interlock.STOPPED: gettext_noop("Held back: somebody stopped all engines in the cluster itself, by its lease."),
    Interlock.NO_LEASE: gettext_noop(
        "Held back: nobody holds the cluster’s lease, and we can’t take it; without it nothing is evicted. The page"
        " Clusters says why."
    ),
}
HELD = gettext_noop("Held back by an interlock: %(interlock)s.")
HELD_BACK = gettext_noop("The decision is held back.")
"""Where it is not known by what."""
_OUTSIDE = gettext_noop("Held back: enforce is limited to some queues and namespaces, and %(queue)s is none of them.")
_PAUSED = gettext_noop("Held back: %(queue)s is paused, so nothing is evicted for its pods.")
_ALL_PAUSED = gettext_noop("Held back: %(queue)s is paused, and without its pods there is no room for the ask.")
_ALL_BUDGETS = gettext_noop(
    "Held back: the disruption budget %(budget)s does not allow for these evictions, and no other pods make the room."
)


def pod_label(reason: str, policy: str) -> Message:
    """Return a pod's reason in a word or two, for counts."""
    labels = {**POD_LABELS, **texts_of(policy).pod_labels}
    return Message(labels[PodReason(reason)]) if reason in set(PodReason) else Message(reason)


def pod_verdict(verdict: PodVerdict, policy: str) -> Message:
    """Return why a pod is evicted or kept, for a table row beside the pod's name."""
    template = _pod_sentence(verdict, policy)
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
        return pod_verdict(verdict, decision.policy)
    held = [name for name, value in pod.requests.items() if value > 0 and name != PODS]
    decisive_resource = decisive(decision)
    resource = narrowest(queue_figures, [name for name in held if name == decisive_resource]) or narrowest(
        queue_figures, held
    )
    if resource is None:
        return Message(ALLOWED_UNGUARANTEED, {"queue": short_name(pod.queue)})
    before = queue_figures.before.get(resource, 0) - evicted.get((pod.queue, resource), 0)
    return Message(
        ALLOWED_THEIRS if decision.dialect in foreign_dialects() else ALLOWED,
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
    if hold == Interlock.SCOPE:
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

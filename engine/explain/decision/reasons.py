"""Explains why a decision ended as it did: for every Reason a short label, and a sentence with its numbers."""

from collections.abc import Callable

from engine.explain.decision import deserved, groups, priority, quota
from engine.explain.decision.figures import decisive, figures, requested_amounts, shortfall
from engine.explain.decision.joint_limits import limited_decision
from engine.explain.group_wording import for_group
from engine.explain.observed.evictions import LABELS as OBSERVED_LABELS
from engine.model.decision import Decision, Outcome, Reason
from engine.model.message import (
    Message,
    Name,
    Param,
    Timestamp,
    format_amount_list,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
)
from engine.model.quantities import format_amount
from engine.policies import fence, texts_of
from engine.policies.priority.texts import REASONS

LABELS: dict[Reason, str] = {
    Reason.BELOW_GUARANTEE: gettext_noop("below guarantee"),
    Reason.DAEMONSET: gettext_noop("DaemonSet"),
    Reason.LAST_RESORT: gettext_noop("last resort"),
    Reason.LOWER_PRIORITY: gettext_noop("lower priority"),
    Reason.FITS: gettext_noop("fits"),
    Reason.FITS_SOON: gettext_noop("room is being freed"),
    Reason.NO_QUEUE: gettext_noop("no queue"),
    Reason.WAITING_FOR_VICTIMS: gettext_noop("waiting for victims to exit"),
    Reason.NEVER: gettext_noop("preemption policy Never"),
    Reason.DISABLED: gettext_noop("preemption disabled"),
    Reason.NOT_TRIED: gettext_noop("not tried yet"),
    Reason.DELAY: gettext_noop("preemption delay"),
    Reason.NO_GUARANTEE: gettext_noop("no guarantee"),
    Reason.AT_GUARANTEE: gettext_noop("not below guarantee"),
    Reason.OVER_MAX: gettext_noop("over max"),
    Reason.OVER_GUARANTEE: gettext_noop("more than is left of the guarantee"),
    Reason.QUEUE_FULL: gettext_noop("queue full"),
    Reason.TURNED_OFF: gettext_noop("preemption off"),
    Reason.VICTIMS_TOO_SMALL: gettext_noop("victims too small"),
    Reason.LOWERED_MAX: gettext_noop("max lowered"),
    Reason.UNREAD_RULES: gettext_noop("rules not supported"),
    Reason.UNREAD: gettext_noop("unreadable pod"),
    Reason.FENCE: gettext_noop("fence"),
    Reason.NO_CANDIDATES: gettext_noop("no candidates"),
    Reason.NO_ROOM: gettext_noop("no room"),
    Reason.SEARCH_LIMIT: gettext_noop("search limit"),
    Reason.DECIDED_WITH: gettext_noop("decided with another pod"),
    Reason.PLACEHOLDER: gettext_noop("takes the place of a placeholder"),
    Reason.NO_GROUP: gettext_noop("group missing"),
    Reason.TOO_FEW_MEMBERS: gettext_noop("too few pods of the group"),
    Reason.GATED_MEMBER: gettext_noop("scheduling gate"),
    Reason.MEMBERS_DIFFER: gettext_noop("pods of the group differ"),
    Reason.QUEUES_DIFFER: gettext_noop("several queues or applications"),
    Reason.ONE_NODE_ONLY: gettext_noop("one node only"),
    Reason.SHORT_OF_QUOTA: gettext_noop("short of quota"),
    Reason.BEYOND_QUOTA: gettext_noop("exceeds all quota"),
    Reason.BORROWS: gettext_noop("would have to borrow"),
    Reason.BELOW_DESERVED: gettext_noop("below deserved share"),
    Reason.HIGH_PRIORITY: gettext_noop("high priority"),
    Reason.GRACE: gettext_noop("grace period"),
    Reason.BEYOND_DESERVED: gettext_noop("above deserved share"),
}
SENTENCES: dict[Reason, str] = {
    Reason.BELOW_GUARANTEE: gettext_noop(
        "%(queue)s is %(short)s below its guarantee of %(guaranteed)s in %(resource)s, so its pending pods can preempt."
    ),
    Reason.DAEMONSET: gettext_noop("It is a DaemonSet’s pod for %(node)s, so room can be made only there."),
    Reason.LAST_RESORT: gettext_noop(
        "No other pods on %(node)s free enough, so pods that opted out of preemption are preempted as a last resort."
    ),
    Reason.LOWER_PRIORITY: gettext_noop(
        "No node has room for %(asked)s, and evicting pods with a lower priority makes room."
    ),
    Reason.FITS: gettext_noop("It requests %(asked)s, and %(node)s has room without any eviction."),
    Reason.FITS_SOON: gettext_noop(
        "It requests %(asked)s, and %(node)s will have room once the terminating pods are gone."
    ),
    Reason.NO_QUEUE: gettext_noop(
        "It belongs to no queue: its label names no leaf queue, and no leaf queue claims the namespace %(namespace)s."
    ),
    Reason.WAITING_FOR_VICTIMS: gettext_noop("It is nominated to %(node)s, where its victims are still terminating."),
    Reason.NEVER: gettext_noop(
        "Its priority class sets preemptionPolicy: Never, so it can’t preempt. kube-scheduler tries it "
        "before pods with a lower priority, but retries less and less often while it does not fit. Pods "
        "with a lower priority may be scheduled in between."
    ),
    Reason.DISABLED: gettext_noop(
        "Preemption is disabled in %(queue)s: its pods can neither preempt nor be preempted."
    ),
    Reason.NOT_TRIED: gettext_noop("The scheduler has not yet reported that no node has room for it."),
    Reason.DELAY: gettext_noop("The preemption delay of its queue is not over. It can preempt from %(due)s on."),
    Reason.NO_GUARANTEE: gettext_noop(
        "It requests %(asked)s, and neither its queue nor any parent queue has a guarantee for that."
    ),
    Reason.AT_GUARANTEE: gettext_noop(
        "%(queue)s uses %(used)s %(resource)s, and its guarantee is %(guaranteed)s. Only queues below "
        "their guarantee can preempt."
    ),
    Reason.OVER_MAX: gettext_noop(
        "It would take %(queue)s to %(would)s %(resource)s, above its max of %(max)s. No eviction can change that."
    ),
    Reason.OVER_GUARANTEE: gettext_noop(
        "It requests %(asked)s, more than is left of the guarantee of %(queue)s. YuniKorn preempts only "
        "for pods that fit into it completely."
    ),
    Reason.QUEUE_FULL: gettext_noop(
        "Its queue or a parent queue is at its max, and none of the pods that can be preempted would free room in it."
    ),
    Reason.TURNED_OFF: gettext_noop("Preemption is off for the whole partition (preemption.enabled)."),
    Reason.VICTIMS_TOO_SMALL: gettext_noop(
        "The victims on %(node)s hold less than %(asked)s. YuniKorn preempts at most two pods and counts "
        "only them, not the node’s free capacity."
    ),
    Reason.LOWERED_MAX: gettext_noop("The max of %(queue)s was lowered below its usage."),
    Reason.UNREAD_RULES: gettext_noop(
        "It has scheduling rules that are not supported here (%(rules)s), so no decision is made for it."
    ),
    Reason.UNREAD: gettext_noop(
        "A pod of %(queue)s can’t be read, so the usage of %(queue)s is unknown. Until it can be read, no "
        "pods are preempted for this queue."
    ),
    Reason.FENCE: gettext_noop("The fence of %(queue)s contains no other queue to preempt from."),
    Reason.NO_CANDIDATES: gettext_noop("No running pod can be preempted for it."),
    Reason.NO_ROOM: gettext_noop("No pods can be preempted together to free %(asked)s on one node."),
    Reason.SEARCH_LIMIT: gettext_noop(
        "No set of pods that frees enough room was found among those that were tried, but not all sets were tried."
    ),
    Reason.DECIDED_WITH: gettext_noop(
        "It belongs to the same group as %(pod)s, and one decision covers the whole group."
    ),
    Reason.PLACEHOLDER: gettext_noop(
        "YuniKorn starts it in the place of a placeholder of its application, such as %(pod)s. So it needs no room of "
        "its own, and no pods are preempted for it."
    ),
    Reason.NO_GROUP: gettext_noop(
        "It belongs to the group %(group)s, which does not exist. kube-scheduler does not try it before the group "
        "exists."
    ),
    Reason.TOO_FEW_MEMBERS: gettext_noop("Fewer pods of its group exist than have to run at once."),
    Reason.GATED_MEMBER: gettext_noop(
        "A pod of its group has scheduling gates. kube-scheduler does not try the group before they are removed."
    ),
    Reason.MEMBERS_DIFFER: gettext_noop("The pods of its group differ in priority, scheduler or preemption policy."),
    Reason.QUEUES_DIFFER: gettext_noop("The pods of its group are of several queues or applications."),
    Reason.ONE_NODE_ONLY: gettext_noop("A pod of its group can run on one node only, so the group can’t preempt."),
    Reason.SHORT_OF_QUOTA: gettext_noop(
        "Its queue has too little quota left, and other queues give back what they borrowed."
    ),
    Reason.BEYOND_QUOTA: gettext_noop("It requests more than its queue can ever get."),
    Reason.BORROWS: gettext_noop(
        "Its queue would have to borrow, and its rules do not let it preempt for borrowed quota."
    ),
    Reason.BELOW_DESERVED: gettext_noop("Its queue is below its deserved share, and other queues are above theirs."),
    Reason.HIGH_PRIORITY: gettext_noop(
        "It would take its queue above its deserved share, but pods of its priority class are allowed to exceed it."
    ),
    Reason.GRACE: gettext_noop(
        "%(queue)s uses more than its deserved share. It was notified and is still in its grace period."
    ),
    Reason.BEYOND_DESERVED: gettext_noop("It would take its queue above its deserved share."),
}
BELOW_UNKNOWN = gettext_noop("Its queue is below its guarantee, so its pending pods can preempt.")
AT_UNKNOWN = gettext_noop("Its queue already uses its whole guarantee. Only queues below their guarantee can preempt.")
MAX_UNKNOWN = gettext_noop("It would take its queue above its max. No eviction can change that.")
NEVER_CLASS = gettext_noop(
    "Its priority class %(name)s sets preemptionPolicy: Never, so it can’t preempt. kube-scheduler tries "
    "it before pods with a lower priority, but retries less and less often while it does not fit. Pods "
    "with a lower priority may be scheduled in between."
)
DELAY_UNKNOWN = gettext_noop("The preemption delay of its queue is not over.")
NO_CANDIDATES_COUNTED = ngettext_noop(
    "No pod can be preempted for it: the only pod outside its queue is not eligible.",
    "No pod can be preempted for it: none of the %(count)s pods outside its queue is eligible.",
)
NO_ROOM_COUNTED = ngettext_noop(
    "%(count)s pod can be preempted for it, but this frees %(asked)s on no node.",
    "%(count)s pods can be preempted for it, but on no node do they free %(asked)s.",
)
FITS_OVER_MAX = gettext_noop(
    "It requests %(asked)s, and %(node)s has room without any eviction. It takes %(queue)s to %(would)s "
    "%(resource)s, above its max of %(max)s, but kube-scheduler does not check max."
)
UNKNOWN = gettext_noop("%(reason)s")
SCHEDULER_SAYS = gettext_noop("The scheduler reports: %(message)s")


def label(reason: str) -> Message:
    """Return a reason in a word or two, for tables; an unknown reason is shown as it was recorded."""
    if reason in OBSERVED_LABELS:
        return Message(OBSERVED_LABELS[reason])
    return Message(LABELS[Reason(reason)]) if reason in set(Reason) else Message(UNKNOWN, {"reason": reason})


def reason(decision: Decision) -> Message:
    """Return why the decision ended as it did, in a sentence with its numbers."""
    return for_group(_reason(decision)) if decision.group else _reason(decision)


def _reason(decision: Decision) -> Message:
    if decision.by_quota and (message := quota.reason(decision)) is not None:
        return message
    if decision.policy == deserved.POLICY and (message := deserved.reason(decision)) is not None:
        return message
    if decision.group and (message := groups.reason(decision, decision.group)) is not None:
        return message
    special = _WITH_NUMBERS.get(decision.reason)
    if special is not None:
        return special(decision)
    params = {
        "asked": format_amount_list(requested_amounts(decision)),
        "node": Name(decision.node or decision.detail),
        "namespace": Name(decision.ask.namespace),
        "queue": short_name(decision.detail),
        "rules": Name(decision.detail),
        "priority": str(decision.ask.priority),
        "pod": Name(decision.detail.rpartition("/")[2]),
        "group": Name(decision.detail),
    }
    template = texts_of(decision.policy).reasons.get(decision.reason, SENTENCES[decision.reason])
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})


def scheduler_message(decision: Decision) -> Message | None:
    """Return why the pod is pending in the words of the cluster's own scheduler; None where there are none."""
    if not decision.ask.unschedulable or decision.outcome in (Outcome.FITS, Outcome.PREEMPT):
        return None
    return Message(SCHEDULER_SAYS, {"message": decision.ask.unschedulable})


def _below(decision: Decision) -> Message:
    resource = decisive(decision)
    claim = shortfall(decision, resource) if resource else None
    queue_figures = figures(decision, claim[0]) if claim else None
    if resource is None or claim is None or queue_figures is None:
        return Message(BELOW_UNKNOWN)
    return Message(
        SENTENCES[Reason.BELOW_GUARANTEE],
        {
            "queue": short_name(claim[0]),
            "short": format_amount(resource, claim[1]),
            "guaranteed": format_amount(resource, queue_figures.guaranteed[resource]),
            "resource": resource,
        },
    )


def _at(decision: Decision) -> Message:
    path, _, resource = decision.detail.partition(" ")
    queue_figures = figures(decision, path)
    if queue_figures is None or resource not in queue_figures.guaranteed:
        return Message(AT_UNKNOWN)
    return Message(
        SENTENCES[Reason.AT_GUARANTEE],
        {
            "queue": short_name(path),
            "used": format_amount(resource, queue_figures.before.get(resource, 0)),
            "guaranteed": format_amount(resource, queue_figures.guaranteed[resource]),
            "resource": resource,
        },
    )


def _over_max(decision: Decision) -> Message:
    path, _, resource = decision.detail.partition(" ")
    queue_figures = figures(decision, path)
    if queue_figures is None or resource not in queue_figures.max:
        return Message(MAX_UNKNOWN)
    would = queue_figures.before.get(resource, 0) + decision.ask.requests.get(resource, 0)
    return Message(
        SENTENCES[Reason.OVER_MAX],
        {
            "queue": short_name(path),
            "would": format_amount(resource, would),
            "max": format_amount(resource, queue_figures.max[resource]),
            "resource": resource,
        },
    )


def _fits(decision: Decision) -> Message:
    """Return why the pod fits. Under ``design`` a max that it exceeds stops nothing where a node has room."""
    params: dict[str, Param] = {
        "asked": format_amount_list(requested_amounts(decision)),
        "node": Name(decision.node or decision.detail),
    }
    for queue_figures in decision.trace.queues if decision.dialect == fence.DIALECT else ():
        for resource, most in sorted(queue_figures.max.items()):
            requested = decision.ask.requests.get(resource, 0)
            would = queue_figures.before.get(resource, 0) + requested
            if requested > 0 and would > most:
                over = {"would": format_amount(resource, would), "max": format_amount(resource, most)}
                queue = short_name(queue_figures.path)
                return Message(FITS_OVER_MAX, {**params, "queue": queue, "resource": resource, **over})
    return Message(SENTENCES[Reason.FITS], params)


def _never(decision: Decision) -> Message:
    if not decision.detail:
        return Message(SENTENCES[Reason.NEVER])
    return Message(NEVER_CLASS, {"name": Name(decision.detail)})


def _delay(decision: Decision) -> Message:
    if decision.due_ms is None:
        return Message(DELAY_UNKNOWN)
    return Message(SENTENCES[Reason.DELAY], {"due": Timestamp(decision.due_ms)})


def _no_candidates(decision: Decision) -> Message:
    counts = decision.trace.excluded_counts
    if decision.policy == priority.POLICY:
        return _none_lower(decision)
    excluded = sum(counts.values()) - counts.get("same-queue", 0)
    return plural_message(NO_CANDIDATES_COUNTED, excluded) if excluded else Message(SENTENCES[Reason.NO_CANDIDATES])


def _none_lower(decision: Decision) -> Message:
    counts, preemptor_priority = decision.trace.excluded_counts, str(decision.ask.priority)
    if protected := counts.get("shielded", 0):
        return plural_message(priority.ALL_PROTECTED, protected, priority=preemptor_priority)
    if not counts:
        return Message(REASONS[Reason.NO_CANDIDATES], {"priority": preemptor_priority})
    return plural_message(priority.NO_CANDIDATES_COUNTED, sum(counts.values()), priority=preemptor_priority)


def _waiting(decision: Decision) -> Message:
    return Message(SENTENCES[Reason.WAITING_FOR_VICTIMS], {"node": Name(decision.detail)})


def _no_room(decision: Decision) -> Message:
    if (limited := limited_decision(decision)) is not None:
        return limited
    requests = format_amount_list(requested_amounts(decision))
    if not decision.trace.candidates:
        return Message(SENTENCES[Reason.NO_ROOM], {"asked": requests})
    return plural_message(NO_ROOM_COUNTED, decision.trace.candidates, asked=requests)


_WITH_NUMBERS: dict[Reason, Callable[[Decision], Message]] = {
    Reason.BELOW_GUARANTEE: _below,
    Reason.AT_GUARANTEE: _at,
    Reason.OVER_MAX: _over_max,
    Reason.FITS: _fits,
    Reason.NEVER: _never,
    Reason.DELAY: _delay,
    Reason.WAITING_FOR_VICTIMS: _waiting,
    Reason.NO_CANDIDATES: _no_candidates,
    Reason.NO_ROOM: _no_room,
}

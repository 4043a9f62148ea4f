"""Explains why a decision ended as it did: for every Reason a short label, and a sentence with its numbers."""

from collections.abc import Callable

from engine.explain.decision import deserved, priority, quota
from engine.explain.decision.figures import decisive, figures, requested_amounts, shortfall
from engine.explain.decision.joint_limits import limited_decision
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
    Reason.FITS_SOON: gettext_noop("fits soon"),
    Reason.NO_QUEUE: gettext_noop("no queue"),
    Reason.WAITING_FOR_VICTIMS: gettext_noop("waiting for victims"),
    Reason.NEVER: gettext_noop("preemption policy Never"),
    Reason.DISABLED: gettext_noop("preemption disabled"),
    Reason.NOT_TRIED: gettext_noop("not tried yet"),
    Reason.DELAY: gettext_noop("delay"),
    Reason.NO_GUARANTEE: gettext_noop("no guarantee"),
    Reason.AT_GUARANTEE: gettext_noop("at guarantee"),
    Reason.OVER_MAX: gettext_noop("over max"),
    Reason.OVER_GUARANTEE: gettext_noop("more than is left of the guarantee"),
    Reason.QUEUE_FULL: gettext_noop("queue full"),
    Reason.TURNED_OFF: gettext_noop("preemption turned off"),
    Reason.VICTIMS_TOO_SMALL: gettext_noop("victims too small"),
    Reason.LOWERED_MAX: gettext_noop("lowered max"),
    Reason.UNREAD_RULES: gettext_noop("unread rules"),
    Reason.UNREAD: gettext_noop("unread pod"),
    Reason.FENCE: gettext_noop("fence"),
    Reason.NO_CANDIDATES: gettext_noop("no candidates"),
    Reason.NO_ROOM: gettext_noop("no room"),
    Reason.SEARCH_LIMIT: gettext_noop("not all sets tried"),
    Reason.SHORT_OF_QUOTA: gettext_noop("short of quota"),
    Reason.DECIDED_WITH: gettext_noop("decided with another pod"),
    Reason.BEYOND_QUOTA: gettext_noop("beyond all quota"),
    Reason.BORROWS: gettext_noop("would have to borrow"),
    Reason.BELOW_DESERVED: gettext_noop("below what it deserves"),
    Reason.HIGH_PRIORITY: gettext_noop("high priority"),
    Reason.GRACE: gettext_noop("grace period"),
    Reason.BEYOND_DESERVED: gettext_noop("beyond what it deserves"),
}
SENTENCES: dict[Reason, str] = {
    Reason.BELOW_GUARANTEE: gettext_noop(
        "%(queue)s stands %(short)s below its guarantee of %(guaranteed)s in %(resource)s, so its asks may preempt."
    ),
    Reason.DAEMONSET: gettext_noop("It is a DaemonSet’s pod for %(node)s: only there can room be made for it."),
    Reason.LAST_RESORT: gettext_noop(
        "Nothing else on %(node)s makes room for it, so pods that opted out go as the last resort."
    ),
    Reason.LOWER_PRIORITY: gettext_noop("No node has room for %(asked)s, and pods of lower priority can make it."),
    Reason.FITS: gettext_noop("It asks %(asked)s, and %(node)s has room for that without any eviction."),
    Reason.FITS_SOON: gettext_noop(
        "It asks %(asked)s, and %(node)s has room for that once the pods that are on their way out are gone."
    ),
    Reason.NO_QUEUE: gettext_noop(
        "It runs in no queue: its label names no leaf, and no leaf claims the namespace %(namespace)s."
    ),
    Reason.WAITING_FOR_VICTIMS: gettext_noop(
        "Pods are on their way out for it already on %(node)s, which it is nominated to."
    ),
    Reason.NEVER: gettext_noop(
        "Its priority class says preemptionPolicy Never, so it preempts nothing. kube-scheduler tries it before pods "
        "of lower priority, but ever more rarely while it does not fit: between two tries those may go first."
    ),
    Reason.DISABLED: gettext_noop(
        "Preemption is disabled in %(queue)s: its pods neither preempt nor are they preempted."
    ),
    Reason.NOT_TRIED: gettext_noop("The scheduler has not yet found that no node has room for it."),
    Reason.DELAY: gettext_noop("The delay of its queue is not over: it may preempt from %(due)s on."),
    Reason.NO_GUARANTEE: gettext_noop(
        "It asks %(asked)s, and neither its queue nor any queue above is guaranteed any of that."
    ),
    Reason.AT_GUARANTEE: gettext_noop(
        "%(queue)s uses %(used)s %(resource)s and is guaranteed %(guaranteed)s: "
        "only while it uses less may its asks preempt (law 4)."
    ),
    Reason.OVER_MAX: gettext_noop(
        "With it %(queue)s would use %(would)s %(resource)s, and its max is %(max)s: no eviction can change that."
    ),
    Reason.OVER_GUARANTEE: gettext_noop(
        "It asks %(asked)s, and that is more than is left of the guarantee of %(queue)s: "
        "YuniKorn preempts only for asks that fit into it wholly."
    ),
    Reason.QUEUE_FULL: gettext_noop("Its queue or one above is at its max, and no pod that may go makes room there."),
    Reason.TURNED_OFF: gettext_noop("Preemption is turned off for the whole partition (preemption.enabled)."),
    Reason.VICTIMS_TOO_SMALL: gettext_noop(
        "The pods that would go on %(node)s hold less than %(asked)s. "
        "YuniKorn takes at most two, and counts them alone, whatever is free on the node."
    ),
    Reason.LOWERED_MAX: gettext_noop("The max of %(queue)s was lowered below what it uses."),
    Reason.UNREAD_RULES: gettext_noop(
        "It has placement rules that can’t be judged here (%(rules)s), so it is left alone rather than misjudged."
    ),
    Reason.UNREAD: gettext_noop(
        "A pod of %(queue)s can’t be read, so nobody knows how much %(queue)s uses: "
        "until it can, nothing is preempted for it."
    ),
    Reason.FENCE: gettext_noop("The fence of %(queue)s leaves no other queue to take from (law 7)."),
    Reason.NO_CANDIDATES: gettext_noop("No running pod may go for it."),
    Reason.NO_ROOM: gettext_noop("No pods that may go make room for %(asked)s on one node."),
    Reason.SEARCH_LIMIT: gettext_noop(
        "No set of pods that makes the room was found among those that were tried, but there are more of them."
    ),
    Reason.SHORT_OF_QUOTA: gettext_noop("Its queue has too little quota left, and others give some back."),
    Reason.DECIDED_WITH: quota.TOGETHER,
    Reason.BEYOND_QUOTA: gettext_noop("It asks more than its queue could ever have."),
    Reason.BORROWS: gettext_noop("Its queue would have to borrow, and may take nothing from others for that."),
    Reason.BELOW_DESERVED: gettext_noop("Its queue uses less than it deserves, and others use more than they do."),
    Reason.HIGH_PRIORITY: gettext_noop(
        "Its queue would have more than it deserves, but pods of its priority class may take beyond that."
    ),
    Reason.GRACE: gettext_noop(
        "%(queue)s uses more than it deserves, was told so, and still has time to give back by itself."
    ),
    Reason.BEYOND_DESERVED: gettext_noop("With it its queue would have more than it deserves."),
}
BELOW_UNKNOWN = gettext_noop("Its queue stands below its guarantee, so its asks may preempt.")
AT_UNKNOWN = gettext_noop(
    "Its queue uses all that it is guaranteed: only while it uses less may its asks preempt (law 4)."
)
MAX_UNKNOWN = gettext_noop("With it its queue would exceed its max: no eviction can change that.")
NEVER_CLASS = gettext_noop(
    "Its priority class %(name)s says preemptionPolicy Never, so it preempts nothing. kube-scheduler tries it before "
    "pods of lower priority, but ever more rarely while it does not fit: between two tries those may go first."
)
DELAY_UNKNOWN = gettext_noop("The delay of its queue is not over.")
NO_CANDIDATES_COUNTED = ngettext_noop(
    "No pod may go for it: the only one that runs outside its queue may not.",
    "No pod may go for it: none of the %(count)s that run outside its queue.",
)
NO_ROOM_COUNTED = ngettext_noop(
    "%(count)s pod may go for it, but on no node does that make room for %(asked)s.",
    "%(count)s pods may go for it, but on no node do they make room for %(asked)s.",
)
FITS_OVER_MAX = gettext_noop(
    "It asks %(asked)s, and %(node)s has room for that without any eviction; with it %(queue)s uses %(would)s "
    "%(resource)s, which is over its max of %(max)s, but kube-scheduler looks at no max."
)
UNKNOWN = gettext_noop("%(reason)s")
SCHEDULER_SAYS = gettext_noop("The cluster’s own scheduler says: %(message)s")


def label(reason: str) -> Message:
    """Return a reason in a word or two, for tables; an unknown reason is shown as it was recorded."""
    if reason in OBSERVED_LABELS:
        return Message(OBSERVED_LABELS[reason])
    return Message(LABELS[Reason(reason)]) if reason in set(Reason) else Message(UNKNOWN, {"reason": reason})


def reason(decision: Decision) -> Message:
    """Return why the decision ended as it did, in a sentence with its numbers."""
    if decision.by_quota and (message := quota.reason(decision)) is not None:
        return message
    if decision.policy == deserved.POLICY and (message := deserved.reason(decision)) is not None:
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

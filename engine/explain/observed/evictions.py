"""Explains evictions by other schedulers: the main sentence, a tenant's version of it, and the rules it breaks.

A tenant's version names the other side's queue and nothing else of it: no pod, no amounts.
"""

from collections.abc import Callable, Iterable

import msgspec

from engine.audit import Invariant, failed_checks
from engine.explain.decision.invariants import broken_invariant_text
from engine.explain.observed import kueue, volcano
from engine.model.decision import Reason
from engine.model.message import (
    Message,
    Name,
    Param,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
    short_names,
)
from engine.model.quantities import format_amount
from engine.observation.evictions import EvictionSource, Flag, Flagged, Observed, ObservedVictim

HIGHER_PRIORITY = "higher-priority"
"""The reason of a decision of kube-scheduler."""
LABELS: dict[str, str] = {
    HIGHER_PRIORITY: gettext_noop("higher priority"),
    EvictionSource.YUNIKORN: gettext_noop("for a guarantee"),
    **kueue.LABELS,
    **volcano.LABELS,
    EvictionSource.API_EVICTION: gettext_noop("requested through the API"),
    EvictionSource.TAINT_MANAGER: gettext_noop("taint of its node"),
    EvictionSource.POD_GC: gettext_noop("node removed"),
    EvictionSource.KUBELET: gettext_noop("ended by the kubelet"),
}
FLAG_LABELS: dict[Flag, str] = {
    Flag.ACROSS_FENCE: gettext_noop("across a fence"),
    Flag.BELOW_GUARANTEE: gettext_noop("below a guarantee"),
    Flag.SAME_QUEUE: gettext_noop("in its own queue"),
}

SAID_BY_FLAG: dict[Invariant, Flag] = {
    Invariant.FENCE: Flag.ACROSS_FENCE,
    Invariant.GUARANTEE: Flag.BELOW_GUARANTEE,
    Invariant.APPLICATION: Flag.SAME_QUEUE,
}

FOR_ASK = ngettext_noop(
    "%(by)s preempted %(victims)s on %(node)s for %(ask)s because its priority %(lower)s is below %(priority)s.",
    "%(by)s preempted %(victims)s on %(node)s for %(ask)s because their priorities (up to %(lower)s) are "
    "below %(priority)s.",
)
"""Everything is known of the preemptor and the victims."""
FOR_ASK_MANY = ngettext_noop(
    "%(by)s preempted %(count)s pod on %(node)s for %(ask)s because its priority %(lower)s is below %(priority)s.",
    "%(by)s preempted %(count)s pods on %(node)s for %(ask)s because their priorities (up to %(lower)s) "
    "are below %(priority)s.",
)
FOR_NAMED = gettext_noop("%(by)s preempted %(victims)s on %(node)s for %(ask)s.")
"""Only the names of preemptor or victims are known, or priorities are not the reason."""
FOR_NAMED_MANY = ngettext_noop(
    "%(by)s preempted %(count)s pod on %(node)s for %(ask)s.",
    "%(by)s preempted %(count)s pods on %(node)s for %(ask)s.",
)
FOR_GROUP = ngettext_noop(
    "%(by)s preempted %(count)s pod on %(node)s for the pod group %(ask)s.",
    "%(by)s preempted %(count)s pods on %(node)s for the pod group %(ask)s.",
)
FOR_GROUP_SEVERAL = ngettext_noop(
    "%(by)s preempted %(count)s pod for the pod group %(ask)s.",
    "%(by)s preempted %(count)s pods on several nodes for the pod group %(ask)s.",
)
FOR_RESIZE = ngettext_noop(
    "%(by)s preempted %(count)s pod on %(node)s to make room for the in-place resize of %(ask)s, which runs there.",
    "%(by)s preempted %(count)s pods on %(node)s to make room for the in-place resize of %(ask)s, which runs there.",
)
FOR_UNKNOWN = ngettext_noop(
    "%(by)s preempted %(count)s pod on %(node)s; the preemptor is unknown.",
    "%(by)s preempted %(count)s pods on %(node)s; the preemptor is unknown.",
)
FOR_NAMED_SEVERAL = ngettext_noop(
    "%(by)s preempted %(count)s pod for %(ask)s.", "%(by)s preempted %(count)s pods on several nodes for %(ask)s."
)
FOR_MAX = ngettext_noop(
    "%(by)s preempted %(count)s pod to bring %(queue)s down to its max.",
    "%(by)s preempted %(count)s pods to bring %(queue)s down to its max.",
)
"""A preemption without a preemptor."""
EVICTED: dict[EvictionSource, tuple[str, str]] = {
    EvictionSource.API_EVICTION: ngettext_noop(
        "%(count)s pod on %(node)s was evicted through the Eviction API. The cluster does not record by whom.",
        "%(count)s pods on %(node)s were evicted through the Eviction API. The cluster does not record by whom.",
    ),
    EvictionSource.TAINT_MANAGER: ngettext_noop(
        "%(count)s pod on %(node)s was deleted because it does not tolerate a taint of the node.",
        "%(count)s pods on %(node)s were deleted because they do not tolerate a taint of the node.",
    ),
    EvictionSource.POD_GC: ngettext_noop(
        "%(count)s pod of %(node)s was deleted because the node no longer exists.",
        "%(count)s pods of %(node)s were deleted because the node no longer exists.",
    ),
    EvictionSource.KUBELET: ngettext_noop(
        "The kubelet of %(node)s ended %(count)s pod because the node ran short. It first ends pods that "
        "use more than they request, those with lower priorities before others. This is not preemption "
        "and makes room for no pod in particular.",
        "The kubelet of %(node)s ended %(count)s pods because the node ran short. It first ends pods that "
        "use more than they request, those with lower priorities before others. This is not preemption "
        "and makes room for no pod in particular.",
    ),
}
NOMINATED = ngettext_noop(
    "%(asks)s, which has a higher priority, was nominated to %(node)s at that time.",
    "%(asks)s, which have higher priorities, were nominated to %(node)s at that time.",
)
INFERRED_GROUP = gettext_noop(
    "The pod group %(ask)s is inferred from the nominations of its pods: no other group had pods with a higher "
    "priority that were nominated there at that time."
)
INFERRED = gettext_noop(
    "The preemptor %(ask)s is inferred from its nomination: no other pod with a higher priority was "
    "nominated to %(node)s at that time."
)
NODE_MESSAGE = gettext_noop("The node reports: %(said)s")
UNSEEN = ngettext_noop(
    "Only the name of %(count)s victim is known: it had exited before it was observed.",
    "Only the names of %(count)s victims are known: they had exited before they were observed.",
)
FLAGS: dict[Flag, tuple[str, str]] = {
    Flag.ACROSS_FENCE: ngettext_noop(
        "%(by)s preempted %(count)s pod across the fence of %(queue)s.",
        "%(by)s preempted %(count)s pods across the fence of %(queue)s.",
    ),
    Flag.SAME_QUEUE: ngettext_noop(
        "%(by)s preempted %(count)s pod of %(queue)s, the pending pod’s own queue.",
        "%(by)s preempted %(count)s pods of %(queue)s, the pending pod’s own queue.",
    ),
}
BELOW = gettext_noop("%(by)s left %(queue)s %(short)s %(resource)s below its guarantee of %(guaranteed)s.")
LOWER = gettext_noop("priority %(lower)s < %(priority)s")
ACROSS = gettext_noop("across the fence of %(queue)s")
BELOW_SHORT = gettext_noop("%(queue)s left below its guarantee")
SAME = gettext_noop("same queue as the pending pod")
UNSEEN_ONE = gettext_noop("unknown: it had exited")

VICTIM = gettext_noop(
    "%(by)s preempted %(pod)s on %(node)s to make room for a pod of %(asker)s with a higher priority."
)
VICTIM_FOR_QUEUE = gettext_noop("%(by)s preempted %(pod)s on %(node)s to make room for a pod of %(asker)s.")
VICTIM_OVER_MAX = gettext_noop(
    "%(by)s preempted %(pod)s on %(node)s to bring its queue, or a parent queue, down to its max."
)
VICTIM_OF_UNKNOWN = gettext_noop("%(by)s preempted %(pod)s on %(node)s to make room for another pod.")
VICTIM_EVICTED: dict[EvictionSource, str] = {
    EvictionSource.API_EVICTION: gettext_noop("%(pod)s was evicted from %(node)s through the Eviction API."),
    EvictionSource.TAINT_MANAGER: gettext_noop(
        "%(pod)s was deleted from %(node)s because it does not tolerate a taint of the node."
    ),
    EvictionSource.POD_GC: gettext_noop("%(pod)s was deleted because its node %(node)s no longer exists."),
    EvictionSource.KUBELET: gettext_noop("The kubelet of %(node)s ended %(pod)s because the node ran short."),
}
PREEMPTOR = gettext_noop("%(by)s evicted pods of %(queues)s from %(node)s to make room for %(pod)s.")
PREEMPTOR_PLAIN = gettext_noop("%(by)s made room for %(pod)s on %(node)s.")
PREEMPTOR_SEVERAL = gettext_noop("%(by)s evicted pods of %(queues)s from several nodes to make room for %(pod)s.")
_NAMED_UP_TO = 3


def observed_sentence(observed: Observed, *, by: str) -> Message:
    """Return which pods were preempted for which, for readers who may see all of it; ``by`` names the source."""
    count = len(observed.victims)
    params: dict[str, Param] = {"by": by, "node": Name(observed.node)}
    if observed.source in EVICTED:
        return plural_message(EVICTED[observed.source], count, node=Name(observed.node))
    if observed.source is EvictionSource.KUEUE:
        return kueue.sentence(observed, by)
    if observed.source is EvictionSource.VOLCANO:
        return volcano.sentence(observed, by)
    if observed.over_max:
        return plural_message(FOR_MAX, count, by=by, queue=short_name(observed.over_max))
    if observed.ask is None:
        return plural_message(FOR_UNKNOWN, count, **params)
    params["ask"] = Name(observed.ask.name or observed.ask.uid)
    if observed.ask_kind != "Pod":
        if not observed.node:
            return plural_message(FOR_GROUP_SEVERAL, count, by=by, ask=params["ask"])
        return plural_message(FOR_GROUP, count, **params)
    if observed.for_resize:
        return plural_message(FOR_RESIZE, count, **params)
    if not observed.node:
        return plural_message(FOR_NAMED_SEVERAL, count, by=by, ask=params["ask"])
    named = Name(", ".join(victim.pod.name for victim in observed.victims))
    by_priority = observed.source is EvictionSource.KUBE_SCHEDULER
    if not (by_priority and observed.ask_known and all(victim.known for victim in observed.victims)):
        if count > _NAMED_UP_TO:
            return plural_message(FOR_NAMED_MANY, count, **params)
        return Message(FOR_NAMED, {**params, "victims": named})
    params |= {
        "lower": str(max(victim.pod.priority for victim in observed.victims)),
        "priority": str(observed.ask.priority),
    }
    if count > _NAMED_UP_TO:
        return plural_message(FOR_ASK_MANY, count, **params)
    return Message(FOR_ASK[0], {**params, "victims": named}, plural=FOR_ASK[1], count=count)


def observed_reason(observed: Observed) -> str:
    """Return the decision's reason; LABELS and Reason have its text."""
    if observed.source is EvictionSource.KUBE_SCHEDULER:
        return HIGHER_PRIORITY
    if observed.source is EvictionSource.KUEUE:
        return observed.victims[0].why or observed.source.value
    if observed.source is EvictionSource.VOLCANO:
        return volcano.reason(observed.victims[0].why)
    return Reason.LOWERED_MAX.value if observed.over_max else observed.source.value


def observed_causes(observed: Observed, *, by: str) -> tuple[Message, ...]:
    """Return what the sentence omits: the rules and invariants that it broke, and what is not known."""
    rules = kueue.causes(observed) if observed.source is EvictionSource.KUEUE else ()
    messages = [*rules, *_flags(observed, by), *_against(observed), *_node_messages(observed)]
    if observed.ask and observed.ask_inferred and observed.for_group:
        messages.append(Message(INFERRED_GROUP, {"ask": Name(observed.ask.name)}))
    elif observed.ask and observed.ask_inferred:
        messages.append(Message(INFERRED, {"ask": Name(observed.ask.name), "node": Name(observed.node)}))
    if observed.nominated:
        nominated, node = Name(", ".join(observed.nominated)), Name(observed.node)
        count = len(observed.nominated)
        messages.append(Message(NOMINATED[0], {"asks": nominated, "node": node}, plural=NOMINATED[1], count=count))
    unseen = sum(not victim.known for victim in observed.victims)
    return (*messages, plural_message(UNSEEN, unseen)) if unseen else tuple(messages)


def observed_flags(observed: Observed, uid: str, *, by: str, sees: Callable[[str], bool]) -> tuple[Message, ...]:
    """Return the notes on one victim for its own tenant: numbers only of queues that ``sees`` allows."""
    victims_of_pod = tuple(victim for victim in observed.victims if victim.pod.uid == uid)
    visible_flags = (
        [flag for flag in victims_of_pod[0].flags if flag.flag is not Flag.BELOW_GUARANTEE or sees(flag.queue)]
        if victims_of_pod
        else []
    )
    victims = tuple(msgspec.structs.replace(victim, flags=tuple(visible_flags)) for victim in victims_of_pod)
    for_tenant = msgspec.structs.replace(observed, victims=victims)
    rules = kueue.tenant_causes(victims_of_pod[0]) if victims_of_pod and observed.source is EvictionSource.KUEUE else ()
    return (*rules, *_flags(for_tenant, by), *_node_messages(for_tenant))


def _node_messages(observed: Observed) -> Iterable[Message]:
    """Return the reasons in the words of the node, each once."""
    node_messages = dict.fromkeys(victim.said for victim in observed.victims if victim.said)
    return (Message(NODE_MESSAGE, {"said": message}) for message in list(node_messages)[:_NAMED_UP_TO])


def _against(observed: Observed) -> Iterable[Message]:
    """Return the invariants that it broke, except those that its flags report with numbers."""
    flags = {flagged.flag for victim in observed.victims for flagged in victim.flags}
    return (
        broken_invariant_text(check.law)
        for check in failed_checks(observed.laws)
        if SAID_BY_FLAG.get(check.law) not in flags
    )


def _flags(observed: Observed, by: str) -> Iterable[Message]:
    counts: dict[tuple[Flag, str, str], int] = {}
    for flagged in (flag for victim in observed.victims for flag in victim.flags):
        key = (flagged.flag, flagged.queue, flagged.resource)
        counts[key] = counts.get(key, 0) + 1
    for (flag, queue, resource), count in sorted(counts.items()):
        if flag is Flag.BELOW_GUARANTEE:
            yield from _below(observed, queue, resource, by)
        else:
            yield plural_message(FLAGS[flag], count, by=by, queue=short_name(queue))


def _below(observed: Observed, queue: str, resource: str, by: str) -> Iterable[Message]:
    for queue_figures in observed.queues:
        if queue_figures.path == queue:
            guaranteed, remaining = queue_figures.guaranteed[resource], queue_figures.after.get(resource, 0)
            numbers = {"short": format_amount(resource, guaranteed - remaining), "resource": resource}
            promised = {"queue": short_name(queue), "guaranteed": format_amount(resource, guaranteed)}
            yield Message(BELOW, {"by": by, **numbers, **promised})


def observed_verdict(observed: Observed, victim: ObservedVictim) -> tuple[Message, ...]:
    """Return why a victim could be evicted, and what speaks against it, as a table shows it beside the pod's name."""
    if not victim.known:
        return (Message(UNSEEN_ONE),)
    rules = kueue.verdict(victim) if observed.source is EvictionSource.KUEUE else ()
    messages = [*rules, *(flag_verdict(flag) for flag in victim.flags)]
    if observed.ask and observed.ask_known and observed.source is EvictionSource.KUBE_SCHEDULER:
        priorities = {"lower": str(victim.pod.priority), "priority": str(observed.ask.priority)}
        return (Message(LOWER, priorities), *messages)
    return tuple(messages)


def flag_verdict(flagged: Flagged) -> Message:
    """Return a flag in a few words."""
    if flagged.flag is Flag.SAME_QUEUE:
        return Message(SAME)
    template = ACROSS if flagged.flag is Flag.ACROSS_FENCE else BELOW_SHORT
    return Message(template, {"queue": short_name(flagged.queue)})


def observed_victim(observed: Observed, uid: str, *, by: str, discloses_queue: bool = True) -> Message:
    """Return why this pod was evicted, for its own tenant: of the preemptor at most its queue's name."""
    victim = next(candidate for candidate in observed.victims if candidate.pod.uid == uid)
    pod = victim.pod
    params: dict[str, Param] = {"pod": Name(pod.name), "node": Name(observed.node or pod.node)}
    if observed.source in VICTIM_EVICTED:
        return Message(VICTIM_EVICTED[observed.source], params)
    if observed.over_max:
        return Message(VICTIM_OVER_MAX, {**params, "by": by})
    if observed.source is EvictionSource.VOLCANO:
        return volcano.victim(pod.name, victim.why, by)
    preemptor_queue = short_name(observed.ask.queue) if observed.ask and observed.ask_known and discloses_queue else ""
    if observed.source is EvictionSource.KUEUE:
        return kueue.victim(pod.name, preemptor_queue, by)
    if not preemptor_queue:
        return Message(VICTIM_OF_UNKNOWN, {**params, "by": by})
    template = VICTIM if observed.source is EvictionSource.KUBE_SCHEDULER else VICTIM_FOR_QUEUE
    return Message(template, {**params, "by": by, "asker": preemptor_queue})


def observed_preemptor(observed: Observed, *, by: str) -> Message:
    """Return at whose cost a pod got room, for its own tenant: of the others only the queues' names."""
    name = observed.ask.name if observed.ask else ""
    params: dict[str, Param] = {"pod": Name(name), "node": Name(observed.node), "by": by}
    queues = short_names(victim.pod.queue for victim in observed.victims if victim.pod.queue)
    if not observed.node:
        return Message(PREEMPTOR_SEVERAL, {"pod": params["pod"], "by": by, "queues": queues})
    return Message(PREEMPTOR, {**params, "queues": queues}) if queues else Message(PREEMPTOR_PLAIN, params)

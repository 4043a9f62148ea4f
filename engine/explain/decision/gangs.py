"""The texts about gangs, and groups that are evicted as a whole, under the policies that decide by the queue tree."""

from engine.explain.decision.figures import queues_of
from engine.explain.decision.sentence_texts import Forms, Single, Tense
from engine.model.decision import Decision, GroupFacts, PodReason, PodVerdict, Reason, UnitFacts
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
from engine.policies import deserved, fence

PREEMPTING: Forms = {
    Tense.EVICTED: ngettext_noop(
        "To start group %(group)s of %(asker)s, %(count)s pod of %(queues)s was evicted.",
        "To start group %(group)s of %(asker)s, %(count)s pods of %(queues)s were evicted.",
    ),
    Tense.EVICTING: ngettext_noop(
        "To start group %(group)s of %(asker)s, %(count)s pod of %(queues)s is being evicted.",
        "To start group %(group)s of %(asker)s, %(count)s pods of %(queues)s are being evicted.",
    ),
    Tense.WOULD: ngettext_noop(
        "To start group %(group)s of %(asker)s, %(count)s pod of %(queues)s would be evicted.",
        "To start group %(group)s of %(asker)s, %(count)s pods of %(queues)s would be evicted.",
    ),
    Tense.STOPPED: ngettext_noop(
        "To start group %(group)s of %(asker)s, %(count)s pod of %(queues)s would have been evicted.",
        "To start group %(group)s of %(asker)s, %(count)s pods of %(queues)s would have been evicted.",
    ),
}
PREEMPTOR: Single = {
    Tense.EVICTED: gettext_noop("Pods of %(queues)s were evicted to start group %(group)s."),
    Tense.EVICTING: gettext_noop("Pods of %(queues)s are being evicted to start group %(group)s."),
    Tense.WOULD: gettext_noop("Pods of %(queues)s would be evicted to start group %(group)s."),
    Tense.STOPPED: gettext_noop("Pods of %(queues)s would have been evicted to start group %(group)s."),
}
"""For the preemptor's tenant."""
VICTIM: Single = {
    Tense.EVICTED: gettext_noop("%(pod)s was evicted from %(node)s to make room for a group of pods of another queue."),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted from %(node)s to make room for a group of pods of another queue."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted from %(node)s to make room for a group of pods of another queue."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s to make room for a group of pods of another queue."
    ),
}
"""For a victim's tenant, where a group is the preemptor."""
VICTIM_WHOLE: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s was evicted from %(node)s with its whole group %(group)s, to make room for another queue."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted from %(node)s with its whole group %(group)s, to make room for another queue."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted from %(node)s with its whole group %(group)s, to make room for another queue."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s with its whole group %(group)s, to make room for another queue."
    ),
}
"""For the tenant of a victim whose group is evicted as a whole."""
REASONS: dict[Reason, str] = {
    Reason.LAST_RESORT: gettext_noop(
        "No other pods free enough for the group, so pods that opted out of preemption are preempted as a last resort."
    ),
    Reason.FITS: gettext_noop("The group needs %(needed)s pods to run at once, and %(scheduled)s have room."),
    Reason.FITS_SOON: gettext_noop(
        "The group needs %(needed)s pods to run at once, and %(scheduled)s will have room once the terminating pods "
        "are gone."
    ),
    Reason.GATED_MEMBER: gettext_noop(
        "%(pod)s has scheduling gates. kube-scheduler does not try the group before they are removed."
    ),
    Reason.QUEUES_DIFFER: gettext_noop(
        "%(pod)s is of another queue or application than the first pod of the group. A group can preempt only if all "
        "of its pods are of one queue and one application."
    ),
    Reason.ONE_NODE_ONLY: gettext_noop("%(pod)s can run on one node only, so the group can’t preempt."),
    Reason.NEVER: gettext_noop("A pod of the group has preemptionPolicy: Never, so the group can’t preempt."),
    Reason.AT_GUARANTEE: gettext_noop(
        "With the pods of the group that come first, %(queue)s uses its whole guarantee of %(resource)s, so the others "
        "can’t preempt. A group is started as a whole or not at all."
    ),
    Reason.OVER_MAX: gettext_noop(
        "The group would take %(queue)s above its max of %(resource)s. No eviction can change that."
    ),
    Reason.NO_ROOM: gettext_noop(
        "The group needs %(needed)s pods to run at once. No pods can be preempted together to make room for all of "
        "them."
    ),
}
"""Why a decision about a gang ended as it did."""
TOO_FEW_MEMBERS = ngettext_noop(
    "The group needs %(needed)s pods to run at once, and only %(count)s pod of it runs or is ready to be scheduled.",
    "The group needs %(needed)s pods to run at once, and only %(count)s pods of it run or are ready to be scheduled.",
)
BY_SHARES: dict[Reason, str] = {
    Reason.QUEUES_DIFFER: gettext_noop(
        "%(pod)s is of another queue than the first pod of the group. A group can preempt only if all of its pods are "
        "of one queue."
    ),
    Reason.OVER_MAX: gettext_noop(
        "The group would take %(queue)s above its hard cap of %(resource)s. No eviction can change that."
    ),
}
"""The same where a policy has words of its own: ``deserved``."""
EVICTED_WHOLE = gettext_noop("goes with its whole group %(group)s, and %(queue)s uses more than its guarantee")
EVICTED_OVERUSED = gettext_noop("goes with its whole group %(group)s, and %(queue)s uses more than its deserved share")
_DECIDING = ((fence.POLICY, fence.DIALECT), (deserved.POLICY, deserved.DIALECT))


def decides(decision: Decision) -> bool:
    """Return whether a decision is one by the guarantees, or the deserved shares, of queues."""
    return (decision.policy, decision.dialect) in _DECIDING


def sentence(decision: Decision, group: GroupFacts, tense: Tense) -> Message:
    """Return what was evicted for a gang, for readers who may see all of it."""
    return plural_message(
        PREEMPTING[tense],
        len(decision.to_evict),
        group=Name(group.name),
        asker=short_name(decision.ask.queue),
        queues=short_names(queues_of(decision)),
    )


def preemptor_sentence(decision: Decision, group: GroupFacts, tense: Tense) -> Message:
    """Return at whose cost a gang got room, for its tenant."""
    return Message(PREEMPTOR[tense], {"group": Name(group.name), "queues": short_names(queues_of(decision))})


def victim_sentence(
    decision: Decision, params: dict[str, Param], unit: UnitFacts | None, tense: Tense
) -> Message | None:
    """Return why a pod was evicted for a gang, or with its own group; None where no group matters."""
    if unit is not None:
        return Message(VICTIM_WHOLE[tense], {**params, "group": Name(unit.group.rpartition("/")[2])})
    return Message(VICTIM[tense], params) if decision.group else None


def reason(decision: Decision, group: GroupFacts) -> Message | None:
    """Return why a decision about a gang ended as it did; None: as for a single pod."""
    if decision.reason is Reason.TOO_FEW_MEMBERS:
        return plural_message(TOO_FEW_MEMBERS, int(decision.detail or 0), needed=str(group.needed))
    reasons = {**REASONS, **BY_SHARES} if decision.policy == deserved.POLICY else REASONS
    template = reasons.get(decision.reason)
    if template is None:
        return None
    queue, _, resource = decision.detail.partition(" ")
    params: dict[str, Param] = {
        "pod": Name(decision.detail.rpartition("/")[2]),
        "queue": short_name(queue),
        "resource": resource,
        "needed": str(group.needed),
        "scheduled": str(group.scheduled),
    }
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})


def whole_verdict(verdict: PodVerdict, unit: UnitFacts) -> Message:
    """Return why a pod is evicted with its whole group, for a table row."""
    name = Name(unit.group.rpartition("/")[2])
    text = EVICTED_OVERUSED if verdict.reason is PodReason.OVER_DESERVED else EVICTED_WHOLE
    return Message(text, {"group": name, "queue": short_name(verdict.detail or verdict.pod.queue)})

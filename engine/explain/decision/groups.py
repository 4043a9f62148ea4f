"""The texts about groups of pods that are decided together, and about groups that are evicted as a whole.

``gangs`` has those of decisions by the guarantees of queues.
"""

from engine.explain.decision import gangs
from engine.explain.decision.sentence_texts import Forms, Single, Tense
from engine.model.decision import Decision, GroupFacts, Outcome, PodReason, PodVerdict, Reason, UnitFacts
from engine.model.message import Message, Name, Param, gettext_noop, ngettext_noop, plural_message

PREEMPTING: Forms = {
    Tense.EVICTED: ngettext_noop(
        "To start group %(group)s at priority %(priority)s, %(count)s pod with a lower priority was evicted.",
        "To start group %(group)s at priority %(priority)s, %(count)s pods with lower priorities were evicted.",
    ),
    Tense.EVICTING: ngettext_noop(
        "To start group %(group)s at priority %(priority)s, %(count)s pod with a lower priority is being evicted.",
        "To start group %(group)s at priority %(priority)s, %(count)s pods with lower priorities are being evicted.",
    ),
    Tense.WOULD: ngettext_noop(
        "To start group %(group)s at priority %(priority)s, %(count)s pod with a lower priority would be evicted.",
        "To start group %(group)s at priority %(priority)s, %(count)s pods with lower priorities would be evicted.",
    ),
    Tense.STOPPED: ngettext_noop(
        "To start group %(group)s at priority %(priority)s, %(count)s pod with a lower priority would have been "
        "evicted.",
        "To start group %(group)s at priority %(priority)s, %(count)s pods with lower priorities would have been "
        "evicted.",
    ),
}
VICTIM: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s was evicted from %(node)s to make room for a group of pods with a higher priority than its "
        "%(priority)s."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted from %(node)s to make room for a group of pods with a higher priority than its "
        "%(priority)s."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted from %(node)s to make room for a group of pods with a higher priority than its "
        "%(priority)s."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s to make room for a group of pods with a higher priority than "
        "its %(priority)s."
    ),
}
"""For a victim's tenant, where a group is the preemptor."""
VICTIM_WHOLE: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s was evicted from %(node)s with its whole group %(group)s, to make room for a higher priority than the "
        "group’s %(priority)s."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted from %(node)s with its whole group %(group)s, to make room for a higher priority "
        "than the group’s %(priority)s."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted from %(node)s with its whole group %(group)s, to make room for a higher priority "
        "than the group’s %(priority)s."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s with its whole group %(group)s, to make room for a higher "
        "priority than the group’s %(priority)s."
    ),
}
"""For the tenant of a victim whose group is evicted as a whole."""
PREEMPTOR: Single = {
    Tense.EVICTED: gettext_noop("Pods with lower priorities were evicted to start group %(group)s."),
    Tense.EVICTING: gettext_noop("Pods with lower priorities are being evicted to start group %(group)s."),
    Tense.WOULD: gettext_noop("Pods with lower priorities would be evicted to start group %(group)s."),
    Tense.STOPPED: gettext_noop("Pods with lower priorities would have been evicted to start group %(group)s."),
}
"""For the preemptor's tenant."""
NOTHING = gettext_noop("Group %(group)s found no room, and no pod was evicted for it.")
FITTING = gettext_noop("Enough pods of group %(group)s fit, so no pod is evicted for it.")
LEAVING = gettext_noop("Terminating pods already make room for group %(group)s, so no pod is evicted for it.")
AS_PLACED = gettext_noop(
    "Group %(group)s finds room without any eviction once its pods are placed anew, so no pod is evicted for it."
)
GATED_MEMBER = gettext_noop(
    "%(pod)s has scheduling gates. kube-scheduler does not try the group before they are removed."
)
NEEDS = ngettext_noop(
    "The group needs a node for at least %(count)s pod.",
    "The group needs nodes for at least %(count)s pods at once.",
)
REASONS: dict[Reason, str] = {
    Reason.UNREAD: gettext_noop("%(pod)s can’t be read, so no decision is made for the group."),
    Reason.GATED_MEMBER: GATED_MEMBER,
    Reason.MEMBERS_DIFFER: gettext_noop(
        "%(pod)s does not have the group’s priority, or not the other pods’ scheduler or preemption policy. "
        "kube-scheduler does not try such a group."
    ),
    Reason.FITS: gettext_noop("The group needs %(needed)s pods to run at once, and %(scheduled)s have room."),
    Reason.NEVER: gettext_noop("A pod of the group has preemptionPolicy: Never, so the group can’t preempt."),
    Reason.WAITING_FOR_VICTIMS: gettext_noop(
        "A pod of the group is nominated to %(node)s, where its victims are still terminating."
    ),
    Reason.NO_CANDIDATES: gettext_noop(
        "Nothing can be preempted for it: no running pod and no running group has a priority below %(priority)s."
    ),
}
"""Why a decision about a group ended as it did."""
TOO_FEW_MEMBERS = ngettext_noop(
    "The group needs %(needed)s pods to run at once, and only %(count)s pod of it exists. kube-scheduler tries the "
    "group as soon as enough exist.",
    "The group needs %(needed)s pods to run at once, and only %(count)s pods of it exist. kube-scheduler tries the "
    "group as soon as enough exist.",
)
NO_ROOM = ngettext_noop(
    "The group needs %(needed)s pods to run at once. Even without all pods of lower priority, only %(count)s has a "
    "node.",
    "The group needs %(needed)s pods to run at once. Even without all pods of lower priority, only %(count)s have a "
    "node.",
)
EVICTED_WHOLE = gettext_noop("goes with its whole group %(group)s, which has the lower priority %(priority)s")
SPARED_WHOLE = gettext_noop("stays with its whole group %(group)s: the pending pods fit beside it")
UNIT_EVICTED = ngettext_noop("evicted with its %(count)s pod", "evicted with all of its %(count)s pods")
UNIT_SPARED = ngettext_noop("spared with its %(count)s pod", "spared with all of its %(count)s pods")
UNIT_VIOLATING = ngettext_noop(
    "evicted as a whole, %(count)s pod of it against a disruption budget",
    "evicted as a whole, %(count)s pods of it against disruption budgets",
)

_IN_GROUPS = (
    PodReason.LOWER_PRIORITY,
    PodReason.OVER_GUARANTEE,
    PodReason.OVER_DESERVED,
    PodReason.NOT_NEEDED,
)
"""Why pods are evicted, or stay, with their whole group."""


def unit_of(decision: Decision, uid: str) -> UnitFacts | None:
    """Return the group that a running pod (uid) is evicted with, or stays with, as a whole; None: it goes alone."""
    return next((unit for unit in decision.trace.units or () if uid in unit.pods), None)


def sentence(decision: Decision, group: GroupFacts, tense: Tense) -> Message:
    """Return what was evicted for a group, for readers who may see all of it."""
    if gangs.decides(decision):
        return gangs.sentence(decision, group, tense)
    params = {"group": Name(group.name), "priority": str(group.priority)}
    return plural_message(PREEMPTING[tense], len(decision.to_evict), **params)


def without(decision: Decision, group: GroupFacts) -> Message:
    """Return that nothing was evicted for a group; the reason is a sentence of its own."""
    text = NOTHING
    if decision.outcome is Outcome.FITS:
        text = FITTING
    elif decision.outcome is Outcome.PREEMPT:
        text = LEAVING if decision.victims else AS_PLACED
    return Message(text, {"group": Name(group.name)})


def preemptor_sentence(decision: Decision, group: GroupFacts, tense: Tense) -> Message:
    """Return at whose cost a group got room, for its tenant."""
    if gangs.decides(decision):
        return gangs.preemptor_sentence(decision, group, tense)
    return Message(PREEMPTOR[tense], {"group": Name(group.name)})


def victim_sentence(decision: Decision, uid: str, tense: Tense) -> Message | None:
    """Return why a pod was evicted for a group, or with its own; None where no group matters."""
    victim = next(verdict.pod for verdict in decision.victims if verdict.pod.uid == uid)
    params: dict[str, Param] = {"pod": Name(victim.name), "node": Name(victim.node or decision.node or "")}
    unit = unit_of(decision, uid)
    if gangs.decides(decision):
        return gangs.victim_sentence(decision, params, unit, tense)
    if unit is not None:
        own = {"group": Name(unit.group.rpartition("/")[2]), "priority": str(unit.priority)}
        return Message(VICTIM_WHOLE[tense], {**params, **own})
    if decision.group:
        return Message(VICTIM[tense], {**params, "priority": str(victim.priority)})
    return None


def reason(decision: Decision, group: GroupFacts) -> Message | None:
    """Return why a decision about a group ended as it did; None: as for a single pod."""
    if gangs.decides(decision):
        return gangs.reason(decision, group)
    if decision.reason is Reason.LOWER_PRIORITY:
        return plural_message(NEEDS, group.needed)
    if decision.reason is Reason.TOO_FEW_MEMBERS:
        return plural_message(TOO_FEW_MEMBERS, int(decision.detail or 0), needed=str(group.needed))
    if decision.reason is Reason.NO_ROOM:
        return plural_message(NO_ROOM, group.scheduled, needed=str(group.needed))
    template = REASONS.get(decision.reason)
    if template is None:
        return None
    params: dict[str, Param] = {
        "pod": Name(decision.detail.rpartition("/")[2]),
        "node": Name(decision.detail),
        "needed": str(group.needed),
        "scheduled": str(group.scheduled),
        "priority": str(group.priority),
    }
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})


def pod_verdict(decision: Decision, verdict: PodVerdict) -> Message | None:
    """Return why a pod is evicted or kept with its whole group, for a table row; None: it goes alone."""
    unit = unit_of(decision, verdict.pod.uid)
    if unit is None or verdict.reason not in _IN_GROUPS:
        return None
    name = Name(unit.group.rpartition("/")[2])
    if not unit.evicted:
        return Message(SPARED_WHOLE, {"group": name})
    if verdict.reason is not PodReason.LOWER_PRIORITY:
        return gangs.whole_verdict(verdict, unit)
    return Message(EVICTED_WHOLE, {"group": name, "priority": str(unit.priority)})


def unit_verdict(unit: UnitFacts) -> Message:
    """Return what happens to a group that goes or stays as a whole."""
    if unit.violations:
        return plural_message(UNIT_VIOLATING, unit.violations)
    return plural_message(UNIT_EVICTED if unit.evicted else UNIT_SPARED, len(unit.pods))

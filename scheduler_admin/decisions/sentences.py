"""Messages of engine.explain in the reader's language, and the words of what became of a decision."""

from collections.abc import Collection, Iterable

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engine.explain import (
    Message,
    Name,
    Param,
    Tense,
    for_group,
    held_back,
    hold_message,
    observed_victim,
    stopped_sentence,
    victim_sentence,
)
from engine.model.decision import Decision as EngineDecision
from engine.model.message import ngettext_noop, plural_message, short_name
from engine.observation.evictions import Observed
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.redaction import Preemptor
from scheduler_admin.decisions.selectors.decisions import read, read_laws, read_observed

LOST = (Victim.State.EVICTED, Victim.State.EXITED)
"""States of a victim that was really evicted."""
_STOPPED = (Decision.Ending.REJECTED, Decision.Ending.BLOCKED, Decision.Ending.SUPERSEDED)
_CLOSED: dict[str, tuple[str, str]] = {
    Decision.Ending.BOUND: ("ok", gettext_noop("bound")),
    Decision.Ending.BOUND_ELSEWHERE: ("warn", gettext_noop("bound elsewhere")),
    Decision.Ending.CAPACITY_TAKEN: ("warn", gettext_noop("capacity taken")),
    Decision.Ending.TIMED_OUT: ("warn", gettext_noop("timed out")),
    Decision.Ending.POD_GONE: ("none", gettext_noop("pending pod gone")),
    Decision.Ending.SUPERSEDED: ("none", gettext_noop("superseded")),
    Decision.Ending.BLOCKED: ("stop", gettext_noop("blocked")),
    Decision.Ending.REJECTED: ("stop", gettext_noop("rejected")),
}
_ENDED: dict[str, str] = {
    Decision.Ending.BOUND: gettext_noop("The pending pod was bound to %(node)s. Decision closed."),
    Decision.Ending.BOUND_ELSEWHERE: gettext_noop(
        "The pending pod was bound to a different node, %(note)s, so the evictions were not needed. Decision closed."
    ),
    Decision.Ending.CAPACITY_TAKEN: gettext_noop("Other pods took the freed capacity on %(node)s. Decision closed."),
    Decision.Ending.TIMED_OUT: gettext_noop("Some victims had not exited by the deadline. Decision closed."),
    Decision.Ending.POD_GONE: gettext_noop("The pending pod was deleted or has finished. Decision closed."),
    Decision.Ending.SUPERSEDED: gettext_noop(
        "The cluster changed before anything was evicted: %(note)s. Decision closed."
    ),
    Decision.Ending.BLOCKED: gettext_noop("Blocked: %(note)s. Decision closed."),
}
_LEFT = gettext_noop("The cluster is no longer in Enforce mode. Decision closed.")
_NOT_BEGUN = gettext_noop("The evictions could not be started in time. Decision closed.")
_STEPS: dict[str, str] = {
    Step.Kind.SEEN: gettext_noop("The scheduler found no room for the pending pod."),
    Step.Kind.RESERVED: gettext_noop("%(node)s was reserved for the pending pod."),
    Step.Kind.EVICTED: gettext_noop("Kubernetes accepted the eviction of %(pod)s."),
    Step.Kind.REFUSED: gettext_noop("Kubernetes did not accept the eviction of %(pod)s: %(note)s"),
    Step.Kind.EXITED: gettext_noop("%(pod)s exited."),
    Step.Kind.RELEASED: gettext_noop("%(node)s is available to other pods again."),
    Step.Kind.CLOSED: gettext_noop("Decision closed."),
}
_OF_GROUP: dict[str, str] = {
    Step.Kind.SEEN: gettext_noop("The scheduler found no room for the group."),
    Step.Kind.RESERVED: gettext_noop("%(node)s was reserved for pods of the group."),
    Decision.Ending.BOUND: gettext_noop("The group’s pods were bound to %(note)s. Decision closed."),
    Decision.Ending.BOUND_ELSEWHERE: gettext_noop(
        "Pods of the group were bound to different nodes, %(note)s, so the evictions were not needed. Decision closed."
    ),
    Decision.Ending.CAPACITY_TAKEN: gettext_noop(
        "Other pods took the capacity that was freed for the group. Decision closed."
    ),
    Decision.Ending.POD_GONE: gettext_noop(
        "Too few of the group’s pods are left, as some were deleted or have finished. Decision closed."
    ),
}
"""What is said in another way of a group, which gets several nodes."""
EXITED_AFTER = gettext_noop("%(pod)s exited %(time)s after its eviction.")
DECIDED_HOLDS = gettext_noop("Decided. All safety checks passed.")
DECIDED_REFUSED = gettext_noop("Decided, then rejected because a safety check failed.")
DECIDED_AGAINST = gettext_noop("Decided. Not all safety checks passed.")
DECIDED = gettext_noop("Decided.")
UNREAD_VICTIM = gettext_noop("%(pod)s was chosen to make room for a pod of queue %(asker)s.")
UNTOLD_VICTIM = gettext_noop("%(pod)s was chosen to make room for another pod.")
FOR_UID = gettext_noop("The room is needed for the pod with UID %(uid)s.")
FOR_GROUP_UID = gettext_noop("The room is needed for the workload or pod group with UID %(uid)s.")
FOR_POD = gettext_noop("The room is needed for pod %(pod)s in namespace %(namespace)s (UID %(uid)s).")
IN_VAIN = ngettext_noop("%(count)s pod was evicted in vain.", "%(count)s pods were evicted in vain.")
TOLD_TO_GO = gettext_noop("Evicted by: %(by)s.")


def tense_of(row: Decision, victims: Iterable[Victim]) -> Tense:
    """How far a decision has come about: told by what became of its victims."""
    states = {victim.state for victim in victims}
    lost = bool(states & set(LOST))
    if row.state == Decision.State.ON_HOLD:
        return Tense.WOULD
    if row.state == Decision.State.CLOSED:
        return Tense.EVICTED if lost else Tense.STOPPED
    if row.state in (Decision.State.PLANNED, Decision.State.EVICTING):
        return Tense.EVICTING
    if row.state == Decision.State.WAITING or lost:
        return Tense.EVICTED
    return Tense.STOPPED if row.ending in _STOPPED else Tense.WOULD


def follow_up(
    row: Decision, victims: Collection[Victim], decision: EngineDecision | None = None
) -> tuple[Message, ...]:
    """Return the sentence that follows the one on these victims: that it is held back, was stopped, or was in vain.

    ``decision`` is for readers who may know the queue or the budget that holds it back.
    """
    if row.state == Decision.State.ON_HOLD:
        return (held_back(decision, row.hold),)
    if in_vain := evicted_in_vain(row, victims):
        return (plural_message(IN_VAIN, in_vain),)
    stopped = row.source == Decision.Source.ENGINE and victims and tense_of(row, victims) is Tense.STOPPED
    return (stopped_sentence(),) if stopped else ()


def evicted_in_vain(row: Decision, victims: Iterable[Victim]) -> int:
    """Return how many of these victims were evicted although the decision ended without what it was made for.

    Those of a decision that is open, or another scheduler's, count as none.
    """
    return sum(victim.evicted_at is not None for victim in victims) if row.failed else 0


def why_victim(row: Decision, victim: Victim, tense: Tense, *, queue: str) -> Message:
    """Why a pod was chosen, to its own tenant; ``queue``: the asker's, as far as it is told."""
    [message] = worded_for(row, [_why_victim(row, victim, tense, queue, read(row), read_observed(row))])
    return message


def why_victims(row: Decision, victims: Iterable[Victim], *, queue: str) -> list[Message]:
    """Why each of these pods was chosen, by what became of it."""
    decision, seen = read(row), read_observed(row)
    found = [_why_victim(row, victim, tense_of(row, [victim]), queue, decision, seen) for victim in victims]
    return worded_for(row, found)


def _why_victim(
    row: Decision, victim: Victim, tense: Tense, queue: str, decision: EngineDecision | None, seen: Observed | None
) -> Message:
    if seen is not None:
        return observed_victim(seen, victim.uid, by=str(row.get_source_display()), discloses_queue=bool(queue))
    if decision is not None and any(verdict.pod.uid == victim.uid for verdict in decision.victims):
        return victim_sentence(decision, victim.uid, tense, discloses_queue=bool(queue))
    if not queue:
        return Message(UNTOLD_VICTIM, {"pod": Name(victim.name)})
    return Message(UNREAD_VICTIM, {"pod": Name(victim.name), "asker": short_name(queue)})


def for_whom(row: Decision, asker: Preemptor) -> tuple[Message, ...]:
    """The ask for which a victim went, where more of it is told than its queue."""
    if not asker.uid:
        return ()
    if not asker.name:
        seen = read_observed(row)
        whole = seen is not None and seen.ask_kind != "Pod"
        told = Message(FOR_GROUP_UID if whole else FOR_UID, {"uid": Name(asker.uid)})
        return (*worded_for(row, [told]),)
    return (*worded_for(row, [_for_pod(asker)]),)


def _for_pod(asker: Preemptor) -> Message:
    return Message(FOR_POD, {"pod": Name(asker.name), "namespace": Name(asker.namespace), "uid": Name(asker.uid)})


def as_it_came(decision: EngineDecision, victims: Iterable[Victim]) -> EngineDecision:
    """The decision with those victims only that were not spared, once any was really evicted."""
    states = {victim.uid: victim.state for victim in victims}
    if not set(states.values()) & set(LOST):
        return decision
    came = tuple(each for each in decision.victims if states.get(each.pod.uid) != Victim.State.SPARED)
    return msgspec.structs.replace(decision, victims=came)


def outcome(row: Decision, victims: Iterable[Victim]) -> tuple[str, str]:
    """What became of a decision: the shape of the word, and the word."""
    if row.outcome != "preempt":
        return ("ok", _("fits")) if row.outcome == "fits" else ("none", _("no preemption"))
    if row.ending in _CLOSED:
        return _CLOSED[row.ending][0], ending_word(row)
    if row.state == Decision.State.ON_HOLD:
        return "wait", _("on hold")
    if row.state == Decision.State.WAITING and (row.ask_name or row.ask_group):
        return "wait", _("waiting to be bound")
    if row.state in Decision.OPEN:
        return "wait", _("evicting")
    return ("ok", _("evicted")) if tense_of(row, victims) is Tense.EVICTED else ("none", _("dry run"))


def ending_word(row: Decision) -> str:
    """Return how a decision ended, in a word or two."""
    if row.ask_group and row.ending == Decision.Ending.POD_GONE:
        return _("group gone")
    return _(_CLOSED[row.ending][1])


def worded_for(row: Decision, messages: Iterable[Message]) -> list[Message]:
    """Return messages about a decision, in the words for a group if it is about one."""
    return [for_group(message) if row.ask_group else message for message in messages]


def step(of: Step, row: Decision, victims: Iterable[Victim]) -> Message:
    """What happened at one step, in a sentence."""
    if of.kind == Step.Kind.DECIDED and row.source != Decision.Source.ENGINE:
        return Message(TOLD_TO_GO, {"by": str(row.get_source_display())})
    if of.kind == Step.Kind.DECIDED:
        return Message(_decided(row))
    if of.kind == Step.Kind.ON_HOLD:
        return hold_message(of.note)
    if of.kind == Step.Kind.EXITED:
        gone = next((each for each in victims if str(each) == of.pod and each.evicted_at), None)
        if gone is not None and gone.evicted_at is not None:
            after = (of.at - gone.evicted_at).total_seconds()
            return Message(EXITED_AFTER, {"pod": Name(gone.name), "time": seconds(after)})
    template = _closed(of, row) if of.kind == Step.Kind.CLOSED else _STEPS[of.kind]
    if row.ask_group:
        template = _OF_GROUP.get(row.ending if of.kind == Step.Kind.CLOSED else of.kind, template)
    params: dict[str, Param] = {
        "pod": Name(of.pod.rpartition("/")[2]),
        "node": Name(row.node or of.note),
        "note": of.note.rstrip(".") if "%(note)s." in template else of.note,
    }
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})


def _decided(row: Decision) -> str:
    if row.ending == Decision.Ending.REJECTED:
        return DECIDED_REFUSED
    laws = read_laws(row)
    holds = all(check.holds for check in laws)
    return DECIDED if not laws else DECIDED_HOLDS if holds else DECIDED_AGAINST


def _closed(of: Step, row: Decision) -> str:
    if row.ending == Decision.Ending.TIMED_OUT and row.source == Decision.Source.ENGINE:
        if of.note:  # the mode that was set
            return _LEFT
        if row.deadline is None:  # as earlier versions closed what they could not start
            return _NOT_BEGUN
    if row.ending == Decision.Ending.SUPERSEDED and not of.note:
        return _NOT_BEGUN
    return _ENDED.get(row.ending, _STEPS[of.kind])


def seconds(length: float) -> str:
    """A short length of time as an offset reads best: tenths up to a minute and a half, then minutes, then hours."""
    if length < 90:  # noqa: PLR2004 - as for every duration: below one and a half of a unit the finer one says more
        return _("%(n)s s") % {"n": f"{length:.1f}"}
    if length < 5_400:  # noqa: PLR2004
        return _("%(n)s min") % {"n": round(length / 60)}
    return _("%(n)s h") % {"n": round(length / 3_600)}


def offset(length: float) -> str:
    """Seconds before or after the decision, with their sign; the decision itself is nothing."""
    if abs(length) < 0.05:  # noqa: PLR2004 - would read 0.0
        return _("%(n)s s") % {"n": 0}
    return f"+{seconds(length)}" if length > 0 else f"−{seconds(-length)}"

"""Describes the invariants in words, with the arithmetic by which a decision was checked."""

from collections.abc import Iterable

from engine.audit import ComparedValues, Invariant, InvariantCheck, Line, Relation, Sum
from engine.model.message import Message, Name, Param, gettext_noop, short_name
from engine.model.quantities import format_amount
from engine.policies import texts_of

_DESIGN = (
    Invariant.OPT_OUT,
    Invariant.GUARANTEE,
    Invariant.APPLICATION,
    Invariant.ENTITLED,
    Invariant.ABOVE_GUARANTEE,
    Invariant.PRIORITY,
    Invariant.FENCE,
    Invariant.PROGRESS,
)
"""The invariants that the design numbers as rules 1 to 8; the others are conditions for carrying out any decision."""
_ORDER = {invariant: place for place, invariant in enumerate(_DESIGN)}
SENTENCES: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop("The pod is pending, belongs to a leaf queue, and is allowed to preempt"),
    Invariant.ONE_NODE: gettext_noop("All victims run on the same node"),
    Invariant.MEMBER_NODES: gettext_noop(
        "Each victim, or a pod of its whole group, runs on a node that a pending pod gets"
    ),
    Invariant.FITS: gettext_noop("The pending pod fits on the node once the victims are gone"),
    Invariant.MINIMAL: gettext_noop("Every victim is needed"),
    Invariant.MAX: gettext_noop("The pending pod’s queues stay within their max"),
    Invariant.OPT_OUT: gettext_noop("Pods that opted out are spared, except as a last resort"),
    Invariant.GUARANTEE: gettext_noop("No queue drops below its guarantee"),
    Invariant.APPLICATION: gettext_noop("No victim is of the same application or queue"),
    Invariant.ENTITLED: gettext_noop("The pending pod’s queue is below its guarantee in every resource it requests"),
    Invariant.ABOVE_GUARANTEE: gettext_noop("Victims’ queues are above their guarantees"),
    Invariant.PRIORITY: gettext_noop("Victims have the same or a lower priority"),
    Invariant.FENCE: gettext_noop("No victim is outside the fence"),
    Invariant.DISABLED: gettext_noop("Preemption is enabled in all queues involved"),
    Invariant.SHIELDED: gettext_noop("No victim is protected or belongs to a DaemonSet"),
    Invariant.WHOLE: gettext_noop("Workloads are preempted as a whole"),
    Invariant.QUOTA: gettext_noop("The pending pod fits into the quota once the victims are gone"),
    Invariant.BORROWS: gettext_noop("Other queues lose only borrowed quota"),
    Invariant.DESERVED: gettext_noop("The pending pod’s queue stays within its deserved share"),
    Invariant.OVERUSED: gettext_noop("Victims’ queues use more than their deserved share"),
    Invariant.NOTIFIED: gettext_noop("Victims’ queues were notified and had their grace period"),
    Invariant.BUDGETS: gettext_noop("Disruption budgets are respected"),
    Invariant.PAUSED: gettext_noop("No queue involved is paused"),
    Invariant.SCOPE: gettext_noop("All pods involved are in the scope of Enforce"),
    Invariant.SYSTEM: gettext_noop("No victim is in kube-system"),
    Invariant.PROGRESS: gettext_noop("Queues are closer to their guarantees in total"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop("Rejected: the pod is not allowed to preempt."),
    Invariant.ONE_NODE: gettext_noop("Rejected: the victims are not all on the same node."),
    Invariant.MEMBER_NODES: gettext_noop("Rejected: a victim runs on no node that a pending pod gets."),
    Invariant.FITS: gettext_noop("Rejected: the pending pod does not fit on the node even without the victims."),
    Invariant.MINIMAL: gettext_noop("Rejected: not all victims are needed."),
    Invariant.MAX: gettext_noop("Rejected: the pending pod would take a queue above its max."),
    Invariant.OPT_OUT: gettext_noop("Rejected: a victim opted out of preemption."),
    Invariant.GUARANTEE: gettext_noop("Rejected: a queue would drop below its guarantee."),
    Invariant.APPLICATION: gettext_noop("Rejected: a victim is of the pending pod’s own application or queue."),
    Invariant.ENTITLED: gettext_noop(
        "Rejected: the pending pod’s queue is not below its guarantee in every resource it requests."
    ),
    Invariant.ABOVE_GUARANTEE: gettext_noop("Rejected: a victim’s queue is not above its guarantee."),
    Invariant.PRIORITY: gettext_noop("Rejected: a victim has a higher priority than the pending pod."),
    Invariant.FENCE: gettext_noop("Rejected: a victim is outside the fence of the pending pod’s queue."),
    Invariant.DISABLED: gettext_noop(
        "Rejected: preemption is disabled in the queue of the pending pod or of a victim."
    ),
    Invariant.SHIELDED: gettext_noop("Rejected: a victim is protected or belongs to a DaemonSet."),
    Invariant.WHOLE: gettext_noop("Rejected: a workload would be preempted only in part."),
    Invariant.QUOTA: gettext_noop("Rejected: the pending pod does not fit into the quota even without the victims."),
    Invariant.BORROWS: gettext_noop("Rejected: a victim’s queue borrows nothing."),
    Invariant.DESERVED: gettext_noop("Rejected: the pending pod would take its queue above its deserved share."),
    Invariant.OVERUSED: gettext_noop("Rejected: a victim’s queue uses no more than its deserved share."),
    Invariant.NOTIFIED: gettext_noop("Rejected: a victim’s queue was not notified or is still in its grace period."),
    Invariant.BUDGETS: gettext_noop("Rejected: a disruption budget would be violated."),
    Invariant.PAUSED: gettext_noop("Rejected: the queue of the pending pod or of a victim is paused."),
    Invariant.SCOPE: gettext_noop("Rejected: the pending pod or a victim is outside the scope of Enforce."),
    Invariant.SYSTEM: gettext_noop("Rejected: a victim is in kube-system."),
    Invariant.PROGRESS: gettext_noop("Rejected: queues would not be closer to their guarantees in total."),
}
AGAINST: dict[Invariant, str] = {
    Invariant.ONE_NODE: gettext_noop("The victims are not all on the same node."),
    Invariant.FITS: gettext_noop("The pending pod does not fit on the node even without the victims."),
    Invariant.MINIMAL: gettext_noop("Not all victims are needed."),
    Invariant.MAX: gettext_noop("The pending pod takes a queue above its max."),
    Invariant.OPT_OUT: gettext_noop("A victim opted out of preemption."),
    Invariant.GUARANTEE: gettext_noop("A queue drops below its guarantee."),
    Invariant.APPLICATION: gettext_noop("A victim is of the pending pod’s own application or queue."),
    Invariant.ENTITLED: gettext_noop(
        "The pending pod’s queue is not below its guarantee in every resource it requests."
    ),
    Invariant.ABOVE_GUARANTEE: gettext_noop("A victim’s queue is not above its guarantee."),
    Invariant.PRIORITY: gettext_noop("A victim has a higher priority than the pending pod."),
    Invariant.FENCE: gettext_noop("A victim is outside the fence of the pending pod’s queue."),
    Invariant.DISABLED: gettext_noop("Preemption is disabled in the queue of the pending pod or of a victim."),
    Invariant.BUDGETS: gettext_noop("A disruption budget is violated."),
    Invariant.SYSTEM: gettext_noop("A victim is in kube-system."),
    Invariant.PROGRESS: gettext_noop("Queues are not closer to their guarantees in total."),
}
"""What another scheduler does all the same."""
NOTHING_TO_CHECK: dict[Invariant, str] = {
    Invariant.MAX: gettext_noop("the queues have no max for what the pod requests"),
    Invariant.OPT_OUT: gettext_noop("no victim opted out"),
    Invariant.GUARANTEE: gettext_noop("the victims’ resources are not part of any guarantee"),
    Invariant.ENTITLED: gettext_noop("a DaemonSet’s pod needs no guarantee"),
    Invariant.ABOVE_GUARANTEE: gettext_noop("the victims’ queues have no guarantee for what they lose"),
    Invariant.FENCE: gettext_noop("the queue is in no fence"),
    Invariant.DISABLED: gettext_noop("preemption is enabled for all of them"),
    Invariant.SHIELDED: gettext_noop("no victim is one"),
    Invariant.DESERVED: gettext_noop("a high-priority pod may exceed the deserved share"),
    Invariant.OVERUSED: gettext_noop("a high-priority pod may also preempt other queues"),
    Invariant.NOTIFIED: gettext_noop("a high-priority pod does not wait for the grace period"),
    Invariant.BUDGETS: gettext_noop("no disruption budget covers a victim"),
    Invariant.PAUSED: gettext_noop("none of the queues is paused"),
    Invariant.SCOPE: gettext_noop("the pending pod and all victims are in it"),
    Invariant.SYSTEM: gettext_noop("no victim is in it"),
    Invariant.PROGRESS: gettext_noop("a DaemonSet’s pod claims no guarantee"),
}
"""The text in place of arithmetic where an invariant had nothing to check."""
PUT_BACK = gettext_noop("without evicting %(pod)s, the pending pod does not fit: %(short)s")
COULD_STAY = gettext_noop("%(pod)s is not needed: the others free enough")
WAITED = gettext_noop("the grace period of %(queue)s is over")
NOT_WAITED = gettext_noop("%(queue)s was not notified or is still in its grace period")
INSIDE = gettext_noop("%(left)s is inside %(right)s")
OUTSIDE = gettext_noop("%(left)s is outside %(right)s")
NOT_INSIDE = gettext_noop("%(left)s is not inside %(right)s")
NOT_OUTSIDE = gettext_noop("%(left)s is not outside %(right)s")
FORMULA = "%(formula)s"
"""A placeholder for arithmetic, which is the same in every language."""
_SIGNS = {Relation.AT_LEAST: "≥", Relation.ABOVE: ">", Relation.BELOW: "<", Relation.AT_MOST: "≤"}
_SIGNS |= {Relation.EQUAL: "=", Relation.DIFFERS: "≠"}
_NOT = {"≥": "≱", ">": "≯", "<": "≮", "≤": "≰", "=": "≠", "≠": "="}
_WRITTEN_OUT = 4
"""How many subtrahends are written one by one; more are added up."""


def invariant_text(invariant: Invariant, policy: str, dialect: str = "") -> Message:
    """Return what an invariant demands."""
    return Message(texts_of(policy, dialect).laws.get(invariant, SENTENCES[invariant]))


def rejection_text(invariant: Invariant, policy: str) -> Message:
    """Return why a decision was refused."""
    return Message(texts_of(policy).broken.get(invariant, BROKEN[invariant]))


def broken_invariant_text(invariant: Invariant) -> Message:
    """Return the sentence that another scheduler breaks an invariant."""
    return Message(AGAINST[invariant])


def lines(check: InvariantCheck) -> tuple[Message, ...]:
    """Return an invariant's arithmetic line by line, each line once; of yes-or-no conditions only those that fail."""
    shown = [line(check.law, each) for each in check.sums if _worth_showing(check.law, each)]
    if not shown and check.holds and check.law in NOTHING_TO_CHECK:
        return (Message(NOTHING_TO_CHECK[check.law]),)
    return tuple({(message.id, *message.params.values()): message for message in shown}.values())


def line(invariant: Invariant, checked: Line) -> Message:
    """Return one line of an invariant's arithmetic."""
    if isinstance(checked, Sum):
        return Message(FORMULA, {"formula": _sum(checked)})
    if invariant is Invariant.MINIMAL:
        pod = Name(_subject(checked.subject))
        return (
            Message(PUT_BACK, {"pod": pod, "short": checked.left})
            if checked.holds
            else Message(COULD_STAY, {"pod": pod})
        )
    if invariant is Invariant.NOTIFIED:
        return Message(WAITED if checked.holds else NOT_WAITED, {"queue": Name(_subject(checked.subject))})
    if invariant is Invariant.APPLICATION and checked.holds:
        return Message(FORMULA, {"formula": f"{_subject(checked.left)} ≠ {_subject(checked.right)}"})
    return _comparison(checked)


def _worth_showing(invariant: Invariant, checked: Line) -> bool:
    """Return whether a line tells a reader something; "pending = pending" does not."""
    if (
        isinstance(checked, Sum)
        or not checked.holds
        or invariant in (Invariant.MINIMAL, Invariant.APPLICATION, Invariant.NOTIFIED)
    ):
        return True
    return checked.relation in (Relation.INSIDE, Relation.OUTSIDE)


def sort_checks(checks: Iterable[InvariantCheck]) -> list[InvariantCheck]:
    """Return the checks of the design's eight rules first, in their order, then the others as they were checked."""
    return sorted(checks, key=lambda check: _ORDER.get(check.law, len(_ORDER)))


def _sum(checked: Sum) -> str:
    def written(value: int) -> str:
        return format_amount(checked.resource, value)

    parts = checked.minus if len(checked.minus) <= _WRITTEN_OUT else (sum(checked.minus),)
    terms = "".join(f" − {written(part)}" for part in parts) + (f" + {written(checked.plus)}" if checked.plus else "")
    worked = f"{written(checked.start)}{terms} = {written(checked.result)}" if terms else written(checked.start)
    sign = _SIGNS[checked.relation]
    subject = " ".join(part for part in (_subject(checked.subject), checked.resource) if part)
    return f"{subject} {worked} {sign if checked.holds else _NOT[sign]} {written(checked.bound)}".strip()


def _comparison(checked: ComparedValues) -> Message:
    params: dict[str, Param] = {"left": checked.left, "right": checked.right}
    if checked.relation is Relation.INSIDE:
        return Message(INSIDE if checked.holds else NOT_INSIDE, params)
    if checked.relation is Relation.OUTSIDE:
        return Message(OUTSIDE if checked.holds else NOT_OUTSIDE, params)
    sign = _SIGNS[checked.relation]
    compared = f"{checked.left or '–'} {sign if checked.holds else _NOT[sign]} {checked.right or '–'}"
    return Message(FORMULA, {"formula": f"{_subject(checked.subject)}: {compared}" if checked.subject else compared})


def _subject(subject: str) -> str:
    """Return the short name of a queue, a pod or application without its namespace, or a node's name."""
    return subject.rpartition("/")[2] if "/" in subject else short_name(subject) if _is_path(subject) else subject


def _is_path(subject: str) -> bool:
    return subject.startswith("root.") or subject == "root"

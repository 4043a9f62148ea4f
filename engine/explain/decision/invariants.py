"""Describes the invariants in words, with the arithmetic by which a decision was checked."""

from collections.abc import Iterable

from engine.audit import ComparedValues, Invariant, InvariantCheck, Line, Relation, Sum
from engine.model.message import Message, Name, Param, gettext_noop, short_name
from engine.model.quantities import format_amount
from engine.policies import texts_of

NUMBERS: dict[Invariant, int] = {
    Invariant.OPT_OUT: 1,
    Invariant.GUARANTEE: 2,
    Invariant.APPLICATION: 3,
    Invariant.ENTITLED: 4,
    Invariant.ABOVE_GUARANTEE: 5,
    Invariant.PRIORITY: 6,
    Invariant.FENCE: 7,
    Invariant.PROGRESS: 8,
}
"""The invariants that the design numbers; the others are conditions for carrying out a decision at all."""
SENTENCES: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop("The ask is pending, runs in a leaf, and nothing forbids it to preempt"),
    Invariant.ONE_NODE: gettext_noop("All victims run on the one node"),
    Invariant.FITS: gettext_noop("The ask fits on the node once they are gone"),
    Invariant.MINIMAL: gettext_noop("No victim could stay"),
    Invariant.MAX: gettext_noop("The ask’s queues stay within their max"),
    Invariant.OPT_OUT: gettext_noop("Pods that opted out stay, except as the last resort"),
    Invariant.GUARANTEE: gettext_noop("No queue is taken below its guarantee"),
    Invariant.APPLICATION: gettext_noop("Never the same application, never the same queue"),
    Invariant.ENTITLED: gettext_noop("The asker is below its guarantee in what it asks"),
    Invariant.ABOVE_GUARANTEE: gettext_noop("Victims’ queues are above their guarantee"),
    Invariant.PRIORITY: gettext_noop("Victims have lower or equal priority"),
    Invariant.FENCE: gettext_noop("Nothing outside the asker’s fence"),
    Invariant.DISABLED: gettext_noop("Nothing where preemption is disabled"),
    Invariant.SHIELDED: gettext_noop("No protected pod and no DaemonSet’s pod"),
    Invariant.WHOLE: gettext_noop("Workloads go as a whole"),
    Invariant.QUOTA: gettext_noop("The quota holds the ask once they are gone"),
    Invariant.BORROWS: gettext_noop("Other queues give only of what they borrow"),
    Invariant.DESERVED: gettext_noop("With the ask its queue has no more than it deserves"),
    Invariant.OVERUSED: gettext_noop("Victims come from queues that use more than they deserve"),
    Invariant.NOTIFIED: gettext_noop("The victims’ queues were told, and had their grace period"),
    Invariant.BUDGETS: gettext_noop("Disruption budgets are kept"),
    Invariant.PAUSED: gettext_noop("Nothing where evictions are paused"),
    Invariant.SCOPE: gettext_noop("Nothing outside the places that enforce is limited to"),
    Invariant.SYSTEM: gettext_noop("Nothing is taken from kube-system"),
    Invariant.PROGRESS: gettext_noop("What queues lack of their guarantees gets less"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop("Refused: the ask may not preempt."),
    Invariant.ONE_NODE: gettext_noop("Refused: the victims are not all on the one node."),
    Invariant.FITS: gettext_noop("Refused: even with the victims gone the ask does not fit on the node."),
    Invariant.MINIMAL: gettext_noop("Refused: not all of the victims are needed."),
    Invariant.MAX: gettext_noop("Refused: with the ask a queue above it would exceed its max."),
    Invariant.OPT_OUT: gettext_noop("Refused by law 1: a victim opted out of preemption."),
    Invariant.GUARANTEE: gettext_noop("Refused by law 2: a queue would be taken below its guarantee."),
    Invariant.APPLICATION: gettext_noop("Refused by law 3: a victim is of the ask’s own application or queue."),
    Invariant.ENTITLED: gettext_noop("Refused by law 4: the asker is not below its guarantee in all that it asks."),
    Invariant.ABOVE_GUARANTEE: gettext_noop("Refused by law 5: a victim’s queue is not above its guarantee."),
    Invariant.PRIORITY: gettext_noop("Refused by law 6: a victim has a higher priority than the ask."),
    Invariant.FENCE: gettext_noop("Refused by law 7: a victim lies outside the asker’s fence."),
    Invariant.DISABLED: gettext_noop("Refused: preemption is disabled where the ask or a victim runs."),
    Invariant.SHIELDED: gettext_noop("Refused: a victim is protected, or a DaemonSet’s."),
    Invariant.WHOLE: gettext_noop("Refused: a part of a workload would stay."),
    Invariant.QUOTA: gettext_noop("Refused: even with the victims gone the quota does not hold the ask."),
    Invariant.BORROWS: gettext_noop("Refused: a victim’s queue borrows nothing."),
    Invariant.DESERVED: gettext_noop("Refused: with the ask its queue would have more than it deserves."),
    Invariant.OVERUSED: gettext_noop("Refused: a victim’s queue uses no more than it deserves."),
    Invariant.NOTIFIED: gettext_noop(
        "Refused: a victim’s queue was not told to give back, or still has time to do so."
    ),
    Invariant.BUDGETS: gettext_noop("Refused: a disruption budget would be broken."),
    Invariant.PAUSED: gettext_noop("Refused: evictions are paused in the queue of the ask or of a victim."),
    Invariant.SCOPE: gettext_noop("Refused: enforce is limited to other places than that of the ask or of a victim."),
    Invariant.SYSTEM: gettext_noop("Refused: a victim is of kube-system."),
    Invariant.PROGRESS: gettext_noop("Refused by law 8: what queues lack of their guarantees would not get less."),
}
AGAINST: dict[Invariant, str] = {
    Invariant.ONE_NODE: gettext_noop("The victims are not all on the one node."),
    Invariant.FITS: gettext_noop("Even with the victims gone the ask does not fit on the node."),
    Invariant.MINIMAL: gettext_noop("Not all of the victims are needed."),
    Invariant.MAX: gettext_noop("With the ask a queue above it exceeds its max."),
    Invariant.OPT_OUT: gettext_noop("Against law 1: a victim opted out of preemption."),
    Invariant.GUARANTEE: gettext_noop("Against law 2: a queue is taken below its guarantee."),
    Invariant.APPLICATION: gettext_noop("Against law 3: a victim is of the ask’s own application or queue."),
    Invariant.ENTITLED: gettext_noop("Against law 4: the asker is not below its guarantee in all that it asks."),
    Invariant.ABOVE_GUARANTEE: gettext_noop("Against law 5: a victim’s queue is not above its guarantee."),
    Invariant.PRIORITY: gettext_noop("Against law 6: a victim has a higher priority than the ask."),
    Invariant.FENCE: gettext_noop("Against law 7: a victim lies outside the asker’s fence."),
    Invariant.DISABLED: gettext_noop("Preemption is disabled where the ask or a victim runs."),
    Invariant.BUDGETS: gettext_noop("A disruption budget is broken."),
    Invariant.SYSTEM: gettext_noop("A victim is of kube-system."),
    Invariant.PROGRESS: gettext_noop("Against law 8: what queues lack of their guarantees does not get less."),
}
"""What another scheduler does all the same."""
NOTHING_TO_CHECK: dict[Invariant, str] = {
    Invariant.MAX: gettext_noop("no max above the asker in what it asks"),
    Invariant.OPT_OUT: gettext_noop("no victim opted out"),
    Invariant.GUARANTEE: gettext_noop("nothing that is taken is guaranteed to anyone"),
    Invariant.ENTITLED: gettext_noop("a DaemonSet’s ask needs no guarantee"),
    Invariant.ABOVE_GUARANTEE: gettext_noop("nothing that is taken is guaranteed to the victims’ queues"),
    Invariant.FENCE: gettext_noop("no fence above the asker"),
    Invariant.DISABLED: gettext_noop("disabled nowhere above the asker or a victim"),
    Invariant.SHIELDED: gettext_noop("none among the victims"),
    Invariant.DESERVED: gettext_noop("an ask of high priority may go beyond it"),
    Invariant.OVERUSED: gettext_noop("an ask of high priority may take from others too"),
    Invariant.NOTIFIED: gettext_noop("an ask of high priority need not wait for that"),
    Invariant.BUDGETS: gettext_noop("no budget covers a victim"),
    Invariant.PAUSED: gettext_noop("paused nowhere above the asker or a victim"),
    Invariant.SCOPE: gettext_noop("the asker and all victims are in them"),
    Invariant.SYSTEM: gettext_noop("no victim is of it"),
    Invariant.PROGRESS: gettext_noop("a DaemonSet’s ask claims no guarantee"),
}
"""The text in place of arithmetic where an invariant had nothing to check."""
PUT_BACK = gettext_noop("put %(pod)s back, and the ask no longer fits: %(short)s")
COULD_STAY = gettext_noop("%(pod)s could stay: there is enough without it")
WAITED = gettext_noop("the grace period of %(queue)s is over")
NOT_WAITED = gettext_noop("%(queue)s was not told to give back, or still has time to do so by itself")
INSIDE = gettext_noop("%(left)s lies within %(right)s")
OUTSIDE = gettext_noop("%(left)s lies outside of %(right)s")
NOT_INSIDE = gettext_noop("%(left)s does not lie within %(right)s")
NOT_OUTSIDE = gettext_noop("%(left)s does not lie outside of %(right)s")
FORMULA = "%(formula)s"
"""A placeholder for arithmetic, which is the same in every language."""
_SIGNS = {Relation.AT_LEAST: "≥", Relation.ABOVE: ">", Relation.BELOW: "<", Relation.AT_MOST: "≤"}
_SIGNS |= {Relation.EQUAL: "=", Relation.DIFFERS: "≠"}
_NOT = {"≥": "≱", ">": "≯", "<": "≮", "≤": "≰", "=": "≠", "≠": "="}
_WRITTEN_OUT = 4
"""How many subtrahends are written one by one; more are added up."""


def invariant_text(invariant: Invariant, policy: str) -> Message:
    """Return what an invariant demands."""
    return Message(texts_of(policy).laws.get(invariant, SENTENCES[invariant]))


def rejection_text(invariant: Invariant, policy: str) -> Message:
    """Return why a decision was refused."""
    return Message(texts_of(policy).broken.get(invariant, BROKEN[invariant]))


def broken_invariant_text(invariant: Invariant) -> Message:
    """Return the sentence that another scheduler breaks an invariant."""
    return Message(AGAINST[invariant])


def number(invariant: Invariant, policy: str) -> int | None:
    """Return the number of an invariant, None for one without; only ``fence`` numbers them."""
    return NUMBERS.get(invariant) if texts_of(policy).numbers_laws else None


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


def sort_checks(checks: Iterable[InvariantCheck], policy: str) -> list[InvariantCheck]:
    """Return the numbered invariants first, in their order, then the others as they were checked."""
    return sorted(checks, key=lambda check: number(check.law, policy) or len(NUMBERS) + 1)


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

"""Why a border between two queues is open or shut: a label for a box, a clause for a row of a table."""

from engine.explain.message import Message, gettext_noop, short_name
from engine.reach import Border, BorderReason

LABELS: dict[BorderReason, str] = {
    BorderReason.SAME_FENCE: gettext_noop("same fence"),
    BorderReason.NO_FENCE: gettext_noop("no fence"),
    BorderReason.SAME_QUEUE: gettext_noop("same queue"),
    BorderReason.FENCE: gettext_noop("fence"),
    BorderReason.LEAF_FENCE: gettext_noop("leaf fence"),
    BorderReason.DISABLED: gettext_noop("disabled"),
    BorderReason.NO_GUARANTEE: gettext_noop("no guarantee"),
    BorderReason.SHARED_GUARANTEE: gettext_noop("shared guarantee"),
    BorderReason.PRIORITY_FENCE: gettext_noop("priority fence"),
    BorderReason.OVER_MAX: gettext_noop("max"),
}
CLAUSES: dict[BorderReason, str] = {
    BorderReason.SAME_FENCE: gettext_noop("both below the fence of %(queue)s"),
    BorderReason.NO_FENCE: gettext_noop("the asker has no fence; that of %(queue)s lets it in"),
    BorderReason.SAME_QUEUE: gettext_noop("never within one queue (law 3)"),
    BorderReason.FENCE: gettext_noop("the fence of %(queue)s lets nothing out"),
    BorderReason.LEAF_FENCE: gettext_noop("behind a leaf fence it preempts nothing at all"),
    BorderReason.DISABLED: gettext_noop("%(queue)s turns preemption off"),
    BorderReason.NO_GUARANTEE: gettext_noop("there is no guarantee to claim"),
    BorderReason.SHARED_GUARANTEE: gettext_noop(
        "all that the asker could claim is promised to %(queue)s, which holds both"
    ),
    BorderReason.PRIORITY_FENCE: gettext_noop("the priority fence of %(queue)s ranks above the asker"),
    BorderReason.OVER_MAX: gettext_noop(
        "the max of %(queue)s has no room beside what is promised to the victim’s queue"
    ),
}
UNFENCED = gettext_noop("the asker has no fence")


def border_label(reason: BorderReason) -> Message:
    """A border in a word or two."""
    return Message(LABELS[reason])


def border_clause(border: Border) -> Message:
    """Why a border is open or shut, to be read after "because"."""
    if border.reason is BorderReason.NO_FENCE and not border.queue:
        return Message(UNFENCED)
    clause = CLAUSES[border.reason]
    return Message(clause, {"queue": short_name(border.queue)} if "%(queue)s" in clause else {})

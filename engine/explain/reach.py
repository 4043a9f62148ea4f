"""Explains why preemption may or may not cross between two queues: a label for a box, a clause for a table row."""

from engine.model.message import Message, gettext_noop, short_name
from engine.policies import texts_of
from engine.tree.reach import Border, BorderReason, Reach

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
    BorderReason.LOWER_PRIORITY: gettext_noop("lower priority"),
    BorderReason.OVERUSED: gettext_noop("beyond its share"),
    BorderReason.RELATED: gettext_noop("same area"),
    BorderReason.OWN_QUEUE: gettext_noop("same queue"),
    BorderReason.SAME_COHORT: gettext_noop("same cohort"),
    BorderReason.NO_BORROWING: gettext_noop("only beyond its max"),
    BorderReason.COHORT_BORDER: gettext_noop("other cohort"),
    BorderReason.TAKES_WITHIN_NEVER: gettext_noop("takes nothing"),
    BorderReason.TAKES_NEVER: gettext_noop("takes nothing"),
    BorderReason.NO_QUOTA: gettext_noop("no quota"),
}
CLAUSES: dict[BorderReason, str] = {
    BorderReason.SAME_FENCE: gettext_noop("both below the fence of %(queue)s"),
    BorderReason.NO_FENCE: gettext_noop("the asker has no fence; that of %(queue)s lets it in"),
    BorderReason.SAME_QUEUE: gettext_noop("never within one queue"),
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
    BorderReason.LOWER_PRIORITY: gettext_noop("priority alone decides: any pod of a lower one may go"),
    BorderReason.OVERUSED: gettext_noop("while %(queue)s uses more than it deserves"),
    BorderReason.RELATED: gettext_noop("both in the area %(queue)s, in which queues give to each other first"),
    BorderReason.OWN_QUEUE: gettext_noop("its settings let it preempt in itself, by priority"),
    BorderReason.SAME_COHORT: gettext_noop("both in the cohort %(queue)s, in which what is borrowed may be taken back"),
    BorderReason.NO_BORROWING: gettext_noop("the max of %(queue)s leaves it nothing to borrow: only if it uses more"),
    BorderReason.COHORT_BORDER: gettext_noop("nothing is lent or taken across the fence of %(queue)s"),
    BorderReason.TAKES_WITHIN_NEVER: gettext_noop("its settings let it preempt nothing in itself"),
    BorderReason.TAKES_NEVER: gettext_noop("its settings let %(queue)s preempt nothing in other queues"),
    BorderReason.NO_QUOTA: gettext_noop(
        "the asker has no quota of its own below %(queue)s to take back, and may not preempt while it borrows"
    ),
}
UNFENCED = gettext_noop("the asker has no fence")


def border_label(reason: BorderReason) -> Message:
    """Return a border in a word or two."""
    return Message(LABELS[reason])


def border_clause(border: Border) -> Message:
    """Return why a border is open or closed, as a clause after "because"."""
    if border.reason is BorderReason.NO_FENCE and not border.queue:
        return Message(UNFENCED)
    clause = CLAUSES[border.reason]
    return Message(clause, {"queue": short_name(border.queue)} if "%(queue)s" in clause else {})


def conditions(reach: Reach) -> Message:
    """Return what else decides whether an open border is used."""
    return Message(texts_of(reach.policy).reach)

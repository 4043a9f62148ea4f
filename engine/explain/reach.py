"""Explains why preemption may or may not cross between two queues: a label for a box, a clause for a table row."""

from engine.model.message import Message, gettext_noop, short_name
from engine.policies import texts_of
from engine.tree.reach import Border, BorderReason, Reach

LABELS: dict[BorderReason, str] = {
    BorderReason.SAME_FENCE: gettext_noop("same fence"),
    BorderReason.NO_FENCE: gettext_noop("no fence"),
    BorderReason.SAME_QUEUE: gettext_noop("same queue"),
    BorderReason.FENCE: gettext_noop("fence"),
    BorderReason.LEAF_FENCE: gettext_noop("fence on leaf queue"),
    BorderReason.DISABLED: gettext_noop("disabled"),
    BorderReason.NO_GUARANTEE: gettext_noop("no guarantee"),
    BorderReason.SHARED_GUARANTEE: gettext_noop("shared guarantee"),
    BorderReason.PRIORITY_FENCE: gettext_noop("priority fence"),
    BorderReason.OVER_MAX: gettext_noop("max"),
    BorderReason.LOWER_PRIORITY: gettext_noop("lower priority"),
    BorderReason.OVERUSED: gettext_noop("above its share"),
    BorderReason.RELATED: gettext_noop("same area"),
    BorderReason.OWN_QUEUE: gettext_noop("same queue"),
    BorderReason.SAME_COHORT: gettext_noop("same cohort"),
    BorderReason.NO_BORROWING: gettext_noop("only above its max"),
    BorderReason.COHORT_BORDER: gettext_noop("other cohort"),
    BorderReason.TAKES_WITHIN_NEVER: gettext_noop("preempts nothing"),
    BorderReason.TAKES_NEVER: gettext_noop("preempts nothing"),
    BorderReason.NO_QUOTA: gettext_noop("no quota"),
}
CLAUSES: dict[BorderReason, str] = {
    BorderReason.SAME_FENCE: gettext_noop("both below the fence of %(queue)s"),
    BorderReason.NO_FENCE: gettext_noop("the requesting queue has no fence, and the fence of %(queue)s lets it in"),
    BorderReason.SAME_QUEUE: gettext_noop("queues never preempt within themselves"),
    BorderReason.FENCE: gettext_noop("the fence of %(queue)s lets nothing out"),
    BorderReason.LEAF_FENCE: gettext_noop("a leaf queue with its own fence can preempt nothing"),
    BorderReason.DISABLED: gettext_noop("%(queue)s disables preemption"),
    BorderReason.NO_GUARANTEE: gettext_noop("no guarantee to claim"),
    BorderReason.SHARED_GUARANTEE: gettext_noop(
        "all that the requesting queue could claim is guaranteed to %(queue)s, which contains both"
    ),
    BorderReason.PRIORITY_FENCE: gettext_noop(
        "the priority fence of %(queue)s ranks its pods above the requesting queue’s"
    ),
    BorderReason.OVER_MAX: gettext_noop("the max of %(queue)s has no room beyond the guarantee of the victim’s queue"),
    BorderReason.LOWER_PRIORITY: gettext_noop("only priority decides: any pod with a lower priority can be preempted"),
    BorderReason.OVERUSED: gettext_noop("while %(queue)s uses more than its deserved share"),
    BorderReason.RELATED: gettext_noop("both are in the area %(queue)s, where queues first give back to each other"),
    BorderReason.OWN_QUEUE: gettext_noop("its settings allow preemption within the queue by priority"),
    BorderReason.SAME_COHORT: gettext_noop(
        "both are in the cohort %(queue)s, where borrowed quota can be claimed back"
    ),
    BorderReason.NO_BORROWING: gettext_noop(
        "the max of %(queue)s leaves nothing to borrow: possible only while it uses more"
    ),
    BorderReason.COHORT_BORDER: gettext_noop("nothing is lent or preempted across the fence of %(queue)s"),
    BorderReason.TAKES_WITHIN_NEVER: gettext_noop("its settings do not allow preemption within the queue"),
    BorderReason.TAKES_NEVER: gettext_noop("its settings do not let %(queue)s preempt other queues"),
    BorderReason.NO_QUOTA: gettext_noop(
        "the requesting queue has no quota of its own below %(queue)s to claim back, and can’t preempt while it borrows"
    ),
}
UNFENCED = gettext_noop("the requesting queue has no fence")


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

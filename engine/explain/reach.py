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
    BorderReason.NO_FENCE: gettext_noop("%(asker)s has no fence; that of %(queue)s lets it in"),
    BorderReason.SAME_QUEUE: gettext_noop("never within one queue (law 3)"),
    BorderReason.FENCE: gettext_noop("the fence of %(queue)s lets nothing out"),
    BorderReason.LEAF_FENCE: gettext_noop("the leaf fence of %(queue)s: it preempts nothing at all"),
    BorderReason.DISABLED: gettext_noop("%(queue)s turns preemption off"),
    BorderReason.NO_GUARANTEE: gettext_noop("%(queue)s has no guarantee to claim"),
    BorderReason.SHARED_GUARANTEE: gettext_noop(
        "all that %(asker)s could claim is promised to %(queue)s, which holds both"
    ),
    BorderReason.PRIORITY_FENCE: gettext_noop("the priority fence of %(queue)s ranks above %(asker)s"),
    BorderReason.OVER_MAX: gettext_noop("the max of %(queue)s has no room beside what is promised to %(victim)s"),
}
UNFENCED = gettext_noop("%(asker)s has no fence")


def border_label(reason: BorderReason) -> Message:
    """A border in a word or two."""
    return Message(LABELS[reason])


def border_clause(border: Border) -> Message:
    """Why a border is open or shut, to be read after "because"."""
    unfenced = border.reason is BorderReason.NO_FENCE and not border.queue
    template = UNFENCED if unfenced else CLAUSES[border.reason]
    named = {"asker": border.asker, "victim": border.victim, "queue": border.queue}
    return Message(template, {name: short_name(path) for name, path in named.items() if f"%({name})s" in template})

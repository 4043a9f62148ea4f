"""The sentences above the map, in the reader's language."""

from collections.abc import Iterator

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.tree.reach import Fences, Reach
from scheduler_admin.core.translation import html, marked_up
from scheduler_admin.fences.descriptions import Lead


def lead_sentences(lead: Lead, rules: Reach) -> list[SafeString]:
    """Return what the lead says under a policy's rules, a sentence or two each."""
    if lead.kind != "none":
        return [*_whom_it_reaches(lead, rules), *_who_reaches_it(lead)]
    if lead.partial and rules.fences is not Fences.NONE:
        return list(_fences_of_own_queues(lead, rules))
    return [_fences_of_all(lead, rules)]


def _fences_of_all(lead: Lead, rules: Reach) -> SafeString:
    """No queue is chosen, and the reader sees all of them."""
    if rules.fences is Fences.NONE:
        return marked_up(
            _(
                "<strong>Priority alone decides: every queue reaches every other, and itself.</strong> "
                "Fences and guarantees count for nothing under this policy."
            )
        )
    if rules.fences is Fences.BOTH_WAYS and lead.fences:
        text = ngettext(
            "<strong>%(n)s fence: nothing is lent or taken across it, either way.</strong> "
            "What is borrowed on one side is taken back there. "
            "Choose a queue to see whom it reaches and who reaches it.",
            "<strong>%(n)s fences: nothing is lent or taken across them, either way.</strong> "
            "What is borrowed on one side is taken back there. "
            "Choose a queue to see whom it reaches and who reaches it.",
            lead.fences,
        )
    elif rules.fences is Fences.BOTH_WAYS:
        text = _(
            "<strong>There is no fence here:</strong> all queues lend to each other, and take back what others borrow. "
            "Choose a queue to see whom it reaches and who reaches it."
        )
    elif lead.fences:
        text = ngettext(
            "<strong>%(n)s fence: what is inside preempts only inside.</strong> Outsiders may still reach in. "
            "Choose a queue to see whom it reaches and who reaches it.",
            "<strong>%(n)s fences: what is inside preempts only inside.</strong> Outsiders may still reach in. "
            "Choose a queue to see whom it reaches and who reaches it.",
            lead.fences,
        )
    elif rules.policy == "deserved":
        text = _(
            "<strong>There is no fence here:</strong> a queue may take from any other what that uses beyond what it "
            "deserves. Choose a queue to see whom it reaches and who reaches it."
        )
    else:
        text = _(
            "<strong>There is no fence here:</strong> a queue below its guarantee may preempt any other that is above "
            "its own. Choose a queue to see whom it reaches and who reaches it."
        )
    return marked_up(text, n=lead.fences)


def _fences_of_own_queues(lead: Lead, rules: Reach) -> Iterator[SafeString]:
    """No queue is chosen, and there are queues that the reader may not see."""
    if lead.fences and rules.fences is Fences.BOTH_WAYS:
        text = ngettext(
            "<strong>%(n)s fence among your queues: nothing is lent or taken across it, either way.</strong>",
            "<strong>%(n)s fences among your queues: nothing is lent or taken across them, either way.</strong>",
            lead.fences,
        )
        yield marked_up(text, n=lead.fences)
    elif lead.fences:
        text = ngettext(
            "<strong>%(n)s fence among your queues: what is inside preempts only inside.</strong> "
            "Outsiders may still reach in.",
            "<strong>%(n)s fences among your queues: what is inside preempts only inside.</strong> "
            "Outsiders may still reach in.",
            lead.fences,
        )
        yield marked_up(text, n=lead.fences)
    elif not lead.kept:
        yield marked_up(_("<strong>No fence is around your queues.</strong>"))
    if lead.kept:
        text = ngettext(
            "<strong>%(queues)s is inside a fence: it preempts nothing outside.</strong>",
            "<strong>%(queues)s are inside fences: they preempt nothing outside.</strong>",
            lead.kept_count,
        )
        yield marked_up(text, queues=lead.kept)
    if lead.reaches_others:
        yield marked_up(_("Your queues reach queues of others."))
    if lead.others_reach:
        yield marked_up(_("Queues of others reach yours."))
    yield marked_up(_("Choose a queue to see whom it reaches and who reaches it."))


def _whom_it_reaches(lead: Lead, rules: Reach) -> Iterator[SafeString]:
    text = _reached(lead, rules)
    if text:
        because = html(lead.because) if lead.because else ""
        yield marked_up(text, name=lead.name, reached=lead.reached, fence=lead.fence, because=because)
    if lead.itself:
        yield marked_up(_("It may preempt in itself."))
    if lead.reaches_others and (lead.kind != "nothing" or not lead.because):
        yield marked_up(_("%(name)s reaches queues of others."), name=lead.name)


def _reached(lead: Lead, rules: Reach) -> str:
    """Empty where only queues of others are reached."""
    if lead.kind == "all":
        if rules.fences is Fences.NONE:
            return _("<strong>%(name)s reaches every other queue:</strong> priority alone decides.")
        if lead.fence:
            return _("<strong>%(name)s reaches every other queue:</strong> the fence of %(fence)s holds them all.")
        return _("<strong>%(name)s reaches every other queue:</strong> no fence holds it in.")
    if lead.kind == "some":
        if not lead.because:
            return _("<strong>%(name)s reaches %(reached)s.</strong>")
        if lead.reaches_others:
            return _("<strong>%(name)s reaches %(reached)s, and not all else:</strong> %(because)s.")
        return _("<strong>%(name)s reaches %(reached)s, and nothing else:</strong> %(because)s.")
    if lead.because and lead.reaches_others:
        return _("<strong>%(name)s reaches queues of others, but not all:</strong> %(because)s.")
    if lead.because:
        return _("<strong>%(name)s reaches no other queue:</strong> %(because)s.")
    if lead.alone:
        return _("<strong>%(name)s reaches no other queue:</strong> there is none.")
    return "" if lead.reaches_others else _("<strong>%(name)s reaches no other queue.</strong>")


def _who_reaches_it(lead: Lead) -> Iterator[SafeString]:
    if not lead.asker_count and not lead.others_reach:
        yield marked_up(_("<strong>No other queue reaches %(name)s.</strong>"), name=lead.name)
    elif lead.let_in:
        text = _("<strong>%(askers)s reach %(name)s</strong>; %(some)s, because a fence lets preemption in.")
        yield marked_up(text, askers=lead.askers, name=lead.name, some=lead.let_in)
    elif lead.asker_count:
        text = ngettext(
            "<strong>%(askers)s reaches %(name)s.</strong>",
            "<strong>%(askers)s reach %(name)s.</strong>",
            lead.asker_count,
        )
        yield marked_up(text, askers=lead.askers, name=lead.name)
        if lead.fence_lets_in:
            yield marked_up(_("A fence lets preemption in."))
    if lead.others_reach:
        yield marked_up(_("Queues of others reach %(name)s."), name=lead.name)

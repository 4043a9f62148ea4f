"""The sentences above the map, in the reader's language."""

from collections.abc import Iterator

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.tree.reach import Fences, Promise, Reach
from scheduler_admin.core.translation import html, marked_up
from scheduler_admin.fences.descriptions import Lead


def lead_sentences(lead: Lead, rules: Reach, *, chooses: bool = True) -> list[SafeString]:
    """Return what the lead says under a policy's rules, a sentence or two each; ``chooses``: there is a choice."""
    if lead.kind != "none":
        return [*_whom_it_reaches(lead, rules), *_who_reaches_it(lead)]
    if lead.partial and rules.fences is not Fences.NONE:
        choose = _("Choose a queue to see which queues it can preempt and which can preempt it.")
        return [*_fences_of_own_queues(lead, rules), *([marked_up(choose)] if chooses else [])]
    return [_fences_of_all(lead, rules)]


def _fences_of_all(lead: Lead, rules: Reach) -> SafeString:
    """No queue is chosen, and the reader sees all of them."""
    if rules.fences is Fences.NONE:
        return marked_up(
            _(
                "<strong>Priority alone decides: every queue can preempt every other queue and "
                "itself.</strong> This policy ignores fences and guarantees."
            )
        )
    if rules.fences is Fences.BOTH_WAYS and lead.fences:
        text = ngettext(
            "<strong>%(n)s fence: no lending or preemption across it, in either direction.</strong> What "
            "is borrowed on one side can be reclaimed only on that side. Choose a queue to see which "
            "queues it can preempt and which can preempt it.",
            "<strong>%(n)s fences: no lending or preemption across them, in either direction.</strong> "
            "What is borrowed on one side can be reclaimed only on that side. Choose a queue to see which "
            "queues it can preempt and which can preempt it.",
            lead.fences,
        )
    elif rules.fences is Fences.BOTH_WAYS:
        text = _(
            "<strong>There are no fences:</strong> all queues lend to each other and can reclaim what "
            "others borrow. Choose a queue to see which queues it can preempt and which can preempt it."
        )
    elif lead.fences:
        text = ngettext(
            "<strong>%(n)s fence: queues inside can preempt only inside it.</strong> Queues outside may "
            "still be able to preempt them. Choose a queue to see which queues it can preempt and which "
            "can preempt it.",
            "<strong>%(n)s fences: queues inside a fence can preempt only inside it.</strong> Queues "
            "outside may still be able to preempt them. Choose a queue to see which queues it can preempt "
            "and which can preempt it.",
            lead.fences,
        )
    else:
        text = _without_fences(rules.promise)
    return marked_up(text, n=lead.fences)


def _without_fences(promise: Promise) -> str:
    """There are no fences, under a policy by which a fence lets nothing out."""
    texts = {
        Promise.GUARANTEE: _(
            "<strong>There are no fences:</strong> a queue below its guarantee can preempt any queue "
            "above its guarantee. Choose a queue to see which queues it can preempt and which can preempt "
            "it."
        ),
        Promise.SHARE: _(
            "<strong>There are no fences:</strong> a queue can preempt any other queue that uses more "
            "than its deserved share. Choose a queue to see which queues it can preempt and which can "
            "preempt it."
        ),
    }
    return texts[promise]


def _fences_of_own_queues(lead: Lead, rules: Reach) -> Iterator[SafeString]:
    """No queue is chosen, and there are queues that the reader may not see."""
    if lead.fences and rules.fences is Fences.BOTH_WAYS:
        text = ngettext(
            "<strong>%(n)s fence among your queues: no lending or preemption across it, in either direction.</strong>",
            "<strong>%(n)s fences among your queues: no lending or preemption across them, in either "
            "direction.</strong>",
            lead.fences,
        )
        yield marked_up(text, n=lead.fences)
    elif lead.fences:
        text = ngettext(
            "<strong>%(n)s fence among your queues: queues inside can preempt only inside it.</strong> "
            "Queues outside may still be able to preempt them.",
            "<strong>%(n)s fences among your queues: queues inside a fence can preempt only inside "
            "it.</strong> Queues outside may still be able to preempt them.",
            lead.fences,
        )
        yield marked_up(text, n=lead.fences)
    elif not lead.kept:
        yield marked_up(_("<strong>Your queues are not inside a fence.</strong>"))
    if lead.kept:
        text = ngettext(
            "<strong>%(queues)s is inside a fence and can’t preempt outside it.</strong>",
            "<strong>%(queues)s are inside fences and can’t preempt outside them.</strong>",
            lead.kept_count,
        )
        yield marked_up(text, queues=lead.kept)
    if lead.reaches_others:
        yield marked_up(_("Your queues can preempt other tenants’ queues."))
    if lead.others_reach:
        yield marked_up(_("Other tenants’ queues can preempt yours."))


def _whom_it_reaches(lead: Lead, rules: Reach) -> Iterator[SafeString]:
    text = _reached(lead, rules)
    if text:
        because = html(lead.because) if lead.because else ""
        yield marked_up(text, name=lead.name, reached=lead.reached, fence=lead.fence, because=because)
    if lead.itself:
        yield marked_up(_("Pods in this queue can preempt each other."))
    if lead.reaches_others and (lead.kind != "nothing" or not lead.because):
        yield marked_up(_("%(name)s can preempt other tenants’ queues."), name=lead.name)


def _reached(lead: Lead, rules: Reach) -> str:
    """Empty where only queues of others are reached."""
    if lead.kind == "all":
        if rules.fences is Fences.NONE:
            return _("<strong>%(name)s can preempt every other queue:</strong> priority alone decides.")
        if lead.fence:
            return _(
                "<strong>%(name)s can preempt every other queue:</strong> all of them are inside the "
                "fence of %(fence)s."
            )
        return _("<strong>%(name)s can preempt every other queue:</strong> no fence stops it.")
    if lead.kind == "some":
        if not lead.because:
            return _("<strong>%(name)s can preempt %(reached)s.</strong>")
        if lead.reaches_others:
            return _("<strong>%(name)s can preempt %(reached)s, but not all other queues:</strong> %(because)s.")
        return _("<strong>%(name)s can preempt only %(reached)s:</strong> %(because)s.")
    if lead.because and lead.reaches_others:
        return _("<strong>%(name)s can preempt some of the other tenants’ queues, but not all:</strong> %(because)s.")
    if lead.because:
        return _("<strong>%(name)s can’t preempt any other queue:</strong> %(because)s.")
    if lead.alone:
        return _("<strong>%(name)s can’t preempt any other queue:</strong> there is no other queue.")
    return "" if lead.reaches_others else _("<strong>%(name)s can’t preempt any other queue.</strong>")


def _who_reaches_it(lead: Lead) -> Iterator[SafeString]:
    if not lead.asker_count and not lead.others_reach:
        yield marked_up(_("<strong>No other queue can preempt %(name)s.</strong>"), name=lead.name)
    elif lead.let_in:
        text = _(
            "<strong>%(askers)s can preempt %(name)s</strong>; %(some)s can do so because a fence lets preemption in."
        )
        yield marked_up(text, askers=lead.askers, name=lead.name, some=lead.let_in)
    elif lead.asker_count:
        text = ngettext(
            "<strong>%(askers)s can preempt %(name)s.</strong>",
            "<strong>%(askers)s can preempt %(name)s.</strong>",
            lead.asker_count,
        )
        yield marked_up(text, askers=lead.askers, name=lead.name)
        if lead.fence_lets_in:
            yield marked_up(_("This is because a fence lets preemption in."))
    if lead.others_reach:
        yield marked_up(_("Other tenants’ queues can preempt %(name)s."), name=lead.name)

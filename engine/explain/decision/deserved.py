"""The texts of policy ``deserved``: reserved and deserved amounts in place of guarantees."""

from engine.explain.decision.figures import asked, queues_of
from engine.explain.decision.sentence_texts import Forms, Tense
from engine.model.decision import Decision, DeservedFigures, PodVerdict, Reason
from engine.model.message import (
    Message,
    Name,
    Param,
    Timestamp,
    amount,
    format_amount_list,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
    short_names,
)
from engine.model.quantities import column, format_amount
from engine.policies.deserved.texts import REASONS

POLICY = "deserved"

OTHERS_IN_GRACE = gettext_noop(
    "Others use more than they deserve. They are told to give back, and until %(due)s they may choose themselves what "
    "goes."
)
NOTICE = gettext_noop("%(queue)s is to give back %(over)s by %(due)s.")
ALLOWED = gettext_noop("%(queue)s uses %(before)s where it deserves %(deserved)s, and %(after)s without it")
SENTENCE: Forms = {
    Tense.EVICTED: ngettext_noop(
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pod of those who have more than they "
        "deserve (%(queues)s) was evicted.",
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pods of those who have more than they "
        "deserve (%(queues)s) were evicted.",
    ),
    Tense.EVICTING: ngettext_noop(
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pod of those who have more than they "
        "deserve (%(queues)s) is being evicted.",
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pods of those who have more than they "
        "deserve (%(queues)s) are being evicted.",
    ),
    Tense.WOULD: ngettext_noop(
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pod of those who have more than they "
        "deserve (%(queues)s) would be evicted.",
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pods of those who have more than they "
        "deserve (%(queues)s) would be evicted.",
    ),
    Tense.STOPPED: ngettext_noop(
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pod of those who have more than they "
        "deserve (%(queues)s) would have been evicted.",
        "%(ask)s needed %(needed)s, which %(asker)s deserves, so %(count)s pods of those who have more than they "
        "deserve (%(queues)s) would have been evicted.",
    ),
}


def reason(decision: Decision) -> Message | None:
    """Return the reason of a decision with figures of this policy; None: it has no text here, or no figures."""
    if decision.reason is Reason.GRACE and not decision.detail:  # the notified queue is not disclosed
        return Message(OTHERS_IN_GRACE, {"due": Timestamp(decision.due_ms or 0)})
    template = REASONS.get(decision.reason)
    path, _, resource = decision.detail.partition(" ")
    one = figures(decision, path or decision.ask.queue)
    if template is None or one is None:
        return None
    name = resource or _decisive(decision, one)
    if name is None or (decision.reason is Reason.GRACE and decision.due_ms is None):
        return None
    params: dict[str, Param] = {
        "queue": short_name(one.queue),
        "used": amount(name, one.used.get(name, 0)),
        "would": amount(name, one.used.get(name, 0) + decision.ask.requests.get(name, 0)),
        "deserved": amount(name, one.deserved.get(name, 0)),
        "due": Timestamp(decision.due_ms or 0),
    }
    return Message(template, _only(template, params))


def notices(decision: Decision) -> tuple[Message, ...]:
    """Return which queues are notified to give back, how much, and until when."""
    return tuple(
        Message(
            NOTICE, {"queue": short_name(one.queue), "over": format_amount_list(one.over), "due": Timestamp(one.due_ms)}
        )
        for one in decision.notices
    )


def figures(decision: Decision, path: str) -> DeservedFigures | None:
    """Return the trace's figures of a queue, None if it has none."""
    return next((one for one in decision.trace.deserved if one.queue == path), None)


def _decisive(decision: Decision, one: DeservedFigures) -> str | None:
    """Return the requested resource of which the queue uses most relative to what it deserves."""
    return max(sorted(asked(decision), key=column), key=lambda name: _over(one, name), default=None)


def _over(one: DeservedFigures, name: str) -> float:
    share = one.deserved.get(name, 0)
    return (one.used.get(name, 0) - share) / share if share else float(one.used.get(name, 0) > 0)


def sentence(decision: Decision, tense: Tense) -> Message:
    """Return the sentence that says what happened and why."""
    name = min(asked(decision), key=column)
    forms = SENTENCE[tense]
    params: dict[str, Param] = {
        "ask": Name(decision.ask.name),
        "asker": short_name(decision.ask.queue),
        "needed": amount(name, decision.ask.requests[name]),
        "queues": short_names(queues_of(decision)),
    }
    return plural_message(forms, len(decision.to_evict), **params)


def allowed(decision: Decision, verdict: PodVerdict, taken: dict[tuple[str, str], int]) -> Message | None:
    """Return what allowed a victim, after the victims before it from its queue; None where there are no numbers."""
    one = figures(decision, verdict.pod.queue)
    held = [name for name in asked(decision) if verdict.pod.requests.get(name, 0) > 0]
    if one is None or not held:
        return None
    name = max(sorted(held, key=column), key=lambda each: _over(one, each))
    before = one.used.get(name, 0) - taken.get((one.queue, name), 0)
    return Message(
        ALLOWED,
        {
            "queue": short_name(one.queue),
            "before": amount(name, before),
            "deserved": format_amount(name, one.deserved.get(name, 0)),
            "after": format_amount(name, before - verdict.pod.requests[name]),
        },
    )


def _only(template: str, params: dict[str, Param]) -> dict[str, Param]:
    return {name: value for name, value in params.items() if f"%({name})s" in template}

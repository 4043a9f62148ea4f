"""The texts of policy ``deserved``: reserved and deserved amounts in place of guarantees."""

from engine.explain.decision.figures import queues_of, requested_amounts
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
    "Other queues use more than their deserved share. They have been asked to give it back and can choose "
    "which pods to stop until %(due)s."
)
NOTICE = gettext_noop("%(queue)s must give back %(over)s by %(due)s.")
ALLOWED = gettext_noop("%(queue)s uses %(before)s and deserves %(deserved)s; without this pod it uses %(after)s")
SENTENCE: Forms = {
    Tense.EVICTED: ngettext_noop(
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pod of queues "
        "above their deserved share (%(queues)s) was evicted.",
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pods of queues "
        "above their deserved share (%(queues)s) were evicted.",
    ),
    Tense.EVICTING: ngettext_noop(
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pod of queues "
        "above their deserved share (%(queues)s) is being evicted.",
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pods of queues "
        "above their deserved share (%(queues)s) are being evicted.",
    ),
    Tense.WOULD: ngettext_noop(
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pod of queues "
        "above their deserved share (%(queues)s) would be evicted.",
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pods of queues "
        "above their deserved share (%(queues)s) would be evicted.",
    ),
    Tense.STOPPED: ngettext_noop(
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pod of queues "
        "above their deserved share (%(queues)s) would have been evicted.",
        "%(ask)s needed %(needed)s within the deserved share of %(asker)s, so %(count)s pods of queues "
        "above their deserved share (%(queues)s) would have been evicted.",
    ),
}


GANG_BEYOND = gettext_noop(
    "With the pods of the group that come first, the others would take %(queue)s above its deserved share of "
    "%(deserved)s, so they can’t preempt. A group is started as a whole or not at all."
)


def reason(decision: Decision) -> Message | None:
    """Return the reason of a decision with figures of this policy; None: it has no text here, or no figures."""
    if decision.reason is Reason.GRACE and not decision.detail:  # the notified queue is not disclosed
        return Message(OTHERS_IN_GRACE, {"due": Timestamp(decision.due_ms or 0)})
    of_gang = decision.group and decision.reason is Reason.BEYOND_DESERVED
    template = GANG_BEYOND if of_gang else REASONS.get(decision.reason)
    path, _, resource = decision.detail.partition(" ")
    queue_figures = figures(decision, path or decision.ask.queue)
    if template is None or queue_figures is None:
        return None
    name = resource or _decisive(decision, queue_figures)
    if name is None or (decision.reason is Reason.GRACE and decision.due_ms is None):
        return None
    params: dict[str, Param] = {
        "queue": short_name(queue_figures.queue),
        "used": amount(name, queue_figures.used.get(name, 0)),
        "would": amount(name, queue_figures.used.get(name, 0) + decision.ask.requests.get(name, 0)),
        "deserved": amount(name, queue_figures.deserved.get(name, 0)),
        "due": Timestamp(decision.due_ms or 0),
    }
    return Message(template, _only(template, params))


def notices(decision: Decision) -> tuple[Message, ...]:
    """Return which queues are notified to give back, how much, and until when."""
    return tuple(
        Message(
            NOTICE,
            {
                "queue": short_name(notice.queue),
                "over": format_amount_list(notice.over),
                "due": Timestamp(notice.due_ms),
            },
        )
        for notice in decision.notices
    )


def figures(decision: Decision, path: str) -> DeservedFigures | None:
    """Return the trace's figures of a queue, None if it has none."""
    return next((queue_figures for queue_figures in decision.trace.deserved if queue_figures.queue == path), None)


def _decisive(decision: Decision, queue_figures: DeservedFigures) -> str | None:
    """Return the requested resource of which the queue uses most relative to what it deserves."""
    return max(
        sorted(requested_amounts(decision), key=column), key=lambda name: _over(queue_figures, name), default=None
    )


def _over(queue_figures: DeservedFigures, name: str) -> float:
    share = queue_figures.deserved.get(name, 0)
    return (queue_figures.used.get(name, 0) - share) / share if share else float(queue_figures.used.get(name, 0) > 0)


def sentence(decision: Decision, tense: Tense) -> Message:
    """Return the sentence that says what happened and why."""
    name = min(requested_amounts(decision), key=column)
    forms = SENTENCE[tense]
    params: dict[str, Param] = {
        "ask": Name(decision.ask.name),
        "asker": short_name(decision.ask.queue),
        "needed": amount(name, decision.ask.requests[name]),
        "queues": short_names(queues_of(decision)),
    }
    return plural_message(forms, len(decision.to_evict), **params)


def allowed(decision: Decision, verdict: PodVerdict, evicted: dict[tuple[str, str], int]) -> Message | None:
    """Return what allowed a victim, after the victims before it from its queue; None where there are no numbers."""
    queue_figures = figures(decision, verdict.pod.queue)
    held = [name for name in requested_amounts(decision) if verdict.pod.requests.get(name, 0) > 0]
    if queue_figures is None or not held:
        return None
    name = max(sorted(held, key=column), key=lambda resource: _over(queue_figures, resource))
    before = queue_figures.used.get(name, 0) - evicted.get((queue_figures.queue, name), 0)
    return Message(
        ALLOWED,
        {
            "queue": short_name(queue_figures.queue),
            "before": amount(name, before),
            "deserved": format_amount(name, queue_figures.deserved.get(name, 0)),
            "after": format_amount(name, before - verdict.pod.requests[name]),
        },
    )


def _only(template: str, params: dict[str, Param]) -> dict[str, Param]:
    return {name: value for name, value in params.items() if f"%({name})s" in template}

"""The texts of policies ``cohort`` and ``fair-share``: quota and shares in place of nodes and guarantees."""

from engine.explain.decision.figures import requested_amounts
from engine.explain.decision.sentence_texts import Forms, Single, Tense
from engine.model.decision import Decision, Outcome, PodReason, QuotaFigures, Reason
from engine.model.message import (
    Message,
    Name,
    Param,
    amount,
    format_amount_list,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
    short_names,
)
from engine.model.quantities import format_amount
from engine.policies.cohort.texts import REASONS

QUOTA: Forms = {
    Tense.EVICTED: ngettext_noop(
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pod of "
        "%(queues)s was evicted.",
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pods of "
        "%(queues)s were evicted.",
    ),
    Tense.EVICTING: ngettext_noop(
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pod of "
        "%(queues)s is being evicted.",
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pods of "
        "%(queues)s are being evicted.",
    ),
    Tense.WOULD: ngettext_noop(
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pod of "
        "%(queues)s would be evicted.",
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pods of "
        "%(queues)s would be evicted.",
    ),
    Tense.STOPPED: ngettext_noop(
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pod of "
        "%(queues)s would have been evicted.",
        "%(ask)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so %(count)s pods of "
        "%(queues)s would have been evicted.",
    ),
}
VICTIM_BORROWED: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s was evicted because %(queue)s used borrowed quota that another queue claimed back."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted because %(queue)s uses borrowed quota that another queue is claiming back."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted because %(queue)s uses borrowed quota that another queue claims back."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted because %(queue)s used borrowed quota that another queue claimed back."
    ),
}
"""For a victim's tenant, where a pod of another queue was the preemptor."""
VICTIM_OWN: Single = {
    Tense.EVICTED: gettext_noop("%(pod)s was evicted to free its quota for another pod of its own queue, %(queue)s."),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted to free its quota for another pod of its own queue, %(queue)s."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted to free its quota for another pod of its own queue, %(queue)s."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted to free its quota for another pod of its own queue, %(queue)s."
    ),
}
PREEMPTOR: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so pods of %(queues)s were evicted."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s needs %(needed)s of quota and %(asker)s had only %(left)s left, so pods of %(queues)s "
        "are being evicted."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so pods of %(queues)s "
        "would be evicted."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s needed %(needed)s of quota and %(asker)s had only %(left)s left, so pods of %(queues)s "
        "would have been evicted."
    ),
}
GRANTED = gettext_noop("%(pod)s fits into the quota of %(queue)s, so no pod is evicted for it.")
TOGETHER = gettext_noop("It belongs to the same workload as %(pod)s, and one decision covers the whole workload.")
SHARE = gettext_noop(
    "%(queue)s has a share of %(share)s: it borrows %(borrowed)s out of %(lendable)s of lendable quota, with "
    "weight %(weight)s. Afterwards: %(after)s."
)
SHARE_NONE = gettext_noop("%(queue)s has a share of 0 because it borrows nothing. Afterwards: %(after)s.")


def reason(decision: Decision) -> Message | None:
    """Return the reason of a decision in this policy's own words; None where it has none."""
    if decision.reason is Reason.DECIDED_WITH:
        return Message(TOGETHER, {"pod": Name(decision.detail.rpartition("/")[2])})
    template, params = REASONS.get(decision.reason), numbers(decision)
    if template is None:
        return None
    params |= {"asked": format_amount_list(requested_amounts(decision)), "queue": short_name(decision.ask.queue)}
    return Message(template, _only(template, params))


def numbers(decision: Decision) -> dict[str, Param]:
    """Return the figures of the resource in the decision's detail, or of the first one that is short."""
    resource = decision.detail.partition(" ")[2]
    short = sorted(decision.trace.short, key=lambda figures: figures.resource != resource)
    return _numbers(short[0]) if short else {}


def _numbers(short: QuotaFigures) -> dict[str, Param]:
    def written(value: int) -> Param:
        return format_amount(short.resource, value)

    return {
        "wanted": amount(short.resource, short.asked),
        "needed": amount(short.resource, short.asked),
        "left": written(short.available),
        "nominal": written(short.nominal),
        "used": written(short.used),
    }


def sentence(decision: Decision, queues: list[str], tense: Tense) -> Message:
    """Return the sentence that says what happened and why."""
    params: dict[str, Param] = {
        "ask": Name(decision.ask.name),
        "asker": short_name(decision.ask.queue),
        "queues": short_names(queues),
    }
    forms = QUOTA[tense]
    return plural_message(forms, len(decision.to_evict), **_only(forms[0], params | numbers(decision)))


def victim_sentence(decision: Decision, uid: str, tense: Tense) -> Message:
    """Return the sentence that says why this pod was evicted."""
    verdict = next(candidate for candidate in decision.victims if candidate.pod.uid == uid)
    in_own_queue = verdict.reason is PodReason.IN_QUEUE
    params = {"pod": Name(verdict.pod.name), "queue": short_name(verdict.pod.queue)}
    return Message((VICTIM_OWN if in_own_queue else VICTIM_BORROWED)[tense], params)


def preemptor_sentence(decision: Decision, queues: list[str], tense: Tense) -> Message:
    """Return the sentence that says at whose cost this pod got quota."""
    params: dict[str, Param] = {
        "pod": Name(decision.ask.name),
        "asker": short_name(decision.ask.queue),
        "queues": short_names(queues),
    }
    return Message(PREEMPTOR[tense], _only(PREEMPTOR[tense], params | numbers(decision)))


def granted(decision: Decision) -> Message | None:
    """Return the sentence that it gets quota without any eviction; None where it does not."""
    if decision.outcome is not Outcome.FITS:
        return None
    return Message(GRANTED, {"pod": Name(decision.ask.name), "queue": short_name(decision.ask.queue)})


def shares(decision: Decision) -> tuple[Message, ...]:
    """Return the shares on both sides, before and after; nothing where they do not matter."""
    messages = []
    for share in decision.trace.shares:
        params: dict[str, Param] = {"queue": short_name(share.queue), "share": share.text, "after": share.after}
        if share.resource:
            params["borrowed"] = amount(share.resource, share.borrowed)
            params["lendable"] = amount(share.resource, share.lendable)
            params["weight"] = share.weight
        template = SHARE if share.resource else SHARE_NONE
        messages.append(Message(template, _only(template, params)))
    return tuple(messages)


def _only(template: str, params: dict[str, Param]) -> dict[str, Param]:
    return {name: value for name, value in params.items() if f"%({name})s" in template}

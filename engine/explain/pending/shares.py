"""The texts on why a pending pod waits for what its queue deserves."""

from engine.analysis.pending_reasons import Tier, TierName
from engine.explain.decision.verdicts import POD_LABELS
from engine.explain.pending.amounts import LimitTexts, available_ratio, limit_sentence
from engine.model.decision import PodReason, Reason
from engine.model.message import (
    Message,
    Timestamp,
    amount,
    format_amount_list,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
    short_names,
)
from engine.policies.deserved.texts import REASONS, TEXTS

_HARD = LimitTexts(
    none=gettext_noop("No hard cap limits it."),
    room=gettext_noop("%(queue)s has %(left)s left below its hard cap, which is enough."),
    made=gettext_noop(
        "%(queue)s has only %(left)s left below its hard cap, but evictions inside it can free the rest."
    ),
    short=gettext_noop("%(queue)s has only %(left)s left below its hard cap, and this pod requests %(asked)s."),
    above=gettext_noop("A parent queue has too little left below its hard cap."),
)

DESERVED_ENOUGH = gettext_noop(
    "It would take %(queue)s to %(would)s of its deserved share of %(deserved)s, so it can preempt queues "
    "above their deserved share."
)
OVERUSED_NOBODY = gettext_noop(
    "No other queue within reach uses more than its deserved share of what this pod requests."
)
OVERUSED_FENCE = gettext_noop(
    "Within the fence of %(queue)s, no other queue uses more than its deserved share of what this pod requests."
)
OVERUSED_SOMEBODY = gettext_noop("Other queues use more than their deserved share of what this pod requests.")
OVERUSED_COUNTED = ngettext_noop(
    "%(count)s other queue uses more than its deserved share of what this pod requests: %(queues)s.",
    "%(count)s other queues use more than their deserved share of what this pod requests: %(queues)s.",
)
GIVING_NONE = gettext_noop("No pod of another queue can be preempted for it.")
GIVING_RESERVED = gettext_noop(
    "No pod of another queue can be preempted for it: what they use is reserved for their queues or for a parent queue."
)
GIVING_KEPT = gettext_noop(
    "No pod of another queue can be preempted for it: each is protected, covered by a disruption budget, "
    "or holds nothing that must be given back."
)
GIVING_BOTH = gettext_noop(
    "No pod of another queue can be preempted for it: each is part of a reservation, protected, covered "
    "by a disruption budget, or holds nothing that must be given back."
)
GIVING_SOME = gettext_noop("Pods of other queues can be preempted for it without touching a reservation.")
GIVING_COUNTED = ngettext_noop(
    "%(count)s pod of another queue can be preempted for it without touching a reservation. It holds %(held)s.",
    "%(count)s pods of other queues can be preempted for it without touching a reservation. Together they "
    "hold %(held)s.",
)
GRACE = ngettext_noop(
    "%(queues)s was asked to give back and can choose which pods to stop until %(due)s.",
    "%(queues)s were asked to give back and can choose which pods to stop until %(due)s.",
)
GRACE_OTHERS = gettext_noop("Other queues were asked to give back and can choose which pods to stop until %(due)s.")

_STAYING = {**POD_LABELS, **TEXTS.pod_labels}


def _hard(tier: Tier, _priority: int) -> Message:
    return limit_sentence(tier, _HARD)


def _deserved(tier: Tier, _priority: int) -> Message:
    worst = min(tier.needs, key=available_ratio)
    template = DESERVED_ENOUGH if tier.passes else REASONS[Reason.BEYOND_DESERVED]
    return Message(
        template,
        {
            "queue": short_name(worst.where),
            "would": amount(worst.resource, worst.required),
            "deserved": amount(worst.resource, worst.available),
        },
    )


def _overused(tier: Tier, _priority: int) -> Message:
    if tier.passes:
        if not tier.needs:
            return Message(OVERUSED_SOMEBODY)
        queues = short_names(need.queue for need in tier.reached)
        return plural_message(OVERUSED_COUNTED, len(tier.reached), queues=queues)
    fence = tier.needs[0].where if tier.needs else ""
    return Message(OVERUSED_FENCE, {"queue": short_name(fence)}) if fence else Message(OVERUSED_NOBODY)


def _giving(tier: Tier, _priority: int) -> Message:
    if not tier.passes:
        return Message(_nobody_gives({*tier.staying}))
    if not tier.needs or not tier.held:
        return Message(GIVING_SOME)
    return plural_message(GIVING_COUNTED, tier.needs[0].available, held=format_amount_list(tier.held))


def _nobody_gives(reasons: set[str]) -> str:
    if not reasons:
        return GIVING_NONE
    if PodReason.GUARANTEE not in reasons:
        return GIVING_KEPT
    return GIVING_BOTH if len(reasons) > 1 else GIVING_RESERVED


def _grace(tier: Tier, _priority: int) -> Message:
    due = Timestamp(max(notice.due_ms for notice in tier.notices))
    if not all(notice.queue for notice in tier.notices):
        return Message(GRACE_OTHERS, {"due": due})
    queues = short_names(notice.queue for notice in tier.notices)
    return Message(GRACE[0], {"queues": queues, "due": due}, plural=GRACE[1], count=len(tier.notices))


SENTENCES = {
    TierName.HARD: _hard,
    TierName.DESERVED: _deserved,
    TierName.OVERUSED: _overused,
    TierName.RESERVED: _giving,
    TierName.GRACE: _grace,
}


def staying_pods(tier: Tier) -> tuple[tuple[Message, int], ...]:
    """Return why pods of the queues that could give back are kept, with counts, the most frequent reason first."""
    ordered = sorted(tier.staying.items(), key=lambda item: (-item[1], item[0]))
    return tuple((Message(_STAYING[PodReason(reason)]), count) for reason, count in ordered)

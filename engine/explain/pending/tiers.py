"""Explains why a pod is pending, tier by tier, in words that people outside the platform team understand."""

from engine.analysis.pending_reasons import BORROWS, FLAVORS, NODES, WORKLOADS, Ahead, Tier, TierName
from engine.explain.decision.joint_limits import limited_tier
from engine.explain.decision.verdicts import NODE_LABELS
from engine.explain.pending import shares, workloads
from engine.explain.pending.amounts import (
    LimitTexts,
    amounts_text,
    available_amount,
    available_ratio,
    limit_sentence,
    obtainable_ratio,
)
from engine.model.decision import NodeReason
from engine.model.message import (
    Message,
    Name,
    amount,
    format_amount_list,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
    short_names,
)
from engine.model.quantities import PODS

LABELS: dict[TierName, str] = {
    TierName.CONSIDERED: gettext_noop("Considered by Kueue"),
    TierName.HARD: gettext_noop("Hard cap"),
    TierName.DESERVED: gettext_noop("Deserved"),
    TierName.OVERUSED: gettext_noop("More than deserved"),
    TierName.QUOTA: gettext_noop("Max"),
    TierName.GUARANTEE: gettext_noop("Guarantee"),
    TierName.FENCE: gettext_noop("Fence"),
    TierName.PRIORITY: gettext_noop("Priority"),
    TierName.GIVING: gettext_noop("Who may go"),
    TierName.GRACE: gettext_noop("Grace period"),
    TierName.NODE: gettext_noop("Room on a node"),
    TierName.MOST: gettext_noop("Quota at most"),
    TierName.LEFT: gettext_noop("Quota left"),
}

_MAX = LimitTexts(
    none=gettext_noop("No max stands in its way."),
    room=gettext_noop("%(queue)s has %(left)s left under its max, and that is enough."),
    made=gettext_noop("%(queue)s has only %(left)s left under its max, but evictions below it can make up the rest."),
    short=gettext_noop("%(queue)s has only %(left)s left under its max, and this pod asks %(asked)s."),
    above=gettext_noop("A queue above its own has too little left under its max."),
)

GUARANTEE_LEFT = gettext_noop("%(queue)s has %(left)s of its guarantee left, so its pods may preempt others.")
GUARANTEE_ABOVE_LEFT = gettext_noop(
    "A queue above its own has something of its guarantee left, so it may preempt others."
)
GUARANTEE_NONE = gettext_noop(
    "Neither its queue nor any queue above is guaranteed any of what it asks, so it may preempt nobody."
)
GUARANTEE_USED = gettext_noop(
    "%(queue)s already uses all the %(resource)s that it is guaranteed: only a queue below its guarantee may preempt."
)
GUARANTEE_WHOLE = gettext_noop(
    "Of its guarantee %(queue)s has %(left)s left, and this pod asks %(asked)s: YuniKorn lets a pod preempt where all "
    "that it asks is guaranteed."
)
GUARANTEE_MADE = gettext_noop(
    "Of its guarantee %(queue)s has only %(left)s left, but YuniKorn counts what others give up as well."
)
GUARANTEE_SHORT = gettext_noop(
    "Of its guarantee %(queue)s has only %(left)s left, and this pod asks %(asked)s: YuniKorn lets a pod preempt only "
    "where all that it asks is guaranteed."
)
GUARANTEE_ABOVE_USED = gettext_noop(
    "A queue above its own already uses all that it is guaranteed: only a queue below its guarantee may preempt."
)

FENCE_DISABLED = gettext_noop("Preemption is disabled in %(queue)s.")
FENCE_NOBODY = gettext_noop("The fence of %(queue)s leaves nobody to take from: no pod within it can be spared.")
FENCE_NONE = gettext_noop("No queue that preemption reaches has a pod to spare.")
FENCE_SOMEBODY = gettext_noop("Preemption reaches pods that their queues can spare.")
FENCE_COUNTED = ngettext_noop(
    "Preemption reaches %(count)s pod that its queue can spare, in %(queues)s.",
    "Preemption reaches %(count)s pods that their queues can spare, in %(queues)s.",
)

PRIORITY_NEVER = gettext_noop("Its priority class %(name)s does not let it preempt (preemptionPolicy Never).")
PRIORITY_NONE = gettext_noop("No pod may go for one of its priority, %(priority)s.")
PRIORITY_SOME = gettext_noop("Pods may go for one of its priority, %(priority)s.")
PRIORITY_COUNTED = ngettext_noop(
    "%(count)s pod may go for one of its priority, %(priority)s. It holds %(held)s.",
    "%(count)s pods may go for one of its priority, %(priority)s. Together they hold %(held)s.",
)

NODE_FREE = gettext_noop("%(node)s has room for it.")
NODE_MADE = gettext_noop("On %(node)s evictions make room for it.")
NODE_SOON = gettext_noop("%(node)s has room for it once the pods that are on their way out have gone.")
NODES_MADE = gettext_noop("Evictions make so much room for it on all nodes together.")
NODES_SHORT = gettext_noop("All nodes together lack %(missing)s for it, whatever is evicted.")
NODES_TOGETHER = gettext_noop("No pods that may go together make room for it, though all nodes together come near.")
NODE_NEAREST = gettext_noop("No node has room, and evictions make none. %(node)s comes nearest: it lacks %(missing)s.")
NODE_TOGETHER = gettext_noop("No node has room, and no pods that may go together make it, though %(node)s comes near.")
NODE_NONE = gettext_noop("No node may take it, whatever is free on it.")

MOST_ENOUGH = gettext_noop("%(queue)s could have %(left)s if nobody else used any, and that is enough.")
MOST_SHORT = gettext_noop(
    "%(queue)s could have at most %(left)s, even if nobody else used any, and this asks %(asked)s."
)
LEFT_NONE = gettext_noop("Nothing of what it asks counts towards a quota.")
LEFT_ENOUGH = gettext_noop("%(queue)s could have %(left)s more now, and that is enough.")
LEFT_MADE = gettext_noop("%(queue)s could have only %(left)s more now, but evictions can make up the rest.")
LEFT_SHORT = gettext_noop(
    "%(queue)s could have only %(left)s more now, this asks %(asked)s, and evictions do not make up the rest."
)
LEFT_BORROWS = gettext_noop(
    "%(queue)s could have only %(left)s more now, and this asks %(asked)s. Its queue would have to borrow for it, and "
    "may take nothing from others for that."
)
LEFT_FLAVORS = gettext_noop("No flavor of %(queue)s suits what its pods ask of their nodes.")

FIRST = gettext_noop("No other pod is considered before it.")
AHEAD = ngettext_noop(
    "%(count)s other pod is considered before it; of its own queue: %(own)s.",
    "%(count)s other pods are considered before it; of its own queue: %(own)s.",
)
TOGETHER = gettext_noop("With the first change of every part together it would get room.")


def tier_label(name: TierName) -> Message:
    """Return a tier's name in a word or two."""
    return Message(LABELS[name])


def tier_sentence(tier: Tier, priority: int) -> Message:
    """Return a tier's sentence for a pod of this priority, with its numbers as far as they are disclosed."""
    return _SENTENCES[tier.name](tier, priority)


def _quota(tier: Tier, _priority: int) -> Message:
    return limit_sentence(tier, _MAX)


def _guarantee(tier: Tier, _priority: int) -> Message:
    if tier.shut:
        return Message(GUARANTEE_NONE)
    worst = min(tier.needs, key=lambda need: (need.missing == 0, need.resource == PODS, need.resource), default=None)
    if worst is None or (worst.missing == 0 and not tier.passes):
        return Message(GUARANTEE_ABOVE_LEFT if tier.passes else GUARANTEE_ABOVE_USED)
    params = {"queue": short_name(worst.where)}
    if any(need.required > 1 for need in tier.needs):
        return _whole(tier)
    if tier.passes:
        return Message(GUARANTEE_LEFT, {**params, "left": available_amount(worst)})
    return Message(GUARANTEE_USED, {**params, "resource": worst.resource})


def _whole(tier: Tier) -> Message:
    """Return the sentence for a dialect in which the guarantee must cover the whole request."""
    worst = min(tier.needs, key=obtainable_ratio if not tier.passes else available_ratio)
    params = {"queue": short_name(worst.where), "left": available_amount(worst)}
    if tier.passes and worst.available < worst.required:
        return Message(GUARANTEE_MADE, params)
    params["asked"] = amount(worst.resource, worst.required)
    return Message(GUARANTEE_WHOLE if tier.passes else GUARANTEE_SHORT, params)


def _fence(tier: Tier, _priority: int) -> Message:
    if tier.shut:
        return Message(FENCE_DISABLED, {"queue": short_name(tier.shut)})
    if tier.passes:
        if not tier.needs:
            return Message(FENCE_SOMEBODY)
        queues = short_names(one.queue for one in tier.reached)
        return plural_message(FENCE_COUNTED, tier.needs[0].available, queues=queues)
    fence = tier.needs[0].where if tier.needs else ""
    return Message(FENCE_NOBODY, {"queue": short_name(fence)}) if fence else Message(FENCE_NONE)


def _priority(tier: Tier, priority: int) -> Message:
    if any(need.resource == WORKLOADS for need in tier.needs):
        return workloads.preemptable_workloads(tier, priority)
    if tier.shut:
        return Message(PRIORITY_NEVER, {"name": Name(tier.shut)})
    params = {"priority": str(priority)}
    if not tier.passes:
        return Message(PRIORITY_NONE, params)
    if not tier.needs or not tier.held:
        return Message(PRIORITY_SOME, params)
    return plural_message(PRIORITY_COUNTED, tier.needs[0].available, held=format_amount_list(tier.held), **params)


def _node(tier: Tier, _priority: int) -> Message:
    near = [need for need in tier.needs if need.resource != NODES]
    if not near:
        return Message(NODE_NONE)
    if not near[0].where:
        return _everywhere(tier)
    node = Name(near[0].where)
    if tier.soon:
        return Message(NODE_SOON, {"node": node})
    if tier.limit is not None:
        return limited_tier(tier.limit, tier.limited)
    if tier.passes:
        free = all(need.available >= need.required for need in near)
        return Message(NODE_FREE if free else NODE_MADE, {"node": node})
    missing = _missing(tier)
    if not missing:
        return Message(NODE_TOGETHER, {"node": node})
    return Message(NODE_NEAREST, {"node": node, "missing": amounts_text(missing)})


def _everywhere(tier: Tier) -> Message:
    """Return the sentence for a pending group that may run on any nodes."""
    if tier.passes:
        return Message(NODES_MADE)
    missing = _missing(tier)
    return Message(NODES_SHORT, {"missing": amounts_text(missing)}) if missing else Message(NODES_TOGETHER)


def _missing(tier: Tier) -> dict[str, int]:
    return {need.resource: need.missing for need in tier.needs if need.missing and need.resource != NODES}


def _most(tier: Tier, _priority: int) -> Message:
    worst = min(tier.needs, key=available_ratio)
    params = {"queue": short_name(worst.where), "left": available_amount(worst)}
    if tier.passes:
        return Message(MOST_ENOUGH, params)
    return Message(MOST_SHORT, {**params, "asked": amount(worst.resource, worst.required)})


def _quota_left(tier: Tier, _priority: int) -> Message:
    if not tier.needs:
        return Message(LEFT_NONE)
    worst = min(tier.needs, key=available_ratio)
    params = {"queue": short_name(worst.where), "left": available_amount(worst)}
    if tier.shut == FLAVORS:
        return Message(LEFT_FLAVORS, {"queue": params["queue"]})
    if not tier.passes:
        short = LEFT_BORROWS if tier.shut == BORROWS else LEFT_SHORT
        return Message(short, {**params, "asked": amount(worst.resource, worst.required)})
    return Message(LEFT_ENOUGH if worst.available >= worst.required else LEFT_MADE, params)


_SENTENCES = {
    **shares.SENTENCES,
    TierName.CONSIDERED: workloads.considered,
    TierName.QUOTA: _quota,
    TierName.GUARANTEE: _guarantee,
    TierName.FENCE: _fence,
    TierName.PRIORITY: _priority,
    TierName.NODE: _node,
    TierName.MOST: _most,
    TierName.LEFT: _quota_left,
}


def rejecting_nodes(tier: Tier) -> tuple[tuple[Message, int], ...]:
    """Return why nodes can't take the pod, with the number of nodes, the most frequent reason first."""
    ordered = sorted(tier.refusing.items(), key=lambda item: (-item[1], item[0]))
    return tuple((Message(NODE_LABELS[NodeReason(reason)]), count) for reason, count in ordered)


def pods_ahead(pods_before: Ahead) -> Message:
    """Return how many pods are considered earlier, without saying whose they are."""
    return (
        plural_message(AHEAD, pods_before.cluster, own=str(pods_before.queue))
        if pods_before.cluster
        else Message(FIRST)
    )


def all_remedies() -> Message:
    """Return the sentence about applying the first remedy of every tier together."""
    return Message(TOGETHER)

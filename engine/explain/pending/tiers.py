"""Explains why a pod is pending, tier by tier, in words that people outside the platform team understand."""

from engine.analysis.pending_reasons import BORROWS, FLAVORS, NODES, WORKLOADS, Ahead, Tier, TierName
from engine.explain.decision.joint_limits import limited_tier
from engine.explain.decision.verdicts import NODE_LABELS
from engine.explain.pending import groups, shares, workloads
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
    TierName.ADMISSIBLE: gettext_noop("Considered by Kueue"),
    TierName.GROUP: gettext_noop("Its group"),
    TierName.GROUP_GATES: gettext_noop("Scheduling gates"),
    TierName.HARD: gettext_noop("Hard cap"),
    TierName.DESERVED: gettext_noop("Deserved share"),
    TierName.OVERUSED: gettext_noop("Above deserved share"),
    TierName.QUOTA: gettext_noop("Max"),
    TierName.GUARANTEE: gettext_noop("Guarantee"),
    TierName.FENCE: gettext_noop("Fence"),
    TierName.PRIORITY: gettext_noop("Priority"),
    TierName.RESERVED: gettext_noop("Possible victims"),
    TierName.GRACE: gettext_noop("Grace period"),
    TierName.NODE: gettext_noop("Room on a node"),
    TierName.GROUP_NODES: gettext_noop("Room for the group"),
    TierName.POTENTIAL: gettext_noop("Highest possible quota"),
    TierName.AVAILABLE: gettext_noop("Remaining quota"),
}

_MAX = LimitTexts(
    none=gettext_noop("No max limits it."),
    room=gettext_noop("%(queue)s has %(left)s left below its max, which is enough."),
    made=gettext_noop("%(queue)s has only %(left)s left below its max, but evictions inside it can free the rest."),
    short=gettext_noop("%(queue)s has only %(left)s left below its max, and this pod requests %(asked)s."),
    above=gettext_noop("A parent queue has too little left below its max."),
)

GUARANTEE_LEFT = gettext_noop("%(queue)s has %(left)s of its guarantee left, so its pods can preempt others.")
GUARANTEE_ABOVE_LEFT = gettext_noop("A parent queue has some of its guarantee left, so this pod can preempt others.")
GUARANTEE_NONE = gettext_noop(
    "Neither its queue nor any parent queue has a guarantee for what it requests, so it can’t preempt."
)
GUARANTEE_USED = gettext_noop(
    "%(queue)s already uses its whole guarantee of %(resource)s. Only queues below their guarantee can preempt."
)
GUARANTEE_EXCEEDED = gettext_noop(
    "%(queue)s is %(more)s above its guarantee. Only queues below their guarantee can preempt."
)
GUARANTEE_WHOLE = gettext_noop(
    "%(queue)s has %(left)s of its guarantee left, and this pod requests %(asked)s. YuniKorn lets a pod "
    "preempt if its whole request is guaranteed."
)
GUARANTEE_MADE = gettext_noop(
    "%(queue)s has only %(left)s of its guarantee left, but YuniKorn also counts what others give up."
)
GUARANTEE_SHORT = gettext_noop(
    "%(queue)s has only %(left)s of its guarantee left, and this pod requests %(asked)s. YuniKorn lets a "
    "pod preempt only if its whole request is guaranteed."
)
GUARANTEE_ABOVE_USED = gettext_noop(
    "A parent queue already uses its whole guarantee. Only queues below their guarantee can preempt."
)

FENCE_DISABLED = gettext_noop("Preemption is disabled in %(queue)s.")
FENCE_NOBODY = gettext_noop("No queue within the fence of %(queue)s has pods to spare.")
FENCE_NONE = gettext_noop("No queue within reach has pods to spare.")
FENCE_SOMEBODY = gettext_noop("Queues within reach have pods to spare.")
FENCE_COUNTED = ngettext_noop(
    "Queues within reach have %(count)s pod to spare, in %(queues)s.",
    "Queues within reach have %(count)s pods to spare, in %(queues)s.",
)

PRIORITY_NEVER = gettext_noop("Its priority class %(name)s does not allow preemption (preemptionPolicy: Never).")
PRIORITY_NONE = gettext_noop("No pod can be preempted at its priority, %(priority)s.")
PRIORITY_SOME = gettext_noop("Some pods can be preempted at its priority, %(priority)s.")
PRIORITY_COUNTED = ngettext_noop(
    "%(count)s pod can be preempted at its priority, %(priority)s. It holds %(held)s.",
    "%(count)s pods can be preempted at its priority, %(priority)s. Together they hold %(held)s.",
)

NODE_FREE = gettext_noop("%(node)s has room for it.")
NODE_MADE = gettext_noop("Evictions make room for it on %(node)s.")
NODE_SOON = gettext_noop("%(node)s will have room for it once the terminating pods are gone.")
NODES_MADE = gettext_noop("Evictions free enough for it on all nodes together.")
NODES_SHORT = gettext_noop("All nodes together lack %(missing)s for it, even after every possible eviction.")
NODES_TOGETHER = gettext_noop(
    "No pods can be preempted together to make room for it, although all nodes together come close."
)
NODE_NEAREST = gettext_noop("No node has room, even after evictions. %(node)s is closest: it lacks %(missing)s.")
NODE_TOGETHER = gettext_noop(
    "No node has room, and no pods can be preempted together to make it, although %(node)s comes close."
)
NODE_NONE = gettext_noop("No node accepts it, regardless of free capacity.")

MOST_ENOUGH = gettext_noop("%(queue)s could get %(left)s if no other queue used any, which is enough.")
MOST_SHORT = gettext_noop(
    "%(queue)s could get at most %(left)s, even if no other queue used any, and the request is %(asked)s."
)
LEFT_NONE = gettext_noop("Nothing that it requests counts toward a quota.")
LEFT_ENOUGH = gettext_noop("%(queue)s can get %(left)s more now, which is enough.")
LEFT_MADE = gettext_noop("%(queue)s can get only %(left)s more now, but evictions can free the rest.")
LEFT_SHORT = gettext_noop(
    "%(queue)s can get only %(left)s more now, and the request is %(asked)s. Evictions do not free the rest."
)
LEFT_BORROWS = gettext_noop(
    "%(queue)s can get only %(left)s more now, and the request is %(asked)s. The queue would have to "
    "borrow, and its rules do not let it preempt for borrowed quota."
)
LEFT_FLAVORS = gettext_noop("No flavor of %(queue)s meets the node requirements of its pods.")

FIRST = gettext_noop("No other pod is ahead of it.")
AHEAD = ngettext_noop(
    "%(count)s other pod is ahead of it (%(own)s in its own queue).",
    "%(count)s other pods are ahead of it (%(own)s in its own queue).",
)
TOGETHER = gettext_noop("It would get room with the first change of each failed check together.")


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
    if worst.available < 0:
        return Message(GUARANTEE_EXCEEDED, {**params, "more": amount(worst.resource, -worst.available)})
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
    TierName.ADMISSIBLE: workloads.considered,
    TierName.GROUP: groups.existing,
    TierName.GROUP_GATES: groups.gated,
    TierName.GROUP_NODES: groups.placed,
    TierName.QUOTA: _quota,
    TierName.GUARANTEE: _guarantee,
    TierName.FENCE: _fence,
    TierName.PRIORITY: _priority,
    TierName.NODE: _node,
    TierName.POTENTIAL: _most,
    TierName.AVAILABLE: _quota_left,
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

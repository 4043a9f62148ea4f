"""Why an ask waits, tier by tier, in words that a person outside the platform team understands."""

from collections.abc import Mapping
from fractions import Fraction

from engine.decision import NodeReason
from engine.explain.message import (
    Message,
    Name,
    Param,
    amount,
    counted,
    gettext_noop,
    listed,
    ngettext_noop,
    short_name,
    short_names,
)
from engine.explain.verdicts import NODE_LABELS
from engine.otherwise import Change
from engine.resources import PODS, format_amount
from engine.waiting import NODES, Ahead, Need, Remedy, Tier, TierName

LABELS: dict[TierName, str] = {
    TierName.QUOTA: gettext_noop("Max"),
    TierName.GUARANTEE: gettext_noop("Guarantee"),
    TierName.FENCE: gettext_noop("Fence"),
    TierName.PRIORITY: gettext_noop("Priority"),
    TierName.NODE: gettext_noop("Room on a node"),
    TierName.MOST: gettext_noop("Quota at most"),
    TierName.LEFT: gettext_noop("Quota left"),
}

QUOTA_NONE = gettext_noop("No max stands in its way.")
QUOTA_ROOM = gettext_noop("%(queue)s has %(left)s left under its max, and that is enough.")
QUOTA_MADE = gettext_noop(
    "%(queue)s has only %(left)s left under its max, but evictions below it can make up the rest."
)
QUOTA_SHORT = gettext_noop("%(queue)s has only %(left)s left under its max, and this pod asks %(asked)s.")
QUOTA_ABOVE = gettext_noop("A queue above its own has too little left under its max.")

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

FIRST = gettext_noop("No other pod is considered before it.")
AHEAD = ngettext_noop(
    "%(count)s other pod is considered before it; of its own queue: %(own)s.",
    "%(count)s other pods are considered before it; of its own queue: %(own)s.",
)
TOGETHER = gettext_noop("With the first change of every part together it would get room.")

PASS: dict[Change, str] = {
    Change.REQUEST: gettext_noop("It would pass this if it asked %(amounts)s less."),
    Change.MAX: gettext_noop("It would pass this if this were the max of %(queue)s: %(amounts)s."),
    Change.GUARANTEE: gettext_noop("It would pass this if %(queue)s were guaranteed more than this: %(amounts)s."),
    Change.FENCE: gettext_noop("It would pass this if %(queue)s were no fence."),
    Change.PRIORITY: gettext_noop("It would pass this with priority %(priority)s."),
    Change.MAY_PREEMPT: gettext_noop("It would pass this if its priority class let it preempt."),
}
ENOUGH: dict[Change, str] = {
    Change.REQUEST: gettext_noop("It would get room if it asked %(amounts)s less."),
    Change.MAX: gettext_noop("It would get room if this were the max of %(queue)s: %(amounts)s."),
    Change.GUARANTEE: gettext_noop("It would get room if %(queue)s were guaranteed more than this: %(amounts)s."),
    Change.FENCE: gettext_noop("It would get room if %(queue)s were no fence."),
    Change.PRIORITY: gettext_noop("It would get room with priority %(priority)s."),
    Change.MAY_PREEMPT: gettext_noop("It would get room if its priority class let it preempt."),
}
SEVERAL: dict[Change, str] = {
    Change.MAX: gettext_noop("It would pass this if these were the max: %(queues)s."),
    Change.GUARANTEE: gettext_noop("It would pass this if these queues were guaranteed more than this: %(queues)s."),
}
SEVERAL_ENOUGH: dict[Change, str] = {
    Change.MAX: gettext_noop("It would get room if these were the max: %(queues)s."),
    Change.GUARANTEE: gettext_noop("It would get room if these queues were guaranteed more than this: %(queues)s."),
}

UNKEPT: dict[bool, str] = {
    False: gettext_noop(
        "It would pass this if %(queue)s were guaranteed more than this: %(amounts)s. For that the guarantee or "
        "the max of %(above)s has to be raised, too."
    ),
    True: gettext_noop(
        "It would get room if %(queue)s were guaranteed more than this: %(amounts)s. For that the guarantee or "
        "the max of %(above)s has to be raised, too."
    ),
}
SEVERAL_UNKEPT: dict[bool, str] = {
    False: gettext_noop(
        "It would pass this if these queues were guaranteed more than this: %(queues)s. For that the guarantee or "
        "the max of %(above)s has to be raised, too."
    ),
    True: gettext_noop(
        "It would get room if these queues were guaranteed more than this: %(queues)s. For that the guarantee or "
        "the max of %(above)s has to be raised, too."
    ),
}
"""Whether it then gets room -> where more is promised than a queue above has."""


def tier_label(name: TierName) -> Message:
    """A tier in a word or two."""
    return Message(LABELS[name])


def tier_sentence(tier: Tier, priority: int) -> Message:
    """What a tier says of an ask of this priority, with its numbers as far as they are told."""
    return _SENTENCES[tier.name](tier, priority)


def _quota(tier: Tier, _priority: int) -> Message:
    worst = min(tier.needs, key=_part, default=None)
    if worst is None:
        return Message(QUOTA_NONE if tier.passes else QUOTA_ABOVE)
    if worst.missing == 0 and not tier.passes:
        return Message(QUOTA_ABOVE)
    params = {"queue": short_name(worst.where), "left": _left(worst)}
    if worst.missing:
        return Message(QUOTA_SHORT, {**params, "asked": amount(worst.resource, worst.required)})
    return Message(QUOTA_ROOM if worst.available >= worst.required else QUOTA_MADE, params)


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
        return Message(GUARANTEE_LEFT, {**params, "left": _left(worst)})
    return Message(GUARANTEE_USED, {**params, "resource": worst.resource})


def _whole(tier: Tier) -> Message:
    """Where all of the ask has to be guaranteed."""
    worst = min(tier.needs, key=_part if not tier.passes else _there)
    params = {"queue": short_name(worst.where), "left": _left(worst)}
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
        return counted(FENCE_COUNTED, tier.needs[0].available, queues=queues)
    fence = tier.needs[0].where if tier.needs else ""
    return Message(FENCE_NOBODY, {"queue": short_name(fence)}) if fence else Message(FENCE_NONE)


def _priority(tier: Tier, priority: int) -> Message:
    if tier.shut:
        return Message(PRIORITY_NEVER, {"name": Name(tier.shut)})
    params = {"priority": str(priority)}
    if not tier.passes:
        return Message(PRIORITY_NONE, params)
    if not tier.needs or not tier.held:
        return Message(PRIORITY_SOME, params)
    return counted(PRIORITY_COUNTED, tier.needs[0].available, held=listed(tier.held), **params)


def _node(tier: Tier, _priority: int) -> Message:
    near = [need for need in tier.needs if need.resource != NODES]
    if not near:
        return Message(NODE_NONE)
    node = Name(near[0].where)
    if tier.passes:
        free = all(need.available >= need.required for need in near)
        return Message(NODE_FREE if free else NODE_MADE, {"node": node})
    missing = {need.resource: need.missing for need in near if need.missing}
    if not missing:
        return Message(NODE_TOGETHER, {"node": node})
    return Message(NODE_NEAREST, {"node": node, "missing": _amounts(missing)})


def _most(tier: Tier, _priority: int) -> Message:
    worst = min(tier.needs, key=_there)
    params = {"queue": short_name(worst.where), "left": _left(worst)}
    if tier.passes:
        return Message(MOST_ENOUGH, params)
    return Message(MOST_SHORT, {**params, "asked": amount(worst.resource, worst.required)})


def _quota_left(tier: Tier, _priority: int) -> Message:
    if not tier.needs:
        return Message(LEFT_NONE)
    worst = min(tier.needs, key=_there)
    params = {"queue": short_name(worst.where), "left": _left(worst)}
    if not tier.passes:
        return Message(LEFT_SHORT, {**params, "asked": amount(worst.resource, worst.required)})
    return Message(LEFT_ENOUGH if worst.available >= worst.required else LEFT_MADE, params)


_SENTENCES = {
    TierName.QUOTA: _quota,
    TierName.GUARANTEE: _guarantee,
    TierName.FENCE: _fence,
    TierName.PRIORITY: _priority,
    TierName.NODE: _node,
    TierName.MOST: _most,
    TierName.LEFT: _quota_left,
}


def _part(need: Need) -> Fraction:
    """How many times what is asked is there, or can be made."""
    return Fraction(need.available + need.evictable, need.required)


def _there(need: Need) -> Fraction:
    """How many times what is asked is there."""
    return Fraction(need.available, need.required)


def _left(need: Need) -> Param:
    return amount(need.resource, max(0, need.available))


def _amounts(amounts: Mapping[str, int]) -> Param:
    if len(amounts) == 1:
        ((resource, value),) = amounts.items()
        return amount(resource, value)
    return listed(amounts)


def refused_nodes(tier: Tier) -> tuple[tuple[Message, int], ...]:
    """Why nodes can't take it, each with how many, the most first."""
    ordered = sorted(tier.refusing.items(), key=lambda one: (-one[1], one[0]))
    return tuple((Message(NODE_LABELS[NodeReason(reason)]), count) for reason, count in ordered)


def remedy_sentence(remedy: Remedy) -> Message:
    """What would get the ask past a tier; where nothing else is in its way, what would get it room."""
    # A guarantee is told as what it would have to be above: a unit less than the amount that does.
    less = 1 if remedy.change is Change.GUARANTEE else 0
    queues = {path: {name: value - less for name, value in amounts.items()} for path, amounts in remedy.queues.items()}
    if len(queues) > 1:
        told = ", ".join(f"{short_name(path)} {_plain(amounts)}" for path, amounts in queues.items())
        if remedy.unkept:
            above = short_name(remedy.unkept)
            return Message(SEVERAL_UNKEPT[remedy.enough], {"queues": told, "above": above})
        forms = SEVERAL_ENOUGH if remedy.enough else SEVERAL
        return Message(forms[remedy.change], {"queues": told})
    template = UNKEPT[remedy.enough] if remedy.unkept else (ENOUGH if remedy.enough else PASS)[remedy.change]
    params: dict[str, Param] = {"priority": str(remedy.priority), "above": short_name(remedy.unkept)}
    if remedy.smaller:
        params["amounts"] = _amounts(remedy.smaller)
    for path, amounts in queues.items():
        params |= {"queue": short_name(path), "amounts": _plain(amounts)}
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})


def _plain(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {format_amount(name, value)}" for name, value in sorted(amounts.items()))


def asks_ahead(found: Ahead) -> Message:
    """How many are considered before it; whose is nobody's business."""
    return counted(AHEAD, found.cluster, own=str(found.queue)) if found.cluster else Message(FIRST)


def together() -> Message:
    """That the first remedies do together."""
    return Message(TOGETHER)

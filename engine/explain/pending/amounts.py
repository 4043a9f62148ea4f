"""Shares code among the sentences on pending pods: the decisive amount, and the limits of queues."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from engine.analysis.pending_reasons import Need, Tier
from engine.model.message import Message, Param, amount, format_amount_list, short_name


class LimitTexts(NamedTuple):
    """The texts about a limit on queues."""

    none: str
    room: str
    made: str
    short: str
    above: str


def limit_sentence(tier: Tier, forms: LimitTexts) -> Message:
    """Return the sentence for a tier that compares a pending pod with the limits of queues."""
    worst = min(tier.needs, key=obtainable_ratio, default=None)
    if worst is None:
        return Message(forms.none if tier.passes else forms.above)
    if worst.missing == 0 and not tier.passes:
        return Message(forms.above)
    params = {"queue": short_name(worst.where), "left": available_amount(worst)}
    if worst.missing:
        return Message(forms.short, {**params, "asked": amount(worst.resource, worst.required)})
    return Message(forms.room if worst.available >= worst.required else forms.made, params)


def obtainable_ratio(need: Need) -> Fraction:
    """Return the available and evictable amount as a fraction of the request."""
    return Fraction(need.available + need.evictable, need.required)


def available_ratio(need: Need) -> Fraction:
    """Return the available amount as a fraction of the request."""
    return Fraction(need.available, need.required)


def available_amount(need: Need) -> Param:
    """Return the available amount; nothing where more is used already."""
    return amount(need.resource, max(0, need.available))


def amounts_text(amounts: Mapping[str, int]) -> Param:
    """Return a single amount with its resource, or a list of several."""
    if len(amounts) == 1:
        ((resource, value),) = amounts.items()
        return amount(resource, value)
    return format_amount_list(amounts)

"""What several sentences of why an ask waits have in common: the amount that counts, and limits on queues."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from engine.analysis.pending_reasons import Need, Tier
from engine.model.message import Message, Param, amount, format_amount_list, short_name


class LimitTexts(NamedTuple):
    """What is said of a limit on queues."""

    none: str
    room: str
    made: str
    short: str
    above: str


def limited(tier: Tier, forms: LimitTexts) -> Message:
    """What is said of a tier that holds an ask against the limits of queues."""
    worst = min(tier.needs, key=part, default=None)
    if worst is None:
        return Message(forms.none if tier.passes else forms.above)
    if worst.missing == 0 and not tier.passes:
        return Message(forms.above)
    params = {"queue": short_name(worst.where), "left": left(worst)}
    if worst.missing:
        return Message(forms.short, {**params, "asked": amount(worst.resource, worst.required)})
    return Message(forms.room if worst.available >= worst.required else forms.made, params)


def part(need: Need) -> Fraction:
    """How many times what is asked is there, or can be made."""
    return Fraction(need.available + need.evictable, need.required)


def there(need: Need) -> Fraction:
    """How many times what is asked is there."""
    return Fraction(need.available, need.required)


def left(need: Need) -> Param:
    """What is there of it; nothing where more is used already."""
    return amount(need.resource, max(0, need.available))


def amounts_told(amounts: Mapping[str, int]) -> Param:
    """One amount with its resource, or several in a row."""
    if len(amounts) == 1:
        ((resource, value),) = amounts.items()
        return amount(resource, value)
    return format_amount_list(amounts)

"""Explains why a pod of a group waits, where the group is decided as a whole."""

from engine.analysis.pending_reasons import Tier
from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message

MISSING = gettext_noop("Its group %(group)s does not exist, so the scheduler does not try it.")
DIFFERS = gettext_noop(
    "%(pod)s does not have the group’s priority, or not the other pods’ scheduler or preemption policy. The scheduler "
    "does not try such a group."
)
GATED = gettext_noop("%(pod)s of its group has scheduling gates, so the scheduler tries none of its pods.")
ENOUGH = ngettext_noop(
    "%(count)s pod of its group exists, and %(needed)s must run at once.",
    "%(count)s pods of its group exist, and %(needed)s must run at once.",
)
TOO_FEW = ngettext_noop(
    "Only %(count)s pod of its group exists, and %(needed)s must run at once.",
    "Only %(count)s pods of its group exist, and %(needed)s must run at once.",
)
FREE = ngettext_noop(
    "%(count)s pod of its group has room without any eviction, and %(needed)s must run at once.",
    "%(count)s pods of its group have room without any eviction, and %(needed)s must run at once.",
)
MADE = ngettext_noop(
    "Evictions make room for %(count)s pod of its group, and %(needed)s must run at once.",
    "Evictions make room for %(count)s pods of its group, and %(needed)s must run at once.",
)
SHORT = ngettext_noop(
    "Only %(count)s pod of its group has room even after evictions, and %(needed)s must run at once.",
    "Only %(count)s pods of its group have room even after evictions, and %(needed)s must run at once.",
)


def existing(tier: Tier, _priority: int) -> Message:
    """Return whether enough pods of the group exist, and are alike."""
    if not tier.needs:
        return Message(MISSING, {"group": Name(tier.shut)})
    if tier.shut:
        return Message(DIFFERS, {"pod": Name(tier.shut)})
    (need,) = tier.needs
    return plural_message(ENOUGH if tier.passes else TOO_FEW, need.available, needed=str(need.required))


def placed(tier: Tier, _priority: int) -> Message:
    """Return whether enough pods of the group have room at once."""
    (need,) = tier.needs
    text = (MADE if need.evictable else FREE) if tier.passes else SHORT
    return plural_message(text, need.available + need.evictable, needed=str(need.required))


def gated(tier: Tier, _priority: int) -> Message:
    """Return that a pod of the group has scheduling gates."""
    return Message(GATED, {"pod": Name(tier.shut)})

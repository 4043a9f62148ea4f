"""What Volcano preempted, in words: its action tells from where, and nothing tells for which job."""

from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message
from engine.observation.evictions import EvictionSource, Observed

PREEMPT, RECLAIM = "preempt", "reclaim"
"""Its actions: within a queue, and across queues."""
LABELS: dict[str, str] = {
    f"{EvictionSource.VOLCANO}-{PREEMPT}": gettext_noop("for a job of its queue"),
    f"{EvictionSource.VOLCANO}-{RECLAIM}": gettext_noop("reclaimed for another queue"),
}
"""The reasons of its decisions, see ``reason``; a plugin's own word stands for itself."""
SENTENCES: dict[str, tuple[str, str]] = {
    PREEMPT: ngettext_noop(
        "%(by)s preempted %(count)s pod for a job of the same queue; for which, %(by)s does not record.",
        "%(by)s preempted %(count)s pods for a job of the same queue; for which, %(by)s does not record.",
    ),
    RECLAIM: ngettext_noop(
        "%(by)s reclaimed %(count)s pod for a job of another queue; for which, %(by)s does not record.",
        "%(by)s reclaimed %(count)s pods for a job of another queue; for which, %(by)s does not record.",
    ),
}
OTHER = ngettext_noop(
    "%(by)s evicted %(count)s pod; its word for why: %(why)s.",
    "%(by)s evicted %(count)s pods; its word for why: %(why)s.",
)
VICTIMS: dict[str, str] = {
    PREEMPT: gettext_noop(
        "%(pod)s was preempted by %(by)s for a job of the same queue; for which, %(by)s does not record."
    ),
    RECLAIM: gettext_noop(
        "%(pod)s was reclaimed by %(by)s for a job of another queue; for which, %(by)s does not record."
    ),
}
VICTIM_OTHER = gettext_noop("%(pod)s was evicted by %(by)s; its word for why: %(why)s.")


def reason(why: str) -> str:
    """What a decision of Volcano's has as its reason."""
    return f"{EvictionSource.VOLCANO}-{why}"


def sentence(seen: Observed, by: str) -> Message:
    """What it did; all victims of a decision went by the same action."""
    why, count = seen.victims[0].why, len(seen.victims)
    if why in SENTENCES:
        return plural_message(SENTENCES[why], count, by=by)
    return plural_message(OTHER, count, by=by, why=Name(why))


def victim(pod: str, why: str, by: str) -> Message:
    """Why this pod, to its own tenant."""
    if why in VICTIMS:
        return Message(VICTIMS[why], {"pod": Name(pod), "by": by})
    return Message(VICTIM_OTHER, {"pod": Name(pod), "by": by, "why": Name(why)})

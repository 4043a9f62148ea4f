"""Explains Volcano's preemptions: the action shows the victims' side; Volcano does not record the preemptor's job."""

from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message
from engine.observation.evictions import EvictionSource, Observed

PREEMPT, RECLAIM = "preempt", "reclaim"
"""Volcano's actions: within a queue, and across queues."""
LABELS: dict[str, str] = {
    f"{EvictionSource.VOLCANO}-{PREEMPT}": gettext_noop("for a job of its queue"),
    f"{EvictionSource.VOLCANO}-{RECLAIM}": gettext_noop("reclaimed for another queue"),
}
"""The texts of the reasons of its decisions, see ``reason``; any other word of a plugin is shown as it is."""
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
    """Return the reason of a decision of Volcano."""
    return f"{EvictionSource.VOLCANO}-{why}"


def sentence(observed: Observed, by: str) -> Message:
    """Return what Volcano did; all victims of a decision were evicted by the same action."""
    why, count = observed.victims[0].why, len(observed.victims)
    if why in SENTENCES:
        return plural_message(SENTENCES[why], count, by=by)
    return plural_message(OTHER, count, by=by, why=Name(why))


def victim(pod: str, why: str, by: str) -> Message:
    """Return why this pod was evicted, for its own tenant."""
    if why in VICTIMS:
        return Message(VICTIMS[why], {"pod": Name(pod), "by": by})
    return Message(VICTIM_OTHER, {"pod": Name(pod), "by": by, "why": Name(why)})

"""Explains Volcano's preemptions: the action shows the victims' side; Volcano does not record the preemptor's job."""

from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message
from engine.observation.evictions import EvictionSource, Observed

PREEMPT, RECLAIM = "preempt", "reclaim"
"""Volcano's actions: within a queue, and across queues."""
LABELS: dict[str, str] = {
    f"{EvictionSource.VOLCANO}-{PREEMPT}": gettext_noop("for a job in its queue"),
    f"{EvictionSource.VOLCANO}-{RECLAIM}": gettext_noop("reclaimed for another queue"),
}
"""The texts of the reasons of its decisions, see ``reason``; any other word of a plugin is shown as it is."""
SENTENCES: dict[str, tuple[str, str]] = {
    PREEMPT: ngettext_noop(
        "%(by)s preempted %(count)s pod for a job of the same queue. %(by)s does not record for which job.",
        "%(by)s preempted %(count)s pods for a job of the same queue. %(by)s does not record for which job.",
    ),
    RECLAIM: ngettext_noop(
        "%(by)s reclaimed %(count)s pod for a job of another queue. %(by)s does not record for which job.",
        "%(by)s reclaimed %(count)s pods for a job of another queue. %(by)s does not record for which job.",
    ),
}
OTHER = ngettext_noop(
    "%(by)s evicted %(count)s pod and gave this reason: %(why)s.",
    "%(by)s evicted %(count)s pods and gave this reason: %(why)s.",
)
VICTIMS: dict[str, str] = {
    PREEMPT: gettext_noop(
        "%(by)s preempted %(pod)s for a job of the same queue. %(by)s does not record for which job."
    ),
    RECLAIM: gettext_noop("%(by)s reclaimed %(pod)s for a job of another queue. %(by)s does not record for which job."),
}
VICTIM_OTHER = gettext_noop("%(by)s evicted %(pod)s and gave this reason: %(why)s.")


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

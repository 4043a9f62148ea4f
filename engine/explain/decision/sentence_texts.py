"""The sentences of engine.explain.decision.sentence, each complete, so that every language can order it freely."""

from enum import StrEnum

from engine.model.message import gettext_noop, ngettext_noop


class Tense(StrEnum):
    """How far a decision has been carried out."""

    EVICTED = "evicted"
    EVICTING = "evicting"
    WOULD = "would"
    """The mode only displays decisions, or a safeguard holds this one back, which a sentence of its own says."""
    STOPPED = "stopped"
    """An invariant rejected it, it was blocked, or it ended before any eviction, which a sentence of its own says."""


Forms = dict[Tense, tuple[str, str]]
Single = dict[Tense, str]

ABOVE: Forms = {
    Tense.EVICTED: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s, which was %(over)s above its own, was evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s, which was %(over)s above its own, were evicted from %(node)s.",
    ),
    Tense.EVICTING: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s, which was %(over)s above its own, is being evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s, which was %(over)s above its own, are being evicted from %(node)s.",
    ),
    Tense.WOULD: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s, which was %(over)s above its own, would be evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s, which was %(over)s above its own, would be evicted from %(node)s.",
    ),
    Tense.STOPPED: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s, which was %(over)s above its own, would have been evicted from "
        "%(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s, which was %(over)s above its own, would have been evicted from "
        "%(node)s.",
    ),
}
"""The victims are of one queue, which was above its guarantee in the resource."""
BELOW: Forms = {
    Tense.EVICTED: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s not covered by a guarantee was evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s not covered by a guarantee were evicted from %(node)s.",
    ),
    Tense.EVICTING: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s not covered by a guarantee is being evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s not covered by a guarantee are being evicted from %(node)s.",
    ),
    Tense.WOULD: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s not covered by a guarantee would be evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s not covered by a guarantee would be evicted from %(node)s.",
    ),
    Tense.STOPPED: ngettext_noop(
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pod of %(queues)s not covered by a guarantee would have been evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node while %(asker)s was %(short)s below its guarantee, so "
        "%(count)s pods of %(queues)s not covered by a guarantee would have been evicted from %(node)s.",
    ),
}
"""The victims are of several queues, or of one without a guarantee in the resource."""
DAEMONSET: Forms = {
    Tense.EVICTED: ngettext_noop(
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pod of %(queues)s was evicted there.",
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pods of %(queues)s were evicted there.",
    ),
    Tense.EVICTING: ngettext_noop(
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pod of %(queues)s is being evicted there.",
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pods of %(queues)s are being evicted there.",
    ),
    Tense.WOULD: ngettext_noop(
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pod of %(queues)s would be evicted there.",
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pods of %(queues)s would be evicted there.",
    ),
    Tense.STOPPED: ngettext_noop(
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pod of %(queues)s would have been evicted there.",
        "%(ask)s, a DaemonSet’s pod, needed %(needed)s on %(node)s and can run nowhere else, so %(count)s "
        "pods of %(queues)s would have been evicted there.",
    ),
}
"""A DaemonSet's pod can run on one node only."""
PRIORITY: Forms = {
    Tense.EVICTED: ngettext_noop(
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pod with the lower priority "
        "%(lower)s was evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pods with lower priorities "
        "(up to %(lower)s) were evicted from %(node)s.",
    ),
    Tense.EVICTING: ngettext_noop(
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pod with the lower priority "
        "%(lower)s is being evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pods with lower priorities "
        "(up to %(lower)s) are being evicted from %(node)s.",
    ),
    Tense.WOULD: ngettext_noop(
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pod with the lower priority "
        "%(lower)s would be evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pods with lower priorities "
        "(up to %(lower)s) would be evicted from %(node)s.",
    ),
    Tense.STOPPED: ngettext_noop(
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pod with the lower priority "
        "%(lower)s would have been evicted from %(node)s.",
        "%(ask)s needed %(needed)s on one node at priority %(priority)s, so %(count)s pods with lower priorities (up "
        "to %(lower)s) would have been evicted from %(node)s.",
    ),
}
"""Policy priority: no queue's guarantee matters."""
PLAIN: Forms = {
    Tense.EVICTED: ngettext_noop(
        "To make room for %(ask)s, %(count)s pod of %(queues)s was evicted from %(node)s.",
        "To make room for %(ask)s, %(count)s pods of %(queues)s were evicted from %(node)s.",
    ),
    Tense.EVICTING: ngettext_noop(
        "To make room for %(ask)s, %(count)s pod of %(queues)s is being evicted from %(node)s.",
        "To make room for %(ask)s, %(count)s pods of %(queues)s are being evicted from %(node)s.",
    ),
    Tense.WOULD: ngettext_noop(
        "To make room for %(ask)s, %(count)s pod of %(queues)s would be evicted from %(node)s.",
        "To make room for %(ask)s, %(count)s pods of %(queues)s would be evicted from %(node)s.",
    ),
    Tense.STOPPED: ngettext_noop(
        "To make room for %(ask)s, %(count)s pod of %(queues)s would have been evicted from %(node)s.",
        "To make room for %(ask)s, %(count)s pods of %(queues)s would have been evicted from %(node)s.",
    ),
}
"""The trace has no numbers for a reason."""
NO_PREEMPTOR = ngettext_noop(
    "%(by)s evicted %(count)s pod of %(queues)s from %(node)s.",
    "%(by)s evicted %(count)s pods of %(queues)s from %(node)s.",
)
"""A recorded eviction without a preemptor."""
VICTIM: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s was evicted from %(node)s because %(asker)s was below its guarantee while %(queue)s was "
        "%(over)s above its own."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted from %(node)s because %(asker)s was below its guarantee while %(queue)s "
        "was %(over)s above its own."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted from %(node)s because %(asker)s was below its guarantee while %(queue)s "
        "was %(over)s above its own."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s because %(asker)s was below its guarantee while "
        "%(queue)s was %(over)s above its own."
    ),
}
"""For a victim's tenant, where guarantees decided."""
VICTIM_UNDISCLOSED: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s was evicted from %(node)s because another queue was below its guarantee while %(queue)s "
        "was %(over)s above its own."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted from %(node)s because another queue was below its guarantee while "
        "%(queue)s was %(over)s above its own."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted from %(node)s because another queue was below its guarantee while "
        "%(queue)s was %(over)s above its own."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s because another queue was below its guarantee "
        "while %(queue)s was %(over)s above its own."
    ),
}
"""For a victim's tenant, where guarantees decided and the preemptor's queue is not disclosed."""
VICTIM_PLAIN: Single = {
    Tense.EVICTED: gettext_noop("%(pod)s was evicted from %(node)s to make room for a pod of another queue."),
    Tense.EVICTING: gettext_noop("%(pod)s is being evicted from %(node)s to make room for a pod of another queue."),
    Tense.WOULD: gettext_noop("%(pod)s would be evicted from %(node)s to make room for a pod of another queue."),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s to make room for a pod of another queue."
    ),
}
"""For a victim's tenant, where something else decided."""
VICTIM_PRIORITY: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s was evicted from %(node)s to make room for a pod with a higher priority than its %(priority)s."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s is being evicted from %(node)s to make room for a pod with a higher priority than its %(priority)s."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s would be evicted from %(node)s to make room for a pod with a higher priority than its %(priority)s."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s would have been evicted from %(node)s to make room for a pod with a higher priority than "
        "its %(priority)s."
    ),
}
"""For a victim's tenant, where priority decided."""
PREEMPTOR: Single = {
    Tense.EVICTED: gettext_noop(
        "%(pod)s needed %(needed)s on one node while %(queue)s was %(short)s below its guarantee, so pods "
        "of %(queues)s were evicted from %(node)s."
    ),
    Tense.EVICTING: gettext_noop(
        "%(pod)s needed %(needed)s on one node while %(queue)s was %(short)s below its guarantee, so pods "
        "of %(queues)s are being evicted from %(node)s."
    ),
    Tense.WOULD: gettext_noop(
        "%(pod)s needed %(needed)s on one node while %(queue)s was %(short)s below its guarantee, so pods "
        "of %(queues)s would be evicted from %(node)s."
    ),
    Tense.STOPPED: gettext_noop(
        "%(pod)s needed %(needed)s on one node while %(queue)s was %(short)s below its guarantee, so pods "
        "of %(queues)s would have been evicted from %(node)s."
    ),
}
"""For the preemptor's tenant."""
PREEMPTOR_REASON: Single = {
    Tense.EVICTED: gettext_noop("Pods of %(queues)s were evicted from %(node)s to make room for %(pod)s."),
    Tense.EVICTING: gettext_noop("Pods of %(queues)s are being evicted from %(node)s to make room for %(pod)s."),
    Tense.WOULD: gettext_noop("Pods of %(queues)s would be evicted from %(node)s to make room for %(pod)s."),
    Tense.STOPPED: gettext_noop("Pods of %(queues)s would have been evicted from %(node)s to make room for %(pod)s."),
}
"""For the preemptor's tenant, where no guarantee was claimed."""
PREEMPTOR_PRIORITY: Single = {
    Tense.EVICTED: gettext_noop("Pods with lower priorities were evicted from %(node)s to make room for %(pod)s."),
    Tense.EVICTING: gettext_noop(
        "Pods with lower priorities are being evicted from %(node)s to make room for %(pod)s."
    ),
    Tense.WOULD: gettext_noop("Pods with lower priorities would be evicted from %(node)s to make room for %(pod)s."),
    Tense.STOPPED: gettext_noop(
        "Pods with lower priorities would have been evicted from %(node)s to make room for %(pod)s."
    ),
}
"""For the preemptor's tenant, where only priority decides."""
STOPPED = gettext_noop("The decision was stopped.")
NOTHING = gettext_noop("%(pod)s found no room, and no pod was evicted for it.")
FITTING = gettext_noop("%(pod)s fits on %(node)s, so no pod is evicted for it.")
LEAVING = gettext_noop("Terminating pods already make room for %(pod)s on %(node)s, so no pod is evicted for it.")

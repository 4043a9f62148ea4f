"""Explains Kueue's preemptions: for which workload, and by which of its rules, of which it records only the name.

A tenant's version names no ClusterQueue.
"""

from collections.abc import Iterable

from engine.model.message import Message, Name, Param, gettext_noop, ngettext_noop, plural_message
from engine.model.queue_tree import Take
from engine.observation.evictions import EvictionSource, Observed, ObservedVictim

WITHIN, RECLAIMED = "InClusterQueue", "InCohortReclamation"
FAIR, BORROWING = "InCohortFairSharing", "InCohortReclaimWhileBorrowing"
LABELS: dict[str, str] = {
    WITHIN: gettext_noop("priority in its ClusterQueue"),
    RECLAIMED: gettext_noop("reclaimed in the cohort"),
    FAIR: gettext_noop("fair sharing in the cohort"),
    BORROWING: gettext_noop("reclaimed in the cohort while borrowing"),
    EvictionSource.KUEUE: gettext_noop("for quota"),
}
FOR_WORKLOAD = ngettext_noop(
    "%(by)s preempted %(count)s pod for the workload %(ask)s.",
    "%(by)s preempted %(count)s pods for the workload %(ask)s.",
)
FOR_UNKNOWN = ngettext_noop(
    "%(by)s preempted %(count)s pod; the preempting workload is unknown.",
    "%(by)s preempted %(count)s pods; the preempting workload is unknown.",
)
WHY: dict[str, str] = {
    WITHIN: gettext_noop(
        "Both belong to the ClusterQueue %(asker)s, where workloads can preempt each other by priority "
        "(Kueue: InClusterQueue)."
    ),
    RECLAIMED: gettext_noop(
        "The ClusterQueue %(victim)s had borrowed quota, and %(asker)s claimed it back within their "
        "cohort (Kueue: InCohortReclamation)."
    ),
    FAIR: gettext_noop(
        "%(asker)s preempted the ClusterQueue %(victim)s by fair sharing within their cohort (Kueue: "
        "InCohortFairSharing)."
    ),
    BORROWING: gettext_noop(
        "The ClusterQueue %(asker)s, which also borrows, preempted %(victim)s within their cohort for a "
        "workload with a higher priority (Kueue: InCohortReclaimWhileBorrowing)."
    ),
}
WITHIN_BY_SETTING: dict[str, str] = {
    Take.LOWER_PRIORITY: gettext_noop(
        "Both belong to the ClusterQueue %(asker)s, where a workload can preempt one with a lower "
        "priority (Kueue: InClusterQueue)."
    ),
    Take.LOWER_OR_NEWER_EQUAL_PRIORITY: gettext_noop(
        "Both belong to the ClusterQueue %(asker)s, where a workload can preempt one with a lower "
        "priority, or a newer one with the same priority (Kueue: InClusterQueue)."
    ),
}
"""The texts by the ClusterQueue's setting ``withinClusterQueue``."""
WHY_PLAIN: dict[str, str] = {
    WITHIN: gettext_noop(
        "Within one ClusterQueue, workloads can preempt each other by priority (Kueue: InClusterQueue)."
    ),
    RECLAIMED: gettext_noop(
        "Its ClusterQueue had borrowed quota, and another one claimed it back within the cohort (Kueue: "
        "InCohortReclamation)."
    ),
    FAIR: gettext_noop(
        "Another ClusterQueue preempted it by fair sharing within the cohort (Kueue: InCohortFairSharing)."
    ),
    BORROWING: gettext_noop(
        "Another ClusterQueue, which also borrows, preempted it within the cohort for a workload with a "
        "higher priority (Kueue: InCohortReclaimWhileBorrowing)."
    ),
}
"""For ClusterQueues that are unknown or not disclosed."""
PREEMPTOR = gettext_noop(
    "That workload belongs to %(owner)s in the namespace %(namespace)s and has priority %(priority)s."
)
WORD = gettext_noop("Kueue gives this reason: %(why)s.")
PLACE = gettext_noop("in ClusterQueue %(queue)s")
VICTIM = gettext_noop("%(by)s preempted %(pod)s to give its quota to a workload of %(asker)s.")
VICTIM_OF_UNKNOWN = gettext_noop("%(by)s preempted %(pod)s to give its quota to another workload.")


def sentence(observed: Observed, by: str) -> Message:
    """Return which pods were preempted for which workload; Kueue does not consider nodes."""
    count = len(observed.victims)
    if observed.ask is None:
        return plural_message(FOR_UNKNOWN, count, by=by)
    return plural_message(FOR_WORKLOAD, count, by=by, ask=Name(observed.ask.name or observed.ask.uid))


def causes(observed: Observed) -> Iterable[Message]:
    """Yield what is known of the preemptor, and the rules, each once for each ClusterQueue of victims."""
    if observed.ask and observed.ask_known:
        params = {"owner": Name(observed.ask.application), "namespace": Name(observed.ask.namespace)}
        yield Message(PREEMPTOR, {**params, "priority": str(observed.ask.priority)})
    for why, place in dict.fromkeys((evicted.why, evicted.place) for evicted in observed.victims):
        if why in WHY and place and observed.ask_place:
            template = WITHIN_BY_SETTING.get(observed.ask_takes, WHY[why]) if why == WITHIN else WHY[why]
            yield Message(template, {"asker": Name(_last_part(observed.ask_place)), "victim": Name(_last_part(place))})
        else:
            yield from _plain(why)


def tenant_causes(evicted: ObservedVictim) -> Iterable[Message]:
    """Return why a victim was evicted, for its own tenant."""
    return _plain(evicted.why)


def verdict(evicted: ObservedVictim) -> Iterable[Message]:
    """Yield by which rule a victim was evicted, and from where, as a table shows it."""
    if evicted.why in LABELS:
        yield Message(LABELS[evicted.why])
    if evicted.place:
        yield Message(PLACE, {"queue": Name(_last_part(evicted.place))})


def victim(pod: str, preemptor_queue: str, by: str) -> Message:
    """Return why this pod was preempted, for its own tenant; ``preemptor_queue``: empty unless disclosed."""
    params: dict[str, Param] = {"pod": Name(pod), "by": by}
    return (
        Message(VICTIM, {**params, "asker": preemptor_queue}) if preemptor_queue else Message(VICTIM_OF_UNKNOWN, params)
    )


def _plain(why: str) -> Iterable[Message]:
    if why:
        yield Message(WHY_PLAIN[why]) if why in WHY_PLAIN else Message(WORD, {"why": Name(why)})


def _last_part(place: str) -> str:
    return place.rpartition("/")[2]

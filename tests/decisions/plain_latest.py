"""The last preemption of every queue, the long way round: a look at every victim there is."""

from scheduler_admin.decisions.models import LastPreemption, Victim
from scheduler_admin.decisions.sentences import LOST

ByQueue = dict[tuple[str, str], int]
"""(side, queue) -> a decision's id."""


def plain_last() -> ByQueue:
    """Of all that is stored."""
    found: ByQueue = {}
    for victim in (
        Victim.objects.filter(state__in=LOST).select_related("decision").order_by("decision__first_seen", "decision_id")
    ):
        found["into", victim.decision.ask_queue] = found["out", victim.queue] = victim.decision_id
    return found


def kept_last() -> ByQueue:
    """As it was taken down."""
    rows = LastPreemption.objects.order_by("at", "decision_id")
    return {(side, queue): decision for side, queue, decision in rows.values_list("side", "queue", "decision")}

"""The texts on why a workload of Kueue waits for quota."""

from engine.analysis.pending_reasons import Ahead, Tier
from engine.model.message import Message, format_amount_list, gettext_noop, ngettext_noop, plural_message
from engine.policies.cohort import Inadmissible

CONSIDERED = gettext_noop("Its queues are open to it.")
NOT_CONSIDERED: dict[Inadmissible, str] = {
    Inadmissible.QUEUE_HELD: gettext_noop("Its ClusterQueue is stopped or not active, so nothing is admitted there."),
    Inadmissible.LOCAL_QUEUE_HELD: gettext_noop("Its LocalQueue is stopped, so nothing is admitted through it."),
    Inadmissible.NAMESPACE: gettext_noop("Its ClusterQueue does not admit workloads of its namespace."),
    Inadmissible.BACK_OFF: gettext_noop("It was evicted, and Kueue does not try it again yet."),
    Inadmissible.PREEMPTION_GATE: gettext_noop(
        "Others would have to go for it, and a preemption gate of its own, still closed, forbids that."
    ),
}

WORKLOADS_NONE = gettext_noop(
    "By the preemption rules of its queue no workload may go for one of its priority, %(priority)s."
)
WORKLOADS_COUNTED = ngettext_noop(
    "By the preemption rules of its queue %(count)s workload may go for one of its priority, %(priority)s. "
    "It holds %(held)s.",
    "By the preemption rules of its queue %(count)s workloads may go for one of its priority, %(priority)s. "
    "Together they hold %(held)s.",
)
WORKLOADS_SOME = gettext_noop(
    "By the preemption rules of its queue workloads may go for one of its priority, %(priority)s."
)

WORKLOADS_FIRST = gettext_noop("No other workload of its queue comes before it.")
WORKLOADS_AHEAD = ngettext_noop(
    "%(count)s other workload of its queue comes before it.", "%(count)s other workloads of its queue come before it."
)


def considered(tier: Tier, _priority: int) -> Message:
    """Return whether its queues let a workload be considered at all."""
    return Message(CONSIDERED if tier.passes else NOT_CONSIDERED[Inadmissible(tier.shut)])


def preemptable_workloads(tier: Tier, priority: int) -> Message:
    """Return how many workloads may be preempted for one of this priority, as far as the reader may know it."""
    params = {"priority": str(priority)}
    if not tier.passes:
        return Message(WORKLOADS_NONE, params)
    if not tier.held:
        return Message(WORKLOADS_SOME, params)
    return plural_message(WORKLOADS_COUNTED, tier.needs[0].available, held=format_amount_list(tier.held), **params)


def workloads_ahead(workloads_before: Ahead) -> Message:
    """Return how many of Kueue's workloads come before one in its own queue."""
    return (
        plural_message(WORKLOADS_AHEAD, workloads_before.queue) if workloads_before.queue else Message(WORKLOADS_FIRST)
    )

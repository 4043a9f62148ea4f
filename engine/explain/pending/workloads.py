"""The texts on why a workload of Kueue waits for quota."""

from engine.analysis.pending_reasons import Ahead, Tier
from engine.model.message import Message, format_amount_list, gettext_noop, ngettext_noop, plural_message
from engine.policies.cohort import Inadmissible

CONSIDERED = gettext_noop("Its queues accept workloads.")
NOT_CONSIDERED: dict[Inadmissible, str] = {
    Inadmissible.QUEUE_HELD: gettext_noop(
        "Its ClusterQueue is stopped or inactive, so no workloads are admitted there."
    ),
    Inadmissible.LOCAL_QUEUE_HELD: gettext_noop("Its LocalQueue is stopped, so no workloads are admitted through it."),
    Inadmissible.NAMESPACE: gettext_noop("Its ClusterQueue does not admit workloads from its namespace."),
    Inadmissible.BACK_OFF: gettext_noop("It was evicted, and Kueue does not retry it yet."),
    Inadmissible.PREEMPTION_GATE: gettext_noop(
        "Its own preemption gate is still closed, so other workloads can’t be preempted for it."
    ),
}

WORKLOADS_NONE = gettext_noop("The preemption rules of its queue let it preempt no workload at priority %(priority)s.")
WORKLOADS_COUNTED = ngettext_noop(
    "The preemption rules of its queue let it preempt %(count)s workload at priority %(priority)s. It holds %(held)s.",
    "The preemption rules of its queue let it preempt %(count)s workloads at priority %(priority)s. "
    "Together they hold %(held)s.",
)
WORKLOADS_SOME = gettext_noop(
    "The preemption rules of its queue let it preempt some workloads at priority %(priority)s."
)

WORKLOADS_FIRST = gettext_noop("No other workload of its queue is ahead of it.")
WORKLOADS_AHEAD = ngettext_noop(
    "%(count)s other workload of its queue is ahead of it.", "%(count)s other workloads of its queue are ahead of it."
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

"""The texts of policy ``deserved``."""

from engine.audit import Invariant
from engine.model.decision import PodReason, Reason
from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

REASONS: dict[Reason, str] = {
    Reason.BELOW_DESERVED: gettext_noop(
        "%(queue)s uses %(used)s of its deserved share of %(deserved)s, so its pending pods can preempt "
        "queues above their deserved share."
    ),
    Reason.GRACE: gettext_noop(
        "%(queue)s uses %(used)s, and its deserved share is %(deserved)s. It was asked to give back and "
        "can choose which pods to stop until %(due)s."
    ),
    Reason.BEYOND_DESERVED: gettext_noop(
        "It would take %(queue)s to %(would)s, and its deserved share is %(deserved)s. It can use more "
        "than that only while resources are idle."
    ),
}
"""Each takes amounts of the trace, so that engine.explain shows it only where these are known."""
POD_LABELS: dict[PodReason, str] = {PodReason.GUARANTEE: gettext_noop("reserved")}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.GUARANTEE: gettext_noop("without it, %(queue)s would be below its reservation"),
    PodReason.SAME_QUEUE: gettext_noop("is in %(queue)s, like the pending pod"),
    PodReason.OUTSIDE_FENCE: gettext_noop("is in %(own)s, outside the fence of %(queue)s"),
    PodReason.HIGHER_PRIORITY: gettext_noop("has priority %(priority)s, which is not lower than the pending pod’s"),
    PodReason.OPTED_OUT: gettext_noop("opted out of preemption by its priority class"),
}
LAWS: dict[Invariant, str] = {
    Invariant.GUARANTEE: gettext_noop("No queue drops below its reservation"),
    Invariant.MAX: gettext_noop("The pending pod’s queues stay within their hard caps"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.MAX: gettext_noop("Rejected: the pending pod would take a queue above its hard cap."),
    Invariant.GUARANTEE: gettext_noop("Rejected: a queue would drop below its reservation."),
    Invariant.OPT_OUT: gettext_noop("Rejected: a victim opted out of preemption."),
    Invariant.APPLICATION: gettext_noop("Rejected: a victim is in the pending pod’s own queue."),
    Invariant.PRIORITY: gettext_noop("Rejected: a victim’s priority is not lower than the pending pod’s."),
    Invariant.FENCE: gettext_noop("Rejected: a victim is outside the fence of the pending pod’s queue."),
}
"""Without numbers, as the list of these invariants has none."""
TEXTS = PolicyTexts(
    summary=gettext_noop(
        "Queues above their deserved share are notified, get a grace period, and then give back to queues below theirs."
    ),
    dialect=gettext_noop("Like the kube-arbitrator proposal."),
    reach=gettext_noop(
        "Whether queues preempt across an open border depends on the moment. The requesting queue must "
        "stay within its deserved share. The victim’s queue must be above its own, be notified, and have "
        "no grace period left. Reservations are not touched."
    ),
    reasons={},
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
)

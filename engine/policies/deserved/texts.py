"""The texts of policy ``deserved``."""

from engine.audit import Invariant
from engine.model.decision import PodReason, Reason
from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

REASONS: dict[Reason, str] = {
    Reason.BELOW_DESERVED: gettext_noop(
        "%(queue)s uses %(used)s and deserves %(deserved)s, so its asks may take from those who use more than they "
        "deserve."
    ),
    Reason.GRACE: gettext_noop(
        "%(queue)s uses %(used)s and deserves %(deserved)s. It is told to give back, and until %(due)s it may choose "
        "itself what goes."
    ),
    Reason.BEYOND_DESERVED: gettext_noop(
        "With it %(queue)s would use %(would)s, and it deserves %(deserved)s: what is beyond that it may only have "
        "while it lies idle."
    ),
}
"""Each takes amounts of the trace, so that engine.explain shows it only where these are known."""
POD_LABELS: dict[PodReason, str] = {PodReason.GUARANTEE: gettext_noop("reserved")}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.GUARANTEE: gettext_noop("without it %(queue)s would be below what is reserved for it"),
    PodReason.SAME_QUEUE: gettext_noop("runs in %(queue)s, as the ask does"),
    PodReason.OUTSIDE_FENCE: gettext_noop("runs in %(own)s, beyond the fence of %(queue)s"),
    PodReason.HIGHER_PRIORITY: gettext_noop("has priority %(priority)s, which is no lower than the ask’s"),
    PodReason.OPTED_OUT: gettext_noop("opted out of preemption by its priority class"),
}
LAWS: dict[Invariant, str] = {
    Invariant.GUARANTEE: gettext_noop("No queue is taken below what is reserved for it"),
    Invariant.MAX: gettext_noop("The ask’s queues stay within their hard limits"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.MAX: gettext_noop("Refused: with the ask a queue above it would exceed its hard limit."),
    Invariant.GUARANTEE: gettext_noop("Refused: a queue would be taken below what is reserved for it."),
    Invariant.OPT_OUT: gettext_noop("Refused: a victim opted out of preemption."),
    Invariant.APPLICATION: gettext_noop("Refused: a victim runs in the pending pod’s own queue."),
    Invariant.PRIORITY: gettext_noop("Refused: a victim has no lower priority than the pending pod."),
    Invariant.FENCE: gettext_noop("Refused: a victim runs outside the fence of the pending pod’s queue."),
}
"""Without numbers, as the list of these invariants has none."""
TEXTS = PolicyTexts(
    summary=gettext_noop("Who uses more than it deserves is told, given time, and then gives back to who uses less."),
    dialect=gettext_noop("As the proposal of kube-arbitrator has it."),
    reach=gettext_noop(
        "Whether an open border is used depends on the moment: the asker has to stay within what it deserves, and the "
        "victim’s queue to use more than it deserves, told so and past its grace period. What is reserved stays."
    ),
    reasons={},
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
    numbers_laws=False,
)

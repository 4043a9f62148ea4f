"""The texts of policy ``priority``."""

import msgspec

from engine.audit import Invariant
from engine.model.decision import PodReason, Reason
from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

REASONS: dict[Reason, str] = {
    Reason.UNREAD: gettext_noop("It can’t be read, so what it requests is unknown and no decision is made for it."),
    Reason.NO_CANDIDATES: gettext_noop(
        "No running pod can be preempted for it: none has a priority below %(priority)s."
    ),
}
POD_LABELS: dict[PodReason, str] = {PodReason.HIGHER_PRIORITY: gettext_noop("priority not lower")}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.HIGHER_PRIORITY: gettext_noop("has priority %(priority)s, which is not lower than the pending pod’s"),
    PodReason.NOT_NEEDED: gettext_noop("can be preempted, but was spared: the pending pod fits beside it"),
    PodReason.OVER_BUDGET: gettext_noop(
        "has the lower priority %(priority)s and exceeds the disruption budget %(budget)s"
    ),
}
LAWS: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop("The pod is pending, its rules are supported, and it is allowed to preempt"),
    Invariant.PRIORITY: gettext_noop("Victims have a lower priority than the pending pod"),
    Invariant.SHIELDED: gettext_noop("No victim is protected"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.PRIORITY: gettext_noop("Rejected: a victim’s priority is not lower than the pending pod’s."),
    Invariant.SHIELDED: gettext_noop("Rejected: a victim is protected."),
}
TEXTS = PolicyTexts(
    summary=gettext_noop("Pods preempt pods with a lower priority, regardless of guarantees."),
    dialect=gettext_noop("Like kube-scheduler’s own preemption."),
    reach=gettext_noop("Preemption depends on priority only: the victim’s must be lower, in any queue."),
    reasons=REASONS,
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
)
LAWS_OF_GROUPS: dict[Invariant, str] = {
    **LAWS,
    Invariant.MAY_PREEMPT: gettext_noop(
        "The pods are pending, their rules are supported, and they are allowed to preempt"
    ),
    Invariant.FITS: gettext_noop("Every pending pod fits on its node once the victims are gone"),
    Invariant.WHOLE: gettext_noop("Groups that are evicted as a whole lose all of their pods"),
    Invariant.PRIORITY: gettext_noop("Victims, or their groups, have a lower priority than the preemptor"),
}
TEXTS_OF_GROUPS = msgspec.structs.replace(
    TEXTS,
    dialect=gettext_noop(
        "Like kube-scheduler 1.37 with feature gate GenericWorkload: the pods of a PodGroup are placed together, "
        "and evicted together where its disruption mode says so."
    ),
    laws=LAWS_OF_GROUPS,
)

"""The texts of policy ``priority``."""

from engine.audit import Invariant
from engine.model.decision import PodReason, Reason
from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

REASONS: dict[Reason, str] = {
    Reason.UNREAD: gettext_noop("It can’t be read, so nobody knows what it asks for, and it is left alone."),
    Reason.NO_CANDIDATES: gettext_noop("No running pod may go for it: none has a lower priority than %(priority)s."),
}
POD_LABELS: dict[PodReason, str] = {PodReason.HIGHER_PRIORITY: gettext_noop("no lower priority")}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.HIGHER_PRIORITY: gettext_noop("has priority %(priority)s, which is no lower than the ask’s"),
    PodReason.NOT_NEEDED: gettext_noop("may go, but was put back: the ask fits beside it"),
    PodReason.OVER_BUDGET: gettext_noop("of the lower priority %(priority)s, beyond the disruption budget %(budget)s"),
}
LAWS: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop(
        "The ask is pending, its rules can be judged, and nothing forbids it to preempt"
    ),
    Invariant.PRIORITY: gettext_noop("Victims have a lower priority than the ask"),
    Invariant.SHIELDED: gettext_noop("No protected pod"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.PRIORITY: gettext_noop("Refused: a victim’s priority is not lower than the ask’s."),
    Invariant.SHIELDED: gettext_noop("Refused: a victim is protected."),
}
TEXTS = PolicyTexts(
    summary=gettext_noop("A pod takes from pods of lower priority, whatever queues are guaranteed."),
    dialect=gettext_noop("As kube-scheduler's own preemption."),
    reach=gettext_noop(
        "Whether anything goes depends on the pods alone: the victim’s priority has to be lower, whichever its queue."
    ),
    reasons=REASONS,
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
    numbers_laws=False,
)

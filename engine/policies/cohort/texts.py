"""The texts of policies ``cohort`` and ``fair-share``."""

from engine.audit import Invariant
from engine.model.decision import PodReason, Reason
from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

REASONS: dict[Reason, str] = {
    Reason.FITS: gettext_noop("It requests %(asked)s, and the quota of %(queue)s has room for that."),
    Reason.FITS_SOON: gettext_noop(
        "It requests %(asked)s, and the quota of %(queue)s will have room once the terminating pods are gone."
    ),
    Reason.SHORT_OF_QUOTA: gettext_noop(
        "It requests %(wanted)s, and %(queue)s can get only %(left)s more: its own quota is %(nominal)s, "
        "and it uses %(used)s."
    ),
    Reason.BEYOND_QUOTA: gettext_noop(
        "It requests %(wanted)s, more than %(queue)s could get if no other queue used any. Its own quota "
        "is %(nominal)s."
    ),
    Reason.BORROWS: gettext_noop(
        "It requests %(wanted)s, and %(queue)s can get only %(left)s more. Beyond its own quota of "
        "%(nominal)s, its rules do not let it preempt."
    ),
    Reason.NO_CANDIDATES: gettext_noop(
        "It requests %(wanted)s, and %(queue)s can get only %(left)s more. No pod can be preempted for it."
    ),
    Reason.NO_ROOM: gettext_noop(
        "It requests %(wanted)s, and %(queue)s can get only %(left)s more. The pods that can be preempted "
        "do not free enough."
    ),
}
POD_LABELS: dict[PodReason, str] = {
    PodReason.HIGHER_PRIORITY: gettext_noop("priority not low enough"),
    PodReason.OUTSIDE_FENCE: gettext_noop("shares no quota"),
}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.NOT_NEEDED: gettext_noop("can be preempted, but the others free enough without it"),
    PodReason.NO_HELP: gettext_noop("holds nothing of what is short"),
    PodReason.HIGHER_PRIORITY: gettext_noop(
        "has priority %(priority)s, which is not low enough by the rules of the pending pod’s queue"
    ),
    PodReason.OUTSIDE_FENCE: gettext_noop("is in %(own)s, which shares no quota with the pending pod’s queue"),
}
LAWS: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop("The pod is pending, belongs to a leaf queue, and is allowed to preempt"),
    Invariant.MINIMAL: gettext_noop("Every victim is needed, except the last one found"),
    Invariant.PRIORITY: gettext_noop("The rules of the pending pod’s queue allow each victim"),
    Invariant.FENCE: gettext_noop("Victims share quota with the pending pod"),
    Invariant.SHIELDED: gettext_noop("No victim is protected"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.MINIMAL: gettext_noop("Rejected: not all victims are needed."),
    Invariant.PRIORITY: gettext_noop("Rejected: the rules of the pending pod’s queue do not allow a victim."),
    Invariant.FENCE: gettext_noop("Rejected: a victim shares no quota with the pending pod."),
    Invariant.SHIELDED: gettext_noop("Rejected: a victim is protected."),
}
TEXTS = PolicyTexts(
    summary=gettext_noop("Queues lend each other unused quota and claim it back. Not available in Enforce mode."),
    dialect=gettext_noop("Like Kueue’s classic preemption."),
    reach=gettext_noop(
        "Whether queues preempt across an open border depends on the moment. The victim’s queue, and the "
        "cohorts that contain only it, must use more than their own quota. Within a queue, priorities "
        "decide."
    ),
    reasons=REASONS,
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
)
FAIR_TEXTS = PolicyTexts(
    summary=gettext_noop(
        "Queues lend each other unused quota; those that borrow most give back first. Not available in Enforce mode."
    ),
    dialect=gettext_noop("Like Kueue’s fair sharing."),
    reach=gettext_noop(
        "Whether queues preempt across an open border depends on the moment. The victim’s queue must use "
        "more than its own quota, and the shares of both sides decide. Within a queue, priorities decide."
    ),
    reasons=REASONS,
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
)

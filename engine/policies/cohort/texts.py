"""The texts of policies ``cohort`` and ``fair-share``."""

from engine.audit import Invariant
from engine.model.decision import PodReason, Reason
from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

REASONS: dict[Reason, str] = {
    Reason.FITS: gettext_noop("It asks %(asked)s, and the quota of %(queue)s has room for that."),
    Reason.FITS_SOON: gettext_noop(
        "It asks %(asked)s, and the quota of %(queue)s has room for that once the pods that are on their way out are "
        "gone."
    ),
    Reason.SHORT_OF_QUOTA: gettext_noop(
        "It asks %(wanted)s, and %(queue)s could have %(left)s more: it has a quota of %(nominal)s of its own and uses "
        "%(used)s."
    ),
    Reason.BEYOND_QUOTA: gettext_noop(
        "It asks %(wanted)s, more than %(queue)s could have if nobody else used any: its own quota is %(nominal)s."
    ),
    Reason.BORROWS: gettext_noop(
        "It asks %(wanted)s, and %(queue)s could have %(left)s more. Beyond its own quota of %(nominal)s its rules let "
        "it take nothing from others."
    ),
    Reason.NO_CANDIDATES: gettext_noop(
        "It asks %(wanted)s, and %(queue)s could have %(left)s more; no pod may go for it."
    ),
    Reason.NO_ROOM: gettext_noop(
        "It asks %(wanted)s, and %(queue)s could have %(left)s more; the pods that may go do not free enough."
    ),
}
POD_LABELS: dict[PodReason, str] = {
    PodReason.HIGHER_PRIORITY: gettext_noop("not of low enough priority"),
    PodReason.OUTSIDE_FENCE: gettext_noop("shares no quota"),
}
POD_SENTENCES: dict[PodReason, str] = {
    PodReason.NOT_NEEDED: gettext_noop("may go, but the others free enough without it"),
    PodReason.NO_HELP: gettext_noop("holds nothing of what is short"),
    PodReason.HIGHER_PRIORITY: gettext_noop(
        "has priority %(priority)s, which is not low enough by the rules of the ask’s queue"
    ),
    PodReason.OUTSIDE_FENCE: gettext_noop("runs in %(own)s, which shares no quota with the ask’s queue"),
}
LAWS: dict[Invariant, str] = {
    Invariant.MAY_PREEMPT: gettext_noop("The ask is pending, runs in a leaf, and nothing forbids it to preempt"),
    Invariant.MINIMAL: gettext_noop("No victim could stay, but for the last that was found"),
    Invariant.PRIORITY: gettext_noop("Victims are those whom the rules of the ask’s queue let it take"),
    Invariant.FENCE: gettext_noop("Victims share quota with the ask"),
    Invariant.SHIELDED: gettext_noop("No protected pod"),
}
BROKEN: dict[Invariant, str] = {
    Invariant.MINIMAL: gettext_noop("Refused: not all of the victims are needed."),
    Invariant.PRIORITY: gettext_noop("Refused: the rules of the ask’s queue do not let it take a victim."),
    Invariant.FENCE: gettext_noop("Refused: a victim shares no quota with the ask."),
    Invariant.SHIELDED: gettext_noop("Refused: a victim is protected."),
}
TEXTS = PolicyTexts(
    summary=gettext_noop(
        "Queues lend each other what they do not use, and claim it back. No cluster that enforces can have it."
    ),
    dialect=gettext_noop("As Kueue's classic preemption."),
    reach=gettext_noop(
        "Whether an open border is used depends on the moment: the victim’s queue has to use more than its own "
        "quota, and so have the cohorts that hold it alone; in the queue itself priorities decide."
    ),
    reasons=REASONS,
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
    numbers_laws=False,
)
FAIR_TEXTS = PolicyTexts(
    summary=gettext_noop(
        "Queues lend each other what they do not use; who borrows most gives first. No cluster that enforces can"
        " have it."
    ),
    dialect=gettext_noop("As Kueue's fair sharing."),
    reach=gettext_noop(
        "Whether an open border is used depends on the moment: the victim’s queue has to use more than its own "
        "quota, and the shares of both sides decide; in the queue itself priorities do."
    ),
    reasons=REASONS,
    pod_labels=POD_LABELS,
    pods=POD_SENTENCES,
    laws=LAWS,
    broken=BROKEN,
    numbers_laws=False,
)

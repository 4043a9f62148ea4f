"""The texts of policy ``fence``; its other ones are the general texts of engine.explain."""

from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

TEXTS = PolicyTexts(
    summary=gettext_noop("Queues below their guarantee preempt queues above theirs, but never across a fence."),
    dialect=gettext_noop("The rules of the YuniKorn design document."),
    reach=gettext_noop(
        "Whether queues preempt across an open border depends on the moment. The requesting queue must be "
        "below its guarantee and the victim’s queue above its own. The victim’s priority must not be "
        "higher."
    ),
    reasons={},
    pod_labels={},
    pods={},
    laws={},
    broken={},
)

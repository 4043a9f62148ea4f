"""The texts of policy ``deserved`` in dialect ``volcano``."""

from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

TEXTS = PolicyTexts(
    summary=gettext_noop(
        "Queues above their deserved share are notified, get a grace period, and then give back to queues below theirs."
    ),
    dialect=gettext_noop("Volcano’s reclaim action. It explains observed evictions and makes no decisions."),
    reach=gettext_noop(
        "Whether queues preempt across an open border depends on the moment. The requesting queue must "
        "stay within its deserved share. The victim’s queue must be above its own, be notified, and have "
        "no grace period left. Reservations are not touched."
    ),
    reasons={},
    pod_labels={},
    pods={},
    laws={},
    broken={},
)

"""The texts of policy ``deserved`` in dialect ``volcano``."""

from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

TEXTS = PolicyTexts(
    summary=gettext_noop("Who uses more than it deserves is told, given time, and then gives back to who uses less."),
    dialect=gettext_noop("What Volcano's action reclaim does. It explains what was observed and decides nothing."),
    reach=gettext_noop(
        "Whether an open border is used depends on the moment: the asker has to stay within what it deserves, and the "
        "victim’s queue to use more than it deserves, told so and past its grace period. What is reserved stays."
    ),
    reasons={},
    pod_labels={},
    pods={},
    laws={},
    broken={},
    numbers_laws=False,
)

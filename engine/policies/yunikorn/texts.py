"""The texts of policy ``fence`` in dialect ``yunikorn``."""

from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

TEXTS = PolicyTexts(
    summary=gettext_noop("Below its guarantee a queue takes from those above theirs, never out of a fence."),
    dialect=gettext_noop("What YuniKorn does as it is implemented. No cluster that enforces can have it."),
    reach=gettext_noop(
        "Whether an open border is used depends on the moment: the asker’s queue has to be below its guarantee, the "
        "victim’s above its own, and the victim’s priority no higher."
    ),
    reasons={},
    pod_labels={},
    pods={},
    laws={},
    broken={},
    numbers_laws=True,
)

"""The texts of policy ``fence``; its other ones are the general texts of engine.explain."""

from engine.model.message import gettext_noop
from engine.policies.common.texts import PolicyTexts

TEXTS = PolicyTexts(
    summary=gettext_noop("Below its guarantee a queue takes from those above theirs, never out of a fence."),
    dialect=gettext_noop("The rules of the design, law by law."),
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

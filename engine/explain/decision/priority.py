"""The texts of policy ``priority`` where they differ from those of ``fence``."""

from engine.model.decision import NodeReason
from engine.model.message import gettext_noop, ngettext_noop

POLICY = "priority"

NO_CANDIDATES_COUNTED = ngettext_noop(
    "No pod may go for it: the %(count)s that runs does not have a lower priority than %(priority)s.",
    "No pod may go for it: none of the %(count)s that run has a lower priority than %(priority)s.",
)
ALL_PROTECTED = ngettext_noop(
    "No pod may go for it: %(count)s of lower priority than %(priority)s runs, and is protected.",
    "No pod may go for it: %(count)s of lower priority than %(priority)s run, and all are protected.",
)
PUT_BACK_FIRST = gettext_noop(
    "may go, but was put back first, as the disruption budget %(budget)s does not allow for it: the ask fits beside it"
)
NODES: dict[NodeReason, tuple[str, str]] = {
    NodeReason.INSUFFICIENT: ngettext_noop(
        "not enough %(detail)s is free, even without the %(count)s pod on it that may go",
        "not enough %(detail)s is free, even without the %(count)s pods on it that may go",
    ),
    NodeReason.HOST_PORT: ngettext_noop(
        "host port %(detail)s is taken by a pod that stays, even without the %(count)s pod on it that may go",
        "host port %(detail)s is taken by a pod that stays, even without the %(count)s pods on it that may go",
    ),
    NodeReason.CLAIM_IN_USE: ngettext_noop(
        "another pod uses %(detail)s, which one pod at a time may use, even without the %(count)s pod on the node that "
        "may go",
        "another pod uses %(detail)s, which one pod at a time may use, even without the %(count)s pods on the node "
        "that may go",
    ),
    NodeReason.SPREAD: ngettext_noop(
        "its %(detail)s would have too many of the pods that are to be spread, even without the %(count)s pod on it "
        "that may go",
        "its %(detail)s would have too many of the pods that are to be spread, even without the %(count)s pods on it "
        "that may go",
    ),
    NodeReason.ANTI_AFFINITY: ngettext_noop(
        "its %(detail)s has a pod that the ask keeps away from, even without the %(count)s pod on it that may go",
        "its %(detail)s has a pod that the ask keeps away from, even without the %(count)s pods on it that may go",
    ),
    NodeReason.KEPT_OUT: ngettext_noop(
        "its %(detail)s has a pod that keeps away from the ask, even without the %(count)s pod on it that may go",
        "its %(detail)s has a pod that keeps away from the ask, even without the %(count)s pods on it that may go",
    ),
    NodeReason.POD_AFFINITY: ngettext_noop(
        "the %(count)s pod on it that may go is taken away before the ask is tried, even if that is the one it wants "
        "to be near; then its %(detail)s has none",
        "all %(count)s pods on it that may go are taken away before the ask is tried, even one that it wants to be "
        "near; then its %(detail)s has none",
    ),
}
"""The ask is refused even when all pods of lower priority have left the node."""

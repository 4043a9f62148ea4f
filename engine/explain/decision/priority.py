"""The texts of policy ``priority`` where they differ from those of ``fence``."""

from engine.model.decision import NodeReason
from engine.model.message import gettext_noop, ngettext_noop

POLICY = "priority"

NO_CANDIDATES_COUNTED = ngettext_noop(
    "No pod can be preempted for it: the %(count)s running pod does not have a lower priority than %(priority)s.",
    "No pod can be preempted for it: none of the %(count)s running pods has a lower priority than %(priority)s.",
)
ALL_PROTECTED = ngettext_noop(
    "No pod can be preempted for it: the %(count)s running pod with a priority below %(priority)s is protected.",
    "No pod can be preempted for it: all %(count)s running pods with a priority below %(priority)s are protected.",
)
PUT_BACK_FIRST = gettext_noop(
    "can be preempted, but was spared first because of the disruption budget %(budget)s: the pending pod fits beside it"
)
NODES: dict[NodeReason, tuple[str, str]] = {
    NodeReason.INSUFFICIENT: ngettext_noop(
        "not enough %(detail)s even without the %(count)s pod that can be preempted",
        "not enough %(detail)s even without the %(count)s pods that can be preempted",
    ),
    NodeReason.HOST_PORT: ngettext_noop(
        "host port %(detail)s stays in use even without the %(count)s pod that can be preempted",
        "host port %(detail)s stays in use even without the %(count)s pods that can be preempted",
    ),
    NodeReason.CLAIM_IN_USE: ngettext_noop(
        "another pod uses %(detail)s, which allows one pod at a time, even without the %(count)s pod that "
        "can be preempted",
        "another pod uses %(detail)s, which allows one pod at a time, even without the %(count)s pods "
        "that can be preempted",
    ),
    NodeReason.SPREAD: ngettext_noop(
        "its %(detail)s would exceed the topology spread even without the %(count)s pod that can be preempted",
        "its %(detail)s would exceed the topology spread even without the %(count)s pods that can be preempted",
    ),
    NodeReason.ANTI_AFFINITY: ngettext_noop(
        "its %(detail)s has a pod that the pending pod must avoid, even without the %(count)s pod that "
        "can be preempted",
        "its %(detail)s has a pod that the pending pod must avoid, even without the %(count)s pods that "
        "can be preempted",
    ),
    NodeReason.KEPT_OUT: ngettext_noop(
        "its %(detail)s has a pod that must avoid the pending pod, even without the %(count)s pod that "
        "can be preempted",
        "its %(detail)s has a pod that must avoid the pending pod, even without the %(count)s pods that "
        "can be preempted",
    ),
    NodeReason.POD_AFFINITY: ngettext_noop(
        "without the %(count)s pod that can be preempted, its %(detail)s has none of the pods that the "
        "pending pod must be near; the search removes it first",
        "without the %(count)s pods that can be preempted, its %(detail)s has none of the pods that the "
        "pending pod must be near; the search removes all of them first",
    ),
}
"""The ask is refused even when all pods of lower priority have left the node."""

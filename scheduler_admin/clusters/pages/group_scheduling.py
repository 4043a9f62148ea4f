"""What a cluster's settings say of how its kube-scheduler schedules PodGroups, and how that is known."""

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engine.model.objects import GroupEvidence, GroupScheduling
from engine.policies import priority
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of

_ON = {
    GroupEvidence.METRICS: gettext_noop(
        "kube-scheduler schedules and preempts PodGroups as a whole, as its metrics show."
    ),
    GroupEvidence.FLAGS: gettext_noop(
        "kube-scheduler schedules and preempts PodGroups as a whole, as its command line shows."
    ),
    GroupEvidence.TRACES: gettext_noop(
        "kube-scheduler schedules and preempts PodGroups as a whole, as its reports on PodGroups show."
    ),
    GroupEvidence.SETTING: gettext_noop(
        "kube-scheduler schedules and preempts PodGroups as a whole, according to the setting on this page. The "
        "cluster does not show it."
    ),
}
_OFF = {
    GroupEvidence.METRICS: gettext_noop(
        "kube-scheduler schedules each pod of a PodGroup by itself, as its metrics show."
    ),
    GroupEvidence.FLAGS: gettext_noop(
        "kube-scheduler schedules each pod of a PodGroup by itself, as its command line shows."
    ),
    GroupEvidence.SETTING: gettext_noop(
        "kube-scheduler schedules each pod of a PodGroup by itself, according to the setting on this page. The "
        "cluster does not show it."
    ),
}
_UNKNOWN = gettext_noop(
    "The cluster does not show whether kube-scheduler schedules PodGroups as a whole. Set it on this page."
)
_OTHER_DIALECT = gettext_noop(
    "The queue tree decides in dialect %(chosen)s. To decide as this scheduler does, publish it with dialect "
    "%(fitting)s."
)
_FITTING = {True: priority.BESIDE_GROUPS, False: priority.DIALECT}
"""Whether groups are scheduled as a whole -> the dialect of policy ``priority`` that decides so."""


def group_scheduling_sentences(cluster: Cluster) -> list[str]:
    """Return whether PodGroups are scheduled as a whole there, in words, and whether the tree decides otherwise.

    Empty where there are no groups.
    """
    status = status_of(cluster)
    if status is None or not status.group_scheduling:
        return []
    found = msgspec.convert(status.group_scheduling, GroupScheduling)
    if found.on is None:
        return [_(_UNKNOWN)]
    sentence = (_ON if found.on else _OFF).get(found.evidence)
    return [_(sentence), *_advice(cluster, on=found.on)] if sentence else []


def _advice(cluster: Cluster, *, on: bool) -> list[str]:
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    fitting = _FITTING[on]
    if revision is None or revision.policy != priority.POLICY or revision.dialect == fitting:
        return []
    return [_(_OTHER_DIALECT) % {"chosen": revision.dialect, "fitting": fitting}]

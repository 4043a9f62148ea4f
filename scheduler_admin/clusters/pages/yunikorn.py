"""What a cluster's settings show of YuniKorn: whether it can be asked, and where its queues are other than ours."""

from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engine.cluster.watching.yunikorn import KIND
from engine.observation.yunikorn_diff import Aspect, QueueDifference
from scheduler_admin.clusters.connections.error_messages import told_missing
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of

_LABELS: dict[Aspect, str] = {
    Aspect.UNKNOWN_HERE: gettext_noop("not in the tree here"),
    Aspect.UNKNOWN_THERE: gettext_noop("unknown to YuniKorn"),
    Aspect.GUARANTEED: gettext_noop("guaranteed"),
    Aspect.MAX: gettext_noop("max"),
    Aspect.USED: gettext_noop("used"),
    Aspect.PREEMPTING: gettext_noop("being preempted"),
    Aspect.FENCE: gettext_noop("fence"),
    Aspect.DISABLED: gettext_noop("preemption disabled"),
    Aspect.DELAY: gettext_noop("preemption delay"),
}
_WORDS = {"true": gettext_noop("yes"), "false": gettext_noop("no")}


@dataclass(frozen=True)
class Line:
    """One thing that both say of one queue."""

    queue: str
    what: str
    ours: str
    theirs: str


@dataclass(frozen=True)
class Section:
    """Why it can't be asked, or what it said that differs."""

    trouble: str
    at: datetime | None
    lines: list[Line]


def yunikorn_section(cluster: Cluster) -> Section | None:
    """None where it is not to be asked."""
    if not cluster.yunikorn_service:
        return None
    status = status_of(cluster)
    if status is None:
        return Section("", None, [])
    why = {name: text for name, text in status.missing.items() if name == KIND}
    found = msgspec.convert(status.yunikorn_differs, list[QueueDifference])
    return Section("".join(told_missing(why)), status.yunikorn_at, [_line(one) for one in found])


def _line(one: QueueDifference) -> Line:
    what = _(_LABELS[one.aspect])
    return Line(queue=one.queue, what=f"{what} {one.resource}".strip(), ours=_word(one.ours), theirs=_word(one.theirs))


def _word(text: str) -> str:
    return _(_WORDS[text]) if text in _WORDS else text

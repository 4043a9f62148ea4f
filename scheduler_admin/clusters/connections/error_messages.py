"""What went wrong with a cluster, in the reader's language."""

from collections.abc import Mapping
from dataclasses import replace

from django.utils.translation import gettext as _

from engine.cluster.acting.allocations import KIND as WRITTEN
from engine.cluster.acting.lease import KIND as LEASE
from engine.cluster.errors import ClusterError
from engine.cluster.inspection.check import CheckResult
from engine.cluster.watching.tables import EVERY
from engine.cluster.watching.yunikorn import KIND
from scheduler_admin.core.translation import text


def told(error: ClusterError) -> str:
    """The sentence, translated where it is one of ours."""
    return text(error.sentence)


def told_missing(missing: Mapping[str, str]) -> list[str]:
    """What passes do without, a sentence for each kind: why, and what is missing without it."""
    sentence = _("%(kind)s objects can’t be read (%(why)s): %(without)s.")
    found = [
        sentence % {"kind": table.kind, "why": missing[table.kind], "without": _(table.without)}
        for table in EVERY
        if table.kind in missing
    ]
    if KIND in missing:
        asked = _("YuniKorn can’t be queried (%(why)s), so its preemptions are known only from Events on pods.")
        found.append(asked % {"why": missing[KIND]})
    if WRITTEN in missing:
        written = _("Allocations can’t be written (%(why)s), so they don’t show the deserved share of each namespace.")
        found.append(written % {"why": missing[WRITTEN].rstrip(".")})
    if LEASE in missing:
        untaken = _("The Lease can’t be acquired (%(why)s), so no pods are evicted.")
        found.append(untaken % {"why": missing[LEASE].rstrip(".")})
    return list(dict.fromkeys(found))  # two tables may be of one kind


def told_line(line: CheckResult) -> str:
    """A line of a check, translated, and what it names as well where that is a word of ours."""
    params = {name: _(str(value)) if value else "" for name, value in line.message.params.items()}
    return text(replace(line.message, params=params))

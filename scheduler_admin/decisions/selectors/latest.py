"""Reads of the last preemption for every queue, and out of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, LastPreemption
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.sentences import LOST

Side = LastPreemption.Side
_READ = ("ask_queue", "ask_namespace", "ask_uid", "ask_name", "first_seen")
Latest = dict[str, int]
"""Queue -> the decision's id, the latest first."""


@dataclass(frozen=True)
class Told:
    """The latest preemption for a queue, or out of it: which decision, and the queue on the other side."""

    decision: int
    at: datetime
    other: str
    pods: int


def latest(user: Who, cluster: Cluster) -> dict[str, Latest]:
    """By side and queue, rolled up: a parent has the latest below it. One query, however many decisions there are."""
    found: dict[str, Latest] = {side: {} for side in Side}
    rows = LastPreemption.objects.restrict(user, "view").filter(cluster=cluster).order_by("-at", "-decision_id")
    for side, queue, decision in rows.values_list("side", "queue", "decision"):
        of_side, path = found[side], queue
        while path and path not in of_side:  # what is above one that is there has a later one already
            of_side[path] = decision
            path = path.rpartition(".")[0]
    return found


def told(user: Who, last: Mapping[str, Latest], paths: Collection[str]) -> dict[str, dict[str, Told]]:
    """What there is to tell of the last ones of some queues. One query."""
    wanted = {side: {path: by_path[path] for path in paths if path in by_path} for side, by_path in last.items()}
    lost = Q(victims__state__in=LOST)
    pks = {pk for by_path in wanted.values() for pk in by_path.values()}
    rows = Decision.objects.filter(pk__in=pks).only(*_READ)
    counted = rows.annotate(lost=Count("victims", filter=lost), giver=Max("victims__queue", filter=lost))
    decisions = {row.pk: row for row in counted.order_by()}
    redaction = Redaction.of(scope_of(user, "view"))
    return {
        side: {path: _told(decisions[pk], side, redaction) for path, pk in by_path.items() if pk in decisions}
        for side, by_path in wanted.items()
    }


def _told(row: Decision, side: str, redaction: Redaction) -> Told:
    giver, pods = row.giver, row.lost  # type: ignore[attr-defined]
    other = redaction.preemptor(row).queue if side == Side.OUT else giver or ""
    return Told(row.pk, row.first_seen, other, pods)

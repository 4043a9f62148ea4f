"""Reads of the last preemption for every queue, and out of it: a look at the end of an index for each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Decision, Victim
from scheduler_admin.history.redaction import Redaction
from scheduler_admin.history.sentences import LOST

_CARRIED_OUT = (Decision.State.EVICTING, Decision.State.WAITING, Decision.State.CLOSED)
"""States of the decisions that may have evicted somebody."""
_PATH = RawSQL("wanted.path", ())


@dataclass(frozen=True)
class LastPreemption:
    """The latest preemption for a queue (``into``), or out of it: which decision, and the queue on the other side."""

    decision: int
    at: datetime
    other: str
    pods: int


@dataclass(frozen=True)
class LastPreemptions:
    """By queue, rolled up: a parent shows the latest below it."""

    into: dict[str, LastPreemption]
    out: dict[str, LastPreemption]


def last_preemptions(user: Who, cluster: Cluster, paths: Sequence[str]) -> LastPreemptions:
    """The latest preemption in and out of each of these queues. Three queries, however many queues and decisions."""
    victims = Victim.objects.restrict(user, "view").filter(cluster=cluster, queue=_PATH)
    latest_out = _newest(paths, [victims.filter(state=state).order_by("-decision_id") for state in LOST], "decision_id")
    lost = Exists(Victim.objects.filter(decision=OuterRef("pk"), state__in=LOST))
    asked = Decision.objects.restrict(user, "view").filter(lost, cluster=cluster, ask_queue=_PATH)
    latest_in = _newest(paths, [asked.filter(state=state).order_by("-pk") for state in _CARRIED_OUT], "pk")
    decisions = {
        row.pk: row
        for row in Decision.objects.filter(pk__in={*latest_out.values(), *latest_in.values()})
        .only("pk", "ask_queue", "ask_namespace", "ask_uid", "ask_name", "first_seen")
        .annotate(
            lost=Count("victims", filter=Q(victims__state__in=LOST)),
            from_queue=Max("victims__queue", filter=Q(victims__state__in=LOST)),
        )
    }
    redaction = Redaction.of(scope_of(user, "view"))
    into = {queue: _last(decisions[pk], _giver(decisions[pk])) for queue, pk in latest_in.items() if pk in decisions}
    out = {
        queue: _last(decisions[pk], redaction.preemptor(decisions[pk]).queue)
        for queue, pk in latest_out.items()
        if pk in decisions
    }
    return LastPreemptions(_roll_up(into, paths), _roll_up(out, paths))


def _newest(paths: Sequence[str], sources: "Sequence[QuerySet[Any]]", number: str) -> dict[str, int]:
    """Path -> the largest first ``number`` of the sources' rows of it. No query of Django's own asks for a list."""
    if not paths:
        return {}
    columns, params = list[str](), list[Any](paths)
    for rows in sources:
        statement, given = rows.values(number)[:1].query.sql_with_params()
        columns.append(f"({statement})")
        params += given
    listed = ", ".join(["(%s)"] * len(paths))
    with connection.cursor() as cursor:
        cursor.execute(f"WITH wanted(path) AS (VALUES {listed}) SELECT path, {', '.join(columns)} FROM wanted", params)  # noqa: S608 - what Django wrote, its values apart
        found = {path: [pk for pk in pks if pk is not None] for path, *pks in cursor.fetchall()}
    return {path: max(pks) for path, pks in found.items() if pks}


def _giver(decision: Decision) -> str:
    return decision.from_queue or ""  # type: ignore[attr-defined]


def _last(decision: Decision, other: str) -> LastPreemption:
    return LastPreemption(decision.pk, decision.first_seen, other, decision.lost)  # type: ignore[attr-defined]


def _roll_up(by_leaf: dict[str, LastPreemption], paths: Iterable[str]) -> dict[str, LastPreemption]:
    latest = dict[str, LastPreemption]()
    for leaf, last in by_leaf.items():
        path = leaf
        while path:
            latest[path] = max(latest.get(path, last), last, key=lambda each: (each.at, each.decision))
            path = path.rpartition(".")[0]
    return {path: latest[path] for path in paths if path in latest}

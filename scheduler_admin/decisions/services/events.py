"""What happens is written down in its order, for programs that follow it: in the transaction of what it tells of.

A number is given out under a lock that lasts until the commit, so whoever has read up to one has missed none before it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.core.bulk import create
from scheduler_admin.decisions.models import Decision, Happening, Turn, Victim

Kind = Happening.Kind


def decided(cluster: Cluster, rows: Iterable[Decision], now: datetime) -> None:
    """These decisions are new."""
    _write(cluster, [Happening(kind=Kind.DECISION, decision=row) for row in rows], now)


def ended(cluster: Cluster, rows: Iterable[Decision], now: datetime) -> None:
    """These decisions have come to their end."""
    _write(cluster, [Happening(kind=Kind.ENDED, decision=row) for row in rows], now)


def refused(victim: Victim, note: str, now: datetime) -> None:
    """The API server, or a webhook of its, does not let this victim be evicted; in its words."""
    facts = {"note": note}
    row = Happening(kind=Kind.REFUSED, decision_id=victim.decision_id, victim=victim, facts=facts)
    _write(victim.cluster, [row], now)


def repeated(cluster: Cluster, times: Mapping[int, int], now: datetime) -> None:
    """Of some applications, each by its last victim (id): how often they were preempted in the day up to then."""
    victims = Victim.objects.filter(pk__in=times).order_by("pk")
    rows = [
        Happening(kind=Kind.REPEATED, decision_id=one.decision_id, victim=one, facts={"times": times[one.pk]})
        for one in (victims if times else ())
    ]
    _write(cluster, rows, now)


def looped(cluster: Cluster, found: Mapping[tuple[Turn, ...], Iterable[int]], now: datetime) -> list[Happening]:
    """These loops go on, each with a victim (id) of every member."""
    rows = [Happening(kind=Kind.LOOP, facts=facts_of(turns)) for turns in found]
    _write(cluster, rows, now)
    told = zip(rows, found.values(), strict=True)
    through = Happening.losers.through
    through.objects.bulk_create(through(happening=row, victim_id=pk) for row, victims in told for pk in victims)
    return rows


def facts_of(turns: Iterable[Turn]) -> dict[str, Any]:
    """What is stored of a loop."""
    return {"members": [asdict(turn) for turn in turns]}


def below(cluster: Cluster, facts: Mapping[str, Mapping[str, Any]], now: datetime) -> None:
    """These queues have been below their guarantee for so long by now; ``facts`` by path."""
    _write(cluster, [Happening(kind=Kind.BELOW, queue=path, facts=dict(facts[path])) for path in facts], now)


@transaction.atomic(savepoint=False)  # else a reader might see the number before its row, and go on behind it
def _write(cluster: Cluster, rows: Sequence[Happening], now: datetime) -> None:
    if not rows:
        return
    ClusterStatus.objects.get_or_create(cluster=cluster)
    ClusterStatus.objects.filter(cluster=cluster).update(happened=F("happened") + len(rows))
    for number, row in enumerate(rows, newest(cluster.pk) - len(rows) + 1):
        row.cluster, row.number, row.at = cluster, number, now
    create(rows)


def newest(cluster_id: int) -> int:
    """The number of the last one; 0 where there is none."""
    return ClusterStatus.objects.filter(cluster=cluster_id).values_list("happened", flat=True).first() or 0


def oldest(cluster_id: int) -> int | None:
    """The number of the first one that is still kept; None where none is."""
    rows = Happening.objects.filter(cluster=cluster_id).order_by("number")
    return rows.values_list("number", flat=True).first()


def between(user: Who, cluster_id: int, after: int, until: int, most: int) -> list[Happening]:
    """The first ``most`` of those that the user may see after one number, up to another, in their order."""
    rows = Happening.objects.restrict(user, "view").filter(cluster=cluster_id, number__gt=after, number__lte=until)
    return list(rows.select_related("victim").order_by("number")[:most])

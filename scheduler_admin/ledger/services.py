"""Who gained from whom: every victim is booked once, in an entry that outlives it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from django.db.models import Q

from engine.model.quantities import PODS, Amounts, subtract, total
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.ledger.models import LedgerEntry

_AT_ONCE = 500
_KEY = ("month", "source", "losing_namespace", "losing_queue", "gaining_namespace", "gaining_queue")
_Place = tuple[date, str, str, str, str, str]
"""Where in a cluster's ledger a victim belongs: the values of ``_KEY``."""


def month_of(at: datetime) -> date:
    """The first day of its month, in UTC."""
    return at.astimezone(UTC).date().replace(day=1)


def book(*, cluster: Cluster) -> bool:
    """Book the victims that have gone, or whose decision has ended without waiting for that; whether there were any.

    Called within a transaction. A pod that two decisions were about is booked with the one that was stored first.
    """
    ended = Q(state=Victim.State.EXITED) | Q(state=Victim.State.EVICTED, decision__state=Decision.State.CLOSED)
    found = Victim.objects.filter(ended, cluster=cluster, booked=False, evicted_at__isnull=False)
    found = found.select_related("decision").defer("decision__document", "decision__laws").order_by("pk")
    victims = list(found[:_AT_ONCE])
    # Of all clusters, as a uid is the best there is to seek by.
    known = Victim.objects.filter(uid__in=[one.uid for one in victims], entry__isnull=False).order_by()
    taken = {uid for uid, where in known.values_list("uid", "cluster") if where == cluster.pk}
    new: dict[_Place | None, list[Victim]] = defaultdict(list)
    for victim in victims:
        new[None if victim.uid in taken else _place(victim)].append(victim)
        taken.add(victim.uid)
    for place, together in new.items():
        entry = _entered(cluster, place, together) if place else None
        Victim.objects.filter(pk__in=[victim.pk for victim in together]).update(booked=True, entry=entry)
    return bool(victims)


def unbook(victims: Iterable[Victim]) -> None:
    """Take victims back out that went for another ask than was thought; the pass books them anew.

    Called within a transaction.
    """
    for victim in victims:
        if victim.entry is not None:
            _take_out(victim, victim.entry)
        victim.booked, victim.entry = False, None
        victim.save(update_fields=["booked", "entry"])


def _place(victim: Victim) -> _Place:
    assert victim.evicted_at is not None
    row = victim.decision
    lost, gained = (victim.namespace, victim.queue), (row.ask_namespace, row.ask_queue)
    return (month_of(victim.evicted_at), row.source, *lost, *gained)


def _entered(cluster: Cluster, place: _Place, victims: list[Victim]) -> LedgerEntry:
    key: dict[str, Any] = dict(zip(_KEY, place, strict=True))
    entry, _new = LedgerEntry.objects.get_or_create(cluster=cluster, **key)
    lost = [victim.work_lost for victim in victims]
    entry.pods += len(victims)
    entry.unknown += lost.count(None)
    entry.requests = total((entry.requests, *map(_requests, victims)))
    entry.work = total((entry.work, *(one for one in lost if one)))
    entry.save()
    return entry


def _take_out(victim: Victim, entry: LedgerEntry) -> None:
    entry = LedgerEntry.objects.get(pk=entry.pk)  # as it stands now: others of it may just have been taken out
    entry.pods -= 1
    entry.unknown -= victim.work_lost is None
    entry.requests = _left(entry.requests, _requests(victim))
    entry.work = _left(entry.work, victim.work_lost or {})
    if entry.pods:
        entry.save()
    else:
        entry.delete()


def _requests(victim: Victim) -> Amounts:
    """The pod itself is counted by itself."""
    return {name: amount for name, amount in victim.requests.items() if name != PODS}


def _left(held: Amounts, taken: Amounts) -> Amounts:
    return {name: amount for name, amount in subtract(held, taken).items() if amount}

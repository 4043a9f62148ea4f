"""Tallies of hours that are over, and of days made of theirs: written by housekeeping, read by the history's counts.

An hour is counted once it is over and all its preemptions have come to an end; until then its rows are. Whoever adds,
changes or takes away what is counted says so in the same transaction (``recount``): its hour and its day are due again,
and their rows are counted meanwhile. Before retention deletes anything, the tallies of its days go.

Every tally is a transaction of its own, which holds its row alone. So a worker that is killed is taken up again where
it ended, two at once write the same, and who recounts while it is written waits for that.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from engine.model.decision import Outcome
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.kinds import Kind, Kinds, Lost, Sort, pack, unpack
from scheduler_admin.counts.models import Tally
from scheduler_admin.counts.totals import pack_totals
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.sentences import LOST

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SPANS = (HOUR, DAY)
LATE = timedelta(minutes=1)
"""A pass may store a decision so long after the time that it bears."""
MAY_GO = (Victim.State.CHOSEN, Victim.State.ON_HOLD)
"""Of a victim that is not evicted, and may be."""
_AT_ONCE = 1_000
_EPOCH = datetime(1970, 1, 5, tzinfo=UTC)
"""A Monday, on which weeks begin."""
_SORT = ("source", "reason", "state", "ending", "against_laws", "again")


def begin_of(at: datetime, span: timedelta) -> datetime:
    """Where the hour, the day in UTC, the week, or whatever else is as long as ``span``, begins that holds a time."""
    return _EPOCH + (at - _EPOCH) // span * span


def recount(*, cluster: Cluster, at: Iterable[datetime]) -> None:
    """What is counted of decisions of these times has changed. Called within the transaction that changes it."""
    times = set(at)
    due = Q(pk__in=[])
    for span in SPANS:
        due |= Q(span=span, start__in={begin_of(one, span) for one in times})
    if times:
        Tally.objects.filter(due, cluster=cluster, document__isnull=False).update(document=None, totals=None)


def tally(*, cluster: Cluster, now: datetime, for_s: float) -> None:
    """Write what is due; after ``for_s`` seconds the rest is left to the next time."""
    until_s = time.monotonic() + for_s
    # Hours before days, which are made of them. What is over since the last time waits for the next: a pass that was
    # about to store something of it then finds it, and says so.
    for span in SPANS:
        for pk in Tally.objects.filter(cluster=cluster, span=span, document=None).order_by("-start").values_list("pk"):
            if time.monotonic() >= until_s:
                return
            _write(*pk)
    for span in SPANS:
        _begin(cluster, span, now)


def forget(*, cluster: Cluster, before: datetime) -> None:
    """Drop the tallies of all days from which rows are about to be deleted: what is left of those is counted."""
    Tally.objects.filter(cluster=cluster, start__lt=begin_of(before, DAY) + DAY).delete()


def _begin(cluster: Cluster, span: timedelta, now: datetime) -> None:
    """A row for each stretch that is over, also where nothing happened."""
    last = Tally.objects.filter(cluster=cluster, span=span).order_by("-start").values_list("start", flat=True).first()
    if last is not None:
        start = last + span
    else:
        oldest = _preemptions(cluster).order_by("first_seen", "pk").values_list("first_seen", flat=True).first()
        if oldest is None:
            return
        start = begin_of(oldest, DAY)
    many = min((now - LATE - start) // span, _AT_ONCE)
    new = [Tally(cluster=cluster, span=span, start=start + span * number) for number in range(many)]
    Tally.objects.bulk_create(new, ignore_conflicts=True)


@transaction.atomic
def _write(pk: int) -> None:
    row = Tally.objects.select_for_update().filter(pk=pk, document=None).first()
    if row is None:
        return
    kinds = _counted(row) if row.span == HOUR else _joined(row)
    if kinds is not None:
        row.document, row.totals, row.kinds = pack(kinds), pack_totals(kinds), len(kinds)
        row.digest = hashlib.blake2b(row.document, digest_size=16).hexdigest()
        row.save(update_fields=["document", "totals", "kinds", "digest"])


def _counted(row: Tally) -> Kinds | None:
    """The preemptions of an hour; None while there are some that go on."""
    decisions = _preemptions(row.cluster).filter(first_seen__gte=row.start, first_seen__lt=row.start + HOUR)
    if decisions.filter(state__in=Decision.OPEN).exists():
        return None
    victims: dict[int, dict[str, list[int]]] = defaultdict(dict)
    found = Victim.objects.filter(decision__in=decisions).order_by()
    for pk, of, queue, state in found.values_list("decision", "decision__state", "queue", "state"):
        pods = victims[pk].setdefault(queue, [0, 0])
        pods[0] += state in LOST
        pods[1] += of == Decision.State.RECORDED and state in MAY_GO
    return Kinds(
        Kind(Sort(*sort), asker, tuple(Lost(queue, *pods) for queue, pods in sorted(victims.get(pk, {}).items())))
        for pk, asker, *sort in decisions.order_by().values_list("pk", "ask_queue", *_SORT)
    )


def _joined(row: Tally) -> Kinds | None:
    """The preemptions of a day, from its hours; None until all of those are counted."""
    hours = Tally.objects.filter(cluster=row.cluster_id, span=HOUR, start__gte=row.start, start__lt=row.start + DAY)
    documents = [document for document in hours.values_list("document", flat=True) if document is not None]
    if len(documents) < DAY // HOUR:
        return None
    kinds = Kinds()
    for document in documents:
        kinds.update(unpack(document))
    return kinds


def _preemptions(cluster: Cluster) -> QuerySet[Decision]:
    return Decision.objects.filter(cluster=cluster, outcome=Outcome.PREEMPT)

"""Which preemption was the last of each queue is taken down as pods really go."""

from collections.abc import Collection, Iterable, Iterator

from django.db.models import Q

from scheduler_admin.core.bulk import insert
from scheduler_admin.decisions.models import Decision, LastPreemption, Victim
from scheduler_admin.decisions.sentences import LOST

_Place = tuple[str, str, str]
"""A side, a queue and a namespace."""


def keep_last(rows: Iterable[Decision]) -> None:
    """Take down decisions some of whose victims have gone; where a newer one is known already, that stays."""
    by_pk = {row.pk: row for row in rows}
    lost = Victim.objects.filter(decision__in=by_pk, state__in=LOST).order_by("decision__first_seen", "decision_id")
    last = dict[tuple[int, _Place], Decision]()
    for pk, queue, namespace in lost.values_list("decision", "queue", "namespace"):
        row = by_pk[pk]
        last.update({(row.cluster_id, place): row for place in _places(row, queue, namespace)})
    insert(
        LastPreemption,
        ("cluster", "side", "queue", "namespace", "decision", "at"),
        ((cluster, *place, row.pk, row.first_seen) for (cluster, place), row in last.items()),
    )
    for (cluster, (side, queue, namespace)), row in last.items():
        older = LastPreemption.objects.filter(Q(at__lt=row.first_seen) | Q(at=row.first_seen, decision__lt=row.pk))
        older.filter(cluster=cluster, side=side, queue=queue, namespace=namespace).update(
            decision=row, at=row.first_seen
        )


def forget_last(decisions: Collection[int]) -> None:
    """Some victims of these turned out to be others': what was taken down of them may not hold."""
    LastPreemption.objects.filter(decision__in=decisions).delete()


def _places(row: Decision, queue: str, namespace: str) -> Iterator[_Place]:
    yield LastPreemption.Side.OUT.value, queue, namespace
    yield LastPreemption.Side.INTO.value, row.ask_queue, row.ask_namespace

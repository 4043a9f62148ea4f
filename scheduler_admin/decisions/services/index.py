"""What decisions are found by is taken down as they are stored."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from scheduler_admin.core.bulk import insert
from scheduler_admin.decisions.models import Decision, Mention, Victim
from scheduler_admin.decisions.models.names import Kind, number_of

_Mentioned = tuple[str, str]
"""A kind and a name."""


def mention(rows: Iterable[Decision]) -> None:
    """Take down whom decisions are about, after their asks or victims have come or changed. Two queries."""
    by_pk = {row.pk: row for row in rows}
    mentioned: dict[int, set[_Mentioned]] = defaultdict(set)
    for row in by_pk.values():
        mentioned[row.pk].update(_names(row.ask_queue, row.ask_namespace, row.ask_application))
    victims = Victim.objects.filter(decision__in=by_pk).order_by()
    for pk, *names in victims.values_list("decision", "queue", "namespace", "application"):
        mentioned[pk].update(_names(*names))
    insert(
        Mention,
        ("about", "first_seen", "decision"),
        (
            (number_of(row.cluster_id, *named), row.first_seen, pk)
            for pk, row in by_pk.items()
            for named in sorted(mentioned[pk])
        ),
    )


def _names(queue: str, namespace: str, application: str) -> Iterator[_Mentioned]:
    while queue:
        yield Kind.QUEUE, queue
        queue = queue.rpartition(".")[0]
    if namespace:
        yield Kind.NAMESPACE, namespace
    if application:
        yield Kind.APPLICATION, application

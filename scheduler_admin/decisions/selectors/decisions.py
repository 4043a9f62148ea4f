"""Reads of decisions: pages of the history, and one decision with all that belongs to it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.db.models import QuerySet
from django.http import Http404

from engine.audit import InvariantCheck
from engine.model.decision import Decision as EngineDecision
from engine.model.decision import decode
from engine.model.quantities import PODS, Amounts, total
from engine.observation import evictions
from engine.observation.evictions import Observed
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.paging import Cursor
from scheduler_admin.decisions.models import Decision, Step, Victim

PAGE = 50
PIECE = 500
"""Of an export: so many rows are in memory."""
NEWEST_FIRST, OLDEST_FIRST = ("-at", "-number"), ("at", "number")
"""As DecisionQuerySet.placed has them."""


@dataclass(frozen=True)
class Page:
    """Rows, newest first, with the cursors to go on; None where there are no more."""

    rows: list[Decision]
    victims: dict[int, list[Victim]]
    """By the decision's id."""
    newer: Cursor | None
    older: Cursor | None


@dataclass(frozen=True)
class Detail:
    """One decision, everything that was stored of it."""

    row: Decision
    engine: EngineDecision | None
    """None where the stored document is of a kind that is not known here."""
    observed: Observed | None
    """What is known of a decision of another source; None for the engine's own."""
    checks: list[InvariantCheck]
    victims: list[Victim]
    steps: list[Step]


def oldest(user: Who, cluster: Cluster) -> datetime | None:
    """When the history of a cluster begins; None while it is empty."""
    rows = Decision.objects.restrict(user, "view").filter(cluster=cluster)
    return rows.order_by("first_seen", "pk").values_list("first_seen", flat=True).first()


def page(rows: QuerySet[Decision], before: Cursor | None, after: Cursor | None, size: int = PAGE) -> Page:
    """The rows older than ``before``, or the ones next newer than ``after``, or the newest. Two queries and a look."""
    rows = rows.defer("document", "laws")
    if after is not None:
        closest = list(rows.filter(after.newer()).order_by(*OLDEST_FIRST)[: size + 1])
        more, shown = len(closest) > size, closest[:size][::-1]
        return Page(shown, _shown_of(shown), _cursor(shown, 0) if more else None, _cursor(shown, -1) or after)
    if before is not None:
        rows = rows.filter(before.older())
    closest = list(rows.order_by(*NEWEST_FIRST)[: size + 1])
    more, shown = len(closest) > size, closest[:size]
    return Page(shown, _shown_of(shown), _cursor(shown, 0) if before else None, _cursor(shown, -1) if more else None)


def _shown_of(rows: Iterable[Decision]) -> dict[int, list[Victim]]:
    """Return the victims of each decision with what a page shows of them."""
    return victims_of(rows, Victim.objects.only("decision_id", "queue", "requests", "state").order_by("position"))


def victims_of(rows: Iterable[Decision], victims: QuerySet[Victim] | None = None) -> dict[int, list[Victim]]:
    """Return the victims of each decision by its id, in their order: all, or those of ``victims``. One query.

    By ``prefetch_related``, decisions and victims would refer to each other. So the memory of a list would be free only
    once the garbage collector looks at it, and that of many lists would be in use at once.
    """
    found: dict[int, list[Victim]] = {row.pk: [] for row in rows}
    among = Victim.objects.order_by("position") if victims is None else victims
    for victim in among.filter(decision__in=list(found)) if found else ():
        found[victim.decision_id].append(victim)
    return found


def _cursor(rows: Sequence[Decision], index: int) -> Cursor | None:
    return Cursor(rows[index].first_seen, rows[index].pk) if rows else None


def audits(pks: Iterable[int]) -> dict[int, list[InvariantCheck]]:
    """The audits of some decisions that the caller was allowed to read. One query, none for none."""
    wanted = list(pks)
    rows = Decision.objects.filter(pk__in=wanted).only("pk", "laws") if wanted else ()
    return {row.pk: read_laws(row) for row in rows}


def amounts_of(victims: Iterable[Victim]) -> Amounts:
    """What victims held together, the pods themselves left out."""
    return {name: held for name, held in total(victim.requests for victim in victims).items() if name != PODS}


def work_of(victims: Iterable[Victim]) -> Amounts | None:
    """Return the work that the evictions among them lost; None where there were none, or one is not known."""
    lost = [victim.work_lost for victim in victims if victim.evicted_at is not None]
    known = [one for one in lost if one is not None]
    return total(known) if known and len(known) == len(lost) else None


def each(rows: QuerySet[Decision]) -> Iterator[tuple[Decision, list[Victim]]]:
    """Every row with its victims, newest first, a piece at a time, each found where the one before it ended.

    No cursor stays open in the database: outside of a transaction PostgreSQL would write all down before the first row.
    """
    ordered = rows.defer("document", "laws").order_by(*NEWEST_FIRST)
    piece = list(ordered[:PIECE])
    yield from with_victims(piece)
    while len(piece) == PIECE:
        piece = list(ordered.filter(Cursor(piece[-1].first_seen, piece[-1].pk).older())[:PIECE])
        yield from with_victims(piece)


def with_victims(rows: Iterable[Decision]) -> list[tuple[Decision, list[Victim]]]:
    """Return decisions with their victims, in the same order. One query."""
    found = list(rows)
    victims = victims_of(found)
    return [(row, victims[row.pk]) for row in found]


def detail(user: Who, cluster: Cluster, pk: int) -> Detail:
    """One decision of a cluster. Raises Http404 when the user may not see it or it belongs elsewhere."""
    rows = (
        Decision.objects.restrict(user, "view")
        .filter(cluster=cluster)
        .select_related("revision", "entry", "rewound")
        .defer("entry__blob", "rewound__blob")
    )
    row = rows.filter(pk=pk).first()
    if row is None:
        raise Http404
    row.cluster = cluster  # known already: no query for it
    victims = Victim.objects.restrict(user, "view").filter(decision=row).order_by("position")
    steps = Step.objects.restrict(user, "view").filter(decision=row).order_by("at", "pk")
    return Detail(row, read(row), read_observed(row), read_laws(row), list(victims), list(steps))


def read(row: Decision) -> EngineDecision | None:
    """The engine's decision out of its row."""
    try:
        return decode(row.document.encode())
    except msgspec.DecodeError:
        return None


def read_observed(row: Decision) -> Observed | None:
    """What others did, out of its row; None for a decision of the engine's."""
    if row.source == Decision.Source.ENGINE:
        return None
    try:
        return evictions.decode(row.document)
    except msgspec.DecodeError:
        return None


def read_laws(row: Decision) -> list[InvariantCheck]:
    """The audit out of its row; empty where it was written by a newer version."""
    try:
        return msgspec.convert(row.laws, list[InvariantCheck])
    except msgspec.ValidationError:
        return []

"""What is counted of a filtered history: by tallies where they tell of it, else its rows, of those the newest."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from engine.model.queue_paths import current_path
from scheduler_admin.accounts.former_paths import renames_for
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.kinds import summed
from scheduler_admin.counts.selectors.stored import Part, Parts, parts
from scheduler_admin.counts.services import MAY_GO
from scheduler_admin.counts.stacked import Stacked
from scheduler_admin.counts.totals import summed_totals
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import NEWEST_FIRST
from scheduler_admin.decisions.selectors.history_filters import Filters, width_of
from scheduler_admin.decisions.sentences import LOST

COUNTED = 2_000
"""At most so many rows: a count reads every one, however quickly a page of them is found."""
COUNTED_APART = 500
"""Of what no tally ever tells: they lie apart from each other, each with its victims a page or two of the disk."""
_STANDING = (Decision.State.RECORDED, Decision.State.PLANNED, Decision.State.EVICTING)


@dataclass
class Counts:
    """What is counted, in numbers."""

    decisions: int = 0
    refused: int = 0
    """By a law."""
    shown: int = 0
    """Pods that a decision names and that may still be evicted, or would be in another mode."""
    lost: Stacked = field(default_factory=Stacked)
    """Pods that were really evicted, by when it was decided and by what they are stacked by."""
    since: datetime | None = None
    """From when on, as there may be more before it; None: all are counted."""
    finest: timedelta = timedelta()
    """How exactly the times of what was lost are known."""


class _Row(NamedTuple):
    """Of a decision, what is counted by."""

    pk: int
    at: datetime
    source: str
    reason: str
    ending: str
    stands: bool
    """Whether its pods may still be evicted, or would be in another mode."""


def count(user: Who, cluster: Cluster, filters: Filters, pass_at: datetime | None) -> Counts:
    """What the filters leave for a user; ``pass_at``: when the last pass was."""
    rows = filters.query.rows(user, cluster)
    told = parts(user, cluster, filters, width_of(filters.until - filters.start))
    most = COUNTED if filters.tallied else COUNTED_APART
    live = _newest(rows, told, pass_at, most)
    since = told.start if told.start > filters.start else None
    if len(live) >= most:
        since = live[-1].at
        told = told.since(since)
    among = renames_for(user) if filters.stack == "queue" else ()
    counts = Counts(
        since=since,
        finest=max((part.span for part in told.found), default=timedelta()),
        lost=Stacked(partial(current_path, among=among)),
    )
    _add_rows(counts, {row.pk: row for row in live}, filters)
    _add_parts(counts, told.found, filters)
    if told.found and pass_at:
        held = rows.filter(Q(at__gte=told.start), state=Decision.State.ON_HOLD, last_seen__gte=pass_at)
        counts.shown += _waiting(held, {row.pk for row in live})
    return counts


def _newest(rows: QuerySet[Decision], told: Parts, pass_at: datetime | None, most: int) -> list[_Row]:
    """The newest decisions that no tally tells of."""
    stands = Q(state__in=_STANDING)
    if pass_at:  # one that was held back stands only while passes still find it: later ones decided anew
        stands |= Q(state=Decision.State.ON_HOLD, last_seen__gte=pass_at)
    ordered = rows.annotate(stands=ExpressionWrapper(stands, BooleanField())).order_by(*NEWEST_FIRST)
    told_of = ordered.values_list("pk", "at", "source", "reason", "ending", "stands")
    newest: list[_Row] = []
    for start, end in told.gaps:
        within = Q(at__gte=start) if end == told.until else Q(at__gte=start, at__lt=end)  # the filters end there
        newest += [_Row(*row) for row in told_of.filter(within)[: most - len(newest)]]
        if len(newest) >= most:
            break
    return newest


def _add_rows(counts: Counts, rows: dict[int, _Row], filters: Filters) -> None:
    counts.decisions += len(rows)
    counts.refused += sum(row.ending == Decision.Ending.REJECTED for row in rows.values())
    # By their numbers: whatever the decisions were filtered by, the database knows how few they are.
    victims = Victim.objects.filter(decision__in=rows).order_by() if rows else Victim.objects.none()
    lost = defaultdict[datetime, list[str]](list)
    for pk, queue, state in victims.values_list("decision", "queue", "state"):
        row = rows[pk]
        if state in LOST:
            lost[row.at].append(queue if filters.stack == "queue" else getattr(row, filters.stack))
        elif row.stands and state in MAY_GO:
            counts.shown += 1
    for at, names in lost.items():
        counts.lost.add(at, names)


def _add_parts(counts: Counts, told: Iterable[Part], filters: Filters) -> None:
    read = summed if filters.queue else summed_totals
    for part in told:
        sums = read(part.document, filters, part.start, counts.lost)
        counts.decisions += sums.decisions
        counts.refused += sums.refused
        counts.shown += sums.waiting


def _waiting(held: QuerySet[Decision], counted: set[int]) -> int:
    """Pods of decisions that passes still find, without those that are counted: of these no tally can know it."""
    victims = Victim.objects.filter(decision__in=held.order_by().values("pk"), state__in=MAY_GO).order_by()
    return sum(pk not in counted for pk in victims.values_list("decision", flat=True))

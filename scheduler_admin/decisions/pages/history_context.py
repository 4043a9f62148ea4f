"""What the history shows of each decision, ready for the template."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from engine.audit import Invariant, InvariantCheck, failed_checks
from engine.explain import FLAG_LABELS, broken_invariant_text, label
from engine.model.decision import Reason
from engine.model.message import short_name, short_names
from engine.model.quantities import Amounts, column
from engine.observation.evictions import Flag
from engine.policies import foreign_dialects
from scheduler_admin.core.translation import text
from scheduler_admin.core.words import Unit, duration
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import Page, amounts_of
from scheduler_admin.decisions.sentences import LOST, outcome

_COLUMNS = 5
"""At most so many resources get a column; the decision's own page shows all."""


@dataclass(frozen=True)
class HistoryRow:
    """A line of the table."""

    row: Decision
    queue: str
    asker: str
    """The ask's pod, or what asked as a whole; empty where that is not known, or nobody asked."""
    asked: bool
    """Whether somebody asked, known or not."""
    lost: int
    named: int
    sources: str
    amounts: Amounts
    why: str
    kind: str
    word: str
    took: str


def history_rows(page: Page, laws: dict[int, list[InvariantCheck]]) -> list[HistoryRow]:
    """Every row of a page in words; ``laws`` holds the audits of those that broke one."""
    return [_row(row, page.victims[row.pk], laws.get(row.pk, [])) for row in page.rows]


def _row(row: Decision, victims: list[Victim], checks: list[InvariantCheck]) -> HistoryRow:
    kind, word = outcome(row, victims)
    took = (
        (row.closed_at - row.first_seen).total_seconds()
        if row.closed_at and row.ending != Decision.Ending.REJECTED
        else None
    )
    return HistoryRow(
        row=row,
        queue=short_name(row.ask_queue),
        asker=row.ask_name or row.ask_application,
        asked=row.source not in row.EVICTORS and row.reason != Reason.LOWERED_MAX,
        lost=sum(victim.state in LOST for victim in victims),
        named=len(victims),
        sources=short_names(victim.queue for victim in victims),
        amounts=amounts_of(victims),
        why=why(row, checks),
        kind=kind,
        word=word,
        took="" if took is None else duration(took),
    )


def why(row: Decision, checks: list[InvariantCheck]) -> str:
    """Return in a few words why it was decided so, and what it goes against; or which safety check rejected it."""
    failed = failed_checks(checks)
    if not failed or row.dialect in foreign_dialects():
        wrong = _against(row.detail.split() if row.source != row.Source.ENGINE else [check.law for check in failed])
        return " · ".join([text(label(row.reason)), *wrong])
    return _phrase(text(broken_invariant_text(failed[0].law)))


def _against(words: list[str]) -> list[str]:
    """Return what another scheduler's decision went against: flags, or invariants, which are those of ``fence``."""
    flags = [_(FLAG_LABELS[Flag(word)]) for word in words if word in set(Flag)]
    laws = [Invariant(word) for word in words if word not in set(Flag)]
    return [*flags, *(_phrase(text(broken_invariant_text(which))) for which in laws)]


def _phrase(sentence: str) -> str:
    """A sentence as one of several things in a row: ``not all of the victims are needed``."""
    return sentence[:1].lower() + sentence[1:].rstrip(".。")


def units(rows: Iterable[HistoryRow]) -> list[Unit]:
    """A column for each resource that the rows hold: cpu and memory first, then by name."""
    rows = list(rows)
    names = sorted({name for row in rows for name in row.amounts}, key=column)
    return [Unit.of(name, [row.amounts[name] for row in rows if name in row.amounts]) for name in names[:_COLUMNS]]

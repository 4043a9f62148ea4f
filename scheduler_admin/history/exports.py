"""The filtered history, and the ledger, as CSV and JSON, a row at a time."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from engine.model.quantities import PODS, format_amount, format_amounts
from engine.observation.lost_work import format_work
from scheduler_admin.history.ledger_selectors import Ledger
from scheduler_admin.history.models import Decision
from scheduler_admin.history.selectors import amounts_of, work_of
from scheduler_admin.history.sentences import LOST

COLUMNS = (
    "id",
    "first_seen",
    "last_seen",
    "count",
    "source",
    "mode",
    "policy",
    "outcome",
    "reason",
    "state",
    "ending",
    "ask_namespace",
    "ask_name",
    "ask_queue",
    "ask_application",
    "ask_priority",
    "ask_priority_class",
    "node",
    "pods",
    "evicted",
    "from_queues",
    "victims",
    "amounts",
    "work_lost",
    "closed_at",
)
LEDGER_COLUMNS = (
    "month",
    "cluster",
    "source",
    "losing_namespace",
    "losing_queue",
    "gaining_namespace",
    "gaining_queue",
    "pods",
    "unknown",
    "requests",
    "work_lost",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def as_csv(rows: Iterable[Decision]) -> Iterator[str]:
    """Lines of CSV, the header first. Text that a spreadsheet would run as a formula is quoted with an apostrophe."""
    return csv_lines(COLUMNS, map(_facts, rows))


def as_json(rows: Iterable[Decision]) -> Iterator[str]:
    """One JSON list, an object a line."""
    return json_lines(map(_facts, rows))


def csv_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The header, then each row, whose values are in the order of the columns."""
    writer: Any = csv.writer(_Echo())
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow([_cell(value) for value in row.values()])


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One JSON list, an object a line."""
    yield "["
    for index, row in enumerate(rows):
        yield ("," if index else "") + "\n" + json.dumps(row, ensure_ascii=False)
    yield "\n]\n"


def _facts(row: Decision) -> dict[str, Any]:
    victims = list(row.victims.all())
    lost = work_of(victims)
    stored = {
        name: getattr(row, name)
        for name in COLUMNS
        if name not in ("id", "pods", "evicted", "from_queues", "victims", "amounts", "work_lost")
    }
    times = ("first_seen", "last_seen", "closed_at")
    facts: dict[str, Any] = {
        **stored,
        **{name: stored[name].isoformat() if stored[name] else None for name in times},
        "id": row.pk,
        "pods": len(victims),
        "evicted": sum(victim.state in LOST for victim in victims),
        "from_queues": sorted({victim.queue for victim in victims}),
        "victims": [str(victim) for victim in victims],
        "amounts": {name: format_amount(name, held) for name, held in amounts_of(row).items() if name != PODS},
        "work_lost": None if lost is None else format_work(lost),
    }
    return {name: facts[name] for name in COLUMNS}


def ledger_facts(month: date, found: Ledger) -> Iterator[dict[str, Any]]:
    """Every line of a month of the ledger, its values in the order of LEDGER_COLUMNS."""
    for line, sums in found.items():
        yield {
            "month": f"{month:%Y-%m}",
            "cluster": line.cluster,
            "source": line.source,
            "losing_namespace": line.lost.namespace,
            "losing_queue": line.lost.queue,
            "gaining_namespace": line.gained.namespace,
            "gaining_queue": line.gained.queue,
            "pods": sums.pods,
            "unknown": sums.unknown,
            "requests": format_amounts(sums.requests),
            "work_lost": format_work(sums.work),
        }


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        value = " ".join(f"{name}={held}" for name, held in value.items())
    elif isinstance(value, list):
        value = " ".join(value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value

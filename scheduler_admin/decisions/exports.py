"""The filtered history as CSV and JSON, a row at a time."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.model.quantities import PODS, format_amount
from engine.observation.lost_work import format_work
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.decisions import amounts_of, work_of
from scheduler_admin.decisions.sentences import LOST

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


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        value = " ".join(f"{name}={held}" for name, held in value.items())
    elif isinstance(value, list):
        value = " ".join(value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value

"""The filtered history as CSV and JSON, a row at a time."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.model.quantities import PODS, format_amount
from engine.observation.lost_work import format_work
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import amounts_of, work_of
from scheduler_admin.decisions.sentences import LOST

COLUMNS = (
    "id",
    "decided_at",
    "last_evaluated_at",
    "evaluations",
    "source",
    "mode",
    "policy",
    "outcome",
    "reason",
    "state",
    "ending",
    "pending_pod_namespace",
    "pending_pod_name",
    "pending_pod_queue",
    "pending_pod_application",
    "pending_pod_priority",
    "pending_pod_priority_class",
    "node",
    "victim_count",
    "evicted_pods",
    "victim_queues",
    "victims",
    "requests",
    "lost_work",
    "closed_at",
)
_PENDING_POD = ("namespace", "name", "queue", "application", "priority", "priority_class")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


Row = tuple[Decision, list[Victim]]
"""A decision with its victims."""


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def as_csv(rows: Iterable[Row]) -> Iterator[str]:
    """Lines of CSV, the header first. Text that a spreadsheet would run as a formula is quoted with an apostrophe."""
    return csv_lines(COLUMNS, map(_facts, rows))


def as_json(rows: Iterable[Row]) -> Iterator[str]:
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


def _facts(found: Row) -> dict[str, Any]:
    """Return the values of a row in the order of COLUMNS."""
    row, victims = found
    lost = work_of(victims)
    amounts = {name: format_amount(name, held) for name, held in amounts_of(victims).items() if name != PODS}
    return {
        "id": row.pk,
        "decided_at": row.first_seen.isoformat(),
        "last_evaluated_at": row.last_seen.isoformat(),
        "evaluations": row.count,
        **{name: getattr(row, name) for name in ("source", "mode", "policy", "outcome", "reason", "state", "ending")},
        **{f"pending_pod_{name}": getattr(row, f"ask_{name}") for name in _PENDING_POD},
        "node": row.node,
        "victim_count": len(victims),
        "evicted_pods": sum(victim.state in LOST for victim in victims),
        "victim_queues": sorted({victim.queue for victim in victims}),
        "victims": [str(victim) for victim in victims],
        "requests": amounts,
        "lost_work": None if lost is None else format_work(lost),
        "closed_at": row.closed_at.isoformat() if row.closed_at else None,
    }


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        value = " ".join(f"{name}={held}" for name, held in value.items())
    elif isinstance(value, list):
        value = " ".join(value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value

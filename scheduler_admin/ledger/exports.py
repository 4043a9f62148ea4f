"""The ledger as rows of CSV and JSON."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from engine.model.quantities import format_amounts
from engine.observation.lost_work import format_work
from scheduler_admin.ledger.selectors import Ledger

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

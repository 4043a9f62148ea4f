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
    "victim_namespace",
    "victim_queue",
    "preemptor_namespace",
    "preemptor_queue",
    "evicted_pods",
    "pods_with_unknown_work",
    "requests",
    "lost_work",
)


def ledger_facts(month: date, found: Ledger) -> Iterator[dict[str, Any]]:
    """Every line of a month of the ledger, its values in the order of LEDGER_COLUMNS."""
    for line, sums in found.items():
        yield {
            "month": f"{month:%Y-%m}",
            "cluster": line.cluster,
            "source": line.source,
            "victim_namespace": line.lost.namespace,
            "victim_queue": line.lost.queue,
            "preemptor_namespace": line.gained.namespace,
            "preemptor_queue": line.gained.queue,
            "evicted_pods": sums.pods,
            "pods_with_unknown_work": sums.unknown,
            "requests": format_amounts(sums.requests),
            "lost_work": format_work(sums.work),
        }

"""Usage over time as programs read it."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from engine.model.quantities import DOMINANT, format_amount
from scheduler_admin.usage.selectors import Series


def samples(series: Series) -> Iterator[dict[str, Any]]:
    """Every point, with its amounts as people type them."""
    resource = series.resource
    for point in series.points:
        yield {
            "started_at": point.at,
            "used": _amount(resource, point.used),
            "peak_used": _amount(resource, point.highest),
            "guaranteed": _amount(resource, point.guaranteed),
            "max": _amount(resource, point.max),
            "deserved": _amount(resource, point.deserved),
            "pending_pods": point.asks,
        }


def _amount(resource: str, value: int | None) -> str | None:
    if value is None:
        return None
    return f"{Decimal(value).scaleb(-6):f}" if resource == DOMINANT else format_amount(resource, value)

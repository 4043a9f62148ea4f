"""Stored usage, hour by hour, as one series of samples."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from engine.resources import format_amount
from scheduler_admin.history.models import Usage


def samples(hours: Iterable[Usage], resource: str, *, since: datetime, until: datetime) -> Iterator[dict[str, Any]]:
    """Each sample of the resource in ``[since, until)``; hours that know nothing of it are gaps, not zeros."""
    for hour in hours:
        guaranteed, cap = (
            format_amount(resource, limits[resource]) if resource in limits else None
            for limits in (hour.guaranteed, hour.max)
        )
        for second, used, asks in zip(hour.seconds, hour.used.get(resource, []), hour.asks, strict=False):
            at = hour.hour + timedelta(seconds=second)
            if since <= at < until:
                yield {
                    "at": at,
                    "used": format_amount(resource, used),
                    "guaranteed": guaranteed,
                    "max": cap,
                    "asks_waiting": asks,
                }

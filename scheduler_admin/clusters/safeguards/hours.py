"""Hours of the week in a time zone: pure functions of a moment that is given."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NEAR = (-2, -1, 0, 1)
"""Days around a moment on which an occurrence may begin that holds it."""


@dataclass(frozen=True, kw_only=True)
class Hours:
    """From ``begins`` to ``ends`` on these weekdays. An end that is not later than the beginning is on the next day."""

    weekdays: frozenset[str]
    """Of WEEKDAYS: on which it begins."""
    begins: time
    ends: time
    zone: ZoneInfo
    first_day: date | None = None
    last_day: date | None = None
    """The days, in its zone, on which it begins first and last; None: no such limit."""


def open_until(hours: Hours, at: datetime, *, when_clocks_change: Literal["longer", "shorter"]) -> datetime | None:
    """When the hours that hold ``at`` end, in UTC; None outside of them.

    Where clocks are changed a time of day may come twice or never: such a beginning or end is taken for whichever makes
    the hours ``longer`` or ``shorter``.
    """
    ends = [until for since, until in _around(hours, at, when_clocks_change == "longer") if since <= at < until]
    return max(ends, default=None)


def _around(hours: Hours, at: datetime, longer: bool) -> Iterator[tuple[datetime, datetime]]:
    today = at.astimezone(hours.zone).date()
    early, late = (min, max) if longer else (max, min)
    for day in (today + timedelta(days=days) for days in _NEAR):
        if _begins_on(hours, day):
            last = day if hours.begins < hours.ends else day + timedelta(days=1)
            yield early(_moments(hours, day, hours.begins)), late(_moments(hours, last, hours.ends))


def _begins_on(hours: Hours, day: date) -> bool:
    begun = hours.first_day is None or hours.first_day <= day
    over = hours.last_day is not None and hours.last_day < day
    return WEEKDAYS[day.weekday()] in hours.weekdays and begun and not over


def _moments(hours: Hours, day: date, clock: time) -> tuple[datetime, datetime]:
    """A time of day read with the zone's offset from before and from after a change of clocks; mostly the same."""
    local = datetime.combine(day, clock, hours.zone)
    return local.replace(fold=0).astimezone(UTC), local.replace(fold=1).astimezone(UTC)

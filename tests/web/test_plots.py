"""What a plot says of a time between its points."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.history.usage_selectors import Point
from scheduler_admin.web.plots import UsedAt

START = datetime(2026, 1, 1, tzinfo=UTC)
seconds = st.integers(0, 100)


def at(second: int) -> datetime:
    """So long after the first point may be."""
    return START + timedelta(seconds=second)


def point(second: int) -> Point:
    """One that uses as much as it is late."""
    return Point(at=at(second), used=second, highest=second, guaranteed=None, max=None, asks=0)


@given(st.lists(seconds, unique=True, max_size=8).map(sorted), seconds)
def test_a_mark_stands_where_the_nearest_point_does(times: list[int], second: int) -> None:
    """The earlier of two as near; at nothing where there is none."""
    plain = min(times, key=lambda one: abs(one - second), default=0)
    assert UsedAt([point(one) for one in times]).at(at(second)) == plain

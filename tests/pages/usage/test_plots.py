"""What a plot says of a time between its points."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.usage.pages.plots import UsedAt, usage_figure
from scheduler_admin.usage.selectors import Point, Series

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


def sample(second: int, used: int, guaranteed: int | None) -> Point:
    """A point, in thousandths of a core."""
    return Point(at=at(second), used=used, highest=used, guaranteed=guaranteed, max=None, asks=0)


def shapes(*points: Point) -> list[list[tuple[int, float]]]:
    """The corners of what is drawn as used beyond the guarantee, shape by shape, times in seconds."""
    series = Series("cpu", 1, lambda: points)
    figure = usage_figure(series, [], at(0), at(100))
    (over,) = [trace for trace in figure["data"] if trace["meta"] == "over"]
    assert (over["fill"], over["hoverinfo"]) == ("toself", "skip")
    found: list[list[tuple[int, float]]] = [[]]
    for time, amount in zip(over["x"], over["y"], strict=True):
        if time is None:
            found.append([])
        else:
            found[-1].append((int((datetime.fromisoformat(time) - START).total_seconds()), amount))
    return found


def test_nothing_is_filled_where_nothing_was_sampled() -> None:
    """What is above the guarantee before a gap and after it are shapes of their own."""
    before, after = (sample(second, 4000, 1000) for second in (0, 60))
    assert shapes(before, sample(1, 3000, 2000), after, sample(61, 4000, 1000)) == [
        [(0, 4), (1, 3), (1, 2), (1, 1), (0, 1)],
        [(60, 4), (61, 4), (61, 1), (61, 1), (60, 1)],
    ]


def test_nothing_is_filled_where_nothing_is_guaranteed() -> None:
    """Nor below the guarantee."""
    assert shapes(sample(0, 4000, None), sample(1, 500, 1000), sample(2, 500, 1000)) == [
        [(1, 1), (2, 1), (2, 1), (2, 1), (1, 1)]
    ]

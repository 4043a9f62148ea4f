"""Work that an eviction throws away: exact integers, from the start or the last checkpoint on."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.observation.lost_work import format_work, unsaved_s, work
from tests.builders import amounts

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
times = st.integers(0, 10**12).map(lambda us: NOON + timedelta(microseconds=us))


def unsaved(checkpoint: timedelta | None = None, ran: timedelta = timedelta(hours=4, minutes=12)) -> int:
    """Seconds without a checkpoint of a pod that was evicted at noon; its checkpoint so long before that."""
    at = None if checkpoint is None else NOON - checkpoint
    return unsaved_s(started=NOON - ran, checkpoint=at, evicted=NOON)


@pytest.mark.parametrize(
    ("checkpoint", "seconds"),
    [
        (None, 15_120),
        (timedelta(minutes=10), 600),
        (timedelta(seconds=1.999), 1),
        (timedelta(0), 0),
        (timedelta(seconds=-5), 0),
        (timedelta(days=30), 15_120),
    ],
)
def test_it_counts_from_the_later_of_start_and_checkpoint(checkpoint: timedelta | None, seconds: int) -> None:
    """Whole seconds; never less than nothing, and never what ran before it."""
    assert unsaved(checkpoint) == seconds


def test_it_is_runtime_times_requests_of_each_resource() -> None:
    """4 h 12 min of 4.5 cores and a GPU: 18.9 core hours and 4.2 GPU hours; the pod itself is not counted."""
    done = work(amounts({"cpu": "4500m", "memory": "24Gi", "nvidia.com/gpu": 1, "pods": 1}), unsaved())
    assert done == {"cpu": 18_900 * 3600, "memory": 24 * 2**30 * 15_120, "nvidia.com/gpu": 15_120}
    assert format_work(done)["cpu"] == "68040"


@pytest.mark.parametrize(("cpu", "text"), [(0, "0"), (1, "0.001"), (500, "0.5"), (1000, "1"), (10_010, "10.01")])
def test_it_is_written_exactly(cpu: int, text: str) -> None:
    """In core seconds, without digits that say nothing."""
    assert format_work({"cpu": cpu, "memory": 2**70}) == {"cpu": text, "memory": str(2**70)}


@given(times, times, times)
def test_a_checkpoint_never_makes_more_of_it(started: datetime, checkpoint: datetime, evicted: datetime) -> None:
    """And it is never more than the pod ran."""
    without = unsaved_s(started=started, checkpoint=None, evicted=evicted)
    assert 0 <= unsaved_s(started=started, checkpoint=checkpoint, evicted=evicted) <= without
    assert without <= max(0, (evicted - started).total_seconds())

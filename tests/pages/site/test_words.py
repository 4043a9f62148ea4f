"""Lengths of time and work as people read them."""

import pytest

from scheduler_admin.core.words import Unit, names, span, work_hours, work_text, work_unit

GI = 2**30


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (79, "1 min 19 s"),
        (15_120, "4 h 12 min"),
        (90_000, "1 d 1 h"),
        (86_460, "1 d"),
    ],
)
def test_a_length_of_time_has_its_two_largest_units(seconds: int, text: str) -> None:
    """One where the other is nothing."""
    assert span(seconds) == text


def test_work_is_told_of_cpu_and_memory_first() -> None:
    """In hours; what came to nothing is left out."""
    done = {"nvidia.com/gpu": 15_120, "memory": 24 * GI * 3600, "cpu": 4500 * 15_120, "example.com/x": 0}
    assert work_text(done) == "18.9 core-hours, 24.0 GiB-hours of memory, 4.2 gpu-hours"
    assert work_text({"cpu": 0}) == "none"


@pytest.mark.parametrize(
    ("core_seconds", "column", "sentence"),
    [
        (0, "0.0", "0.00"),
        (1, "<0.1", "<0.01"),
        (79, "<0.1", "0.02"),
        (360, "0.1", "0.10"),
        (3600, "1.0", "1.0"),
        (36_000_000, "10000.0", "10000.0"),
    ],
)
def test_little_work_is_not_told_as_none(core_seconds: int, column: str, sentence: str) -> None:
    """In a column with one decimal, in a sentence with two below an hour."""
    told = work_hours("cpu", core_seconds * 1000), work_hours("cpu", core_seconds * 1000, finer=True)
    assert told == (column, sentence)


def test_columns_say_what_they_count() -> None:
    """Devices without their vendor."""
    found = [work_unit(name) for name in ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu")]
    assert found == ["core-hours", "GiB-hours", "ephemeral-storage, GiB-hours", "gpu-hours"]


def test_a_column_never_rounds_away_what_is_promised() -> None:
    """60 GiB beside 8 TiB are told in GiB; what is used may be little without that."""
    assert Unit.of("memory", [60 * GI, 8400 * GI], [60 * GI]).name == "Gi"
    assert Unit.of("memory", [60 * GI, 8400 * GI, 0], [8400 * GI, 0]).name == "Ti"


def test_of_many_names_only_the_first_are_made() -> None:
    """Of 20,000 queues, nineteen thousand names would be made for nothing."""
    made: list[str] = []
    assert names(["root.a", "root.b", "root.c"], 2, lambda path: made.append(path) or path[5:]) == "a, b and 1 more"
    assert made == ["root.a", "root.b"]

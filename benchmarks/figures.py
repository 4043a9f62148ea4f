"""A row of figures: how long something took, of several times."""

import statistics
import time
from collections.abc import Callable

Row = dict[str, str | float | int]
SEED = 1
"""Of whatever is drawn by chance, so that every run measures the same."""


def figures(scenario: str, times: list[float]) -> Row:
    """The row of a scenario, from milliseconds."""
    return {
        "scenario": scenario,
        "median_ms": round(statistics.median(times), 2),
        "min_ms": round(min(times), 2),
        "max_ms": round(max(times), 2),
        "runs": len(times),
    }


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of wall time."""
    began = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - began) / 1e6

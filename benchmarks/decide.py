"""How long one decision takes on a warm snapshot, trace included: ``python -m benchmarks decide``."""

import statistics
import time
from collections.abc import Callable

from benchmarks.scenario_y import scenario_y
from engine.policies import policy

Row = dict[str, str | float | int]


def decide(scale: float, runs: int) -> list[Row]:
    """A row of figures for every scenario at ``scale`` times its full size."""
    return [
        _row("fence/Y", scale, runs, priority=100),
        _row("fence/Y-none", scale, runs, priority=-1000),
    ]


def _row(scenario: str, scale: float, runs: int, *, priority: int) -> Row:
    snapshot, tree, ask = scenario_y(scale, priority=priority)
    decide = policy("fence", "design")
    decide(snapshot, tree, ask)  # warm
    times = [_timed(lambda: decide(snapshot, tree, ask)) for _ in range(runs)]
    return {
        "scenario": scenario,
        "median_ms": round(statistics.median(times), 2),
        "min_ms": round(min(times), 2),
        "max_ms": round(max(times), 2),
        "runs": runs,
    }


def _timed(work: Callable[[], object]) -> float:
    """Milliseconds of wall time."""
    began = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - began) / 1e6

"""`python -m benchmarks decide [--json] [--scale S] [--runs N]`: one decision on a warm snapshot, trace included."""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable

from benchmarks.scenario_y import scenario_y
from engine.policies import policy

Row = dict[str, str | float | int]


def main() -> None:
    """Time every scenario and print a row each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", choices=["decide"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0, help="of the scenario's full size (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    rows = [
        _row("fence/Y", options.scale, options.runs, priority=100),
        _row("fence/Y-none", options.scale, options.runs, priority=-1000),
    ]
    if options.json:
        print(json.dumps({"machine": platform.platform(), "scale": options.scale, "rows": rows}))
        return
    for row in rows:
        figures = f"median {row['median_ms']} ms, from {row['min_ms']} to {row['max_ms']}"
        print(f"{row['scenario']:14} {figures}, {row['runs']} runs")


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


if __name__ == "__main__":
    main()

"""Every benchmark, one process each, beside the runs that are kept: ``python -m benchmarks all``."""

import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.figures import SEED, Row
from benchmarks.follow import RATE

Measures = dict[str, tuple[float, float, float]]
"""What was measured -> the least, the middle and the most of its runs; the name ends in the unit."""
Run = dict[str, Any]
"""All that one run of the suite found, as JSON: see ``run``."""

KEPT = Path(__file__).parent / "runs"
_GROWTH = (0.1, 1.0, 3.0)
_LIBRARIES = ("django", "kubernetes", "msgspec", "numpy", "plotly", "urllib3")
_NAMING = ("scenario", "what", "part", "page", "write", "asked", "act", "migration", "cores_used")
"""Where rows say what they are of; other texts in them are for reading."""
_NO_FIGURE = ("runs", "documents", "queries", "preempted", "times", "failed", "bytes")


def sizes(scale: float) -> tuple[float, ...]:
    """Times the scale at which decisions are measured, to see how they grow; above the full size, from that on."""
    return (1 / scale, 1.0) if scale > 1 else _GROWTH


def parts(scale: float) -> dict[str, list[str]]:
    """Name -> arguments. Above the full size, only what grows with the cluster: the rest would be measured again."""
    sized = ["--scale", str(scale)]
    grown = {f"decide x{times:g}": ["decide", "--scale", f"{times * scale:g}"] for times in sizes(scale)} | {
        "memory": ["memory", *sized],
        "store": ["store", *sized],
        "store on PostgreSQL": ["store", *sized, "--postgres"],
        "follow": ["follow", *sized, "--seconds", "30", "--rate", str(round(RATE * max(1.0, scale / 4)))],
        "large": ["large", "--queues", str(round(1_000 * scale)), "--pods", str(round(150_000 * scale))],
    }
    return grown if scale > 1 else grown | _beside(scale)


def _beside(scale: float) -> dict[str, list[str]]:
    decisions = max(20_000, round(1_000_000 * scale))
    days = ["--days", str(max(15, round(730 * scale)))]
    return {
        "compare": ["compare", "--scale", str(scale)],
        "edit": ["edit"],
        "pages": ["pages"],
        "clusters": ["clusters", "--clusters", str(max(3, round(20 * scale))), "--seconds", "40"],
        "load": ["load", "--decisions", str(10 * decisions), *days],
        "history": ["history", "--decisions", str(decisions), *days],
        "migrate": ["migrate", "--decisions", str(decisions), *days],
    }


def run(scale: float, only: Iterable[str] = ()) -> Iterator[Run]:
    """Measure everything, or ``only`` some parts; says on the way what it is at, and after each part all that is known.

    A part that fails takes nothing from the others.
    """
    chosen = {name: told for name, told in parts(scale).items() if not only or told[0] in only}
    measures: Measures = {}
    failed: list[str] = []
    for number, (name, arguments) in enumerate(chosen.items(), 1):
        print(f"{number}/{len(chosen)} {name} …", file=sys.stderr, flush=True)
        try:
            measures |= measured(name, _rows(arguments))
        except subprocess.CalledProcessError:  # it has said why
            failed.append(name)
        yield {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
            "seed": SEED,
            "scale": scale,
            "measures": measures | growth(measures, scale),
            "failed": failed,
        }


def machine() -> dict[str, str | int]:
    """What figures depend on beside the product."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    cores = len(os.sched_getaffinity(0))
    system = f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}, {platform.machine()}"
    return {"platform": system, "cores": cores, "memory_gib": pages * size // 2**30}


def _rows(arguments: list[str]) -> list[Row]:
    """Raises CalledProcessError where a benchmark fails."""
    asked = [sys.executable, "-m", "benchmarks", *arguments, "--json"]
    found: list[Row] = json.loads(subprocess.run(asked, stdout=subprocess.PIPE, check=True).stdout)["rows"]  # noqa: S603 - our own words
    return found


def measured(part: str, rows: Iterable[Row]) -> Measures:
    """The figures of a part's rows: one for each row with a median, else one for each number in it."""
    found: Measures = {}
    for row in rows:
        name = " ".join(dict.fromkeys([part, *(str(row[key]) for key in _NAMING if key in row)]))
        if "min_ms" in row:
            found[f"{name}, ms"] = (float(row["min_ms"]), float(row["median_ms"]), float(row["max_ms"]))
            continue
        for field, value in row.items():
            if not isinstance(value, str) and field not in _NO_FIGURE:
                found[f"{name}, {field}"] = (float(value),) * 3
    return found


def growth(measures: Measures, scale: float) -> Measures:
    """By which power of the size decisions grow from one size to the next: 1 is as the size does, n log n some 1.1."""
    found: Measures = {}
    for small, large in pairwise(sizes(scale)):
        for name, (_, before, _) in measures.items():
            part, row = f"decide x{small:g} ", name.removeprefix(f"decide x{small:g} ")
            after = measures.get(f"decide x{large:g} {row}")
            if name.startswith(part) and after and min(before, after[1]) > 0:
                power = round(math.log(after[1] / before) / math.log(large / small), 2)
                found[f"growth x{small:g}-{large:g} {row.removesuffix(', ms')}, power"] = (power,) * 3
    return found


def kept(scale: float, folder: Path = KEPT) -> list[Run]:
    """The runs that are kept of that size, the oldest first."""
    runs = (json.loads(file.read_text()) for file in sorted(folder.glob("*.json")))
    return [one for one in runs if one["scale"] == scale]


def ranges(runs: Iterable[Run]) -> dict[str, tuple[float, float]]:
    """Measure -> the least and the most that any of the runs had."""
    found: dict[str, tuple[float, float]] = {}
    for one in runs:
        for name, (least, _, most) in one["measures"].items():
            low, high = found.get(name, (least, most))
            found[name] = (min(low, least), max(high, most))
    return found


def told(measures: Mapping[str, tuple[float, float, float]], known: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """A line for each measure, with its range and whether it lies above or below that."""
    for name, (_, middle, _) in measures.items():
        low, high = known.get(name, (None, None))
        if low is None or high is None:
            yield f"{name:58} {middle:>12g}"
            continue
        where = "above" if middle > high else "below" if middle < low else ""
        yield f"{name:58} {middle:>12g}   {low:g} to {high:g} {where}".rstrip()

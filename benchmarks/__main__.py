"""Measure the performance of Scheduler Admin: ``python -m benchmarks NAME``."""

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import suite
from benchmarks.clusters import clusters
from benchmarks.compare import compare
from benchmarks.decide import decide
from benchmarks.editor import edit
from benchmarks.figures import Row
from benchmarks.follow import RATE, follow
from benchmarks.large import large
from benchmarks.load import load
from benchmarks.memory import memory
from benchmarks.migrating import migrate
from benchmarks.pages import pages
from benchmarks.past import past
from benchmarks.storing import store

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> None:
    """Run the chosen benchmark and print its results."""
    options = _parser().parse_args()
    if options.what == "all":
        _all(options.scale, options.parts, options.out)
        return
    rows: list[Row] | Iterator[Row] = _rows(options)
    found = []
    for row in rows:
        found.append(row)
        print(_told(row), file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        print(json.dumps({"machine": platform.platform(), **_versions(), "scale": options.scale, "rows": found}))


def _rows(options: argparse.Namespace) -> "list[Row] | Iterator[Row]":
    rows: list[Row] | Iterator[Row]
    if options.what == "decide":
        rows = decide(options.scale, options.runs)
    elif options.what == "compare":
        rows = compare(options.scale)
    elif options.what == "edit":
        rows = edit(options.runs)
    elif options.what == "pages":
        rows = pages(options.runs)
    elif options.what == "memory":
        rows = [memory(options.scale)]
    elif options.what == "store":
        rows = store(options.scale, options.runs, postgres=options.postgres)
    elif options.what == "migrate":
        rows = migrate(options.decisions, options.days, options.database)
    elif options.what == "history":
        rows = past(options.decisions, options.days, options.runs, options.database)
    elif options.what == "large":
        rows = large(options.queues, options.pods, options.runs, options.database)
    elif options.what == "load":
        rows = load(
            decisions=options.decisions,
            days=options.days,
            seconds=options.seconds,
            database=options.database,
            news_s=options.news,
        )
    elif options.what == "clusters":
        rows = clusters(
            many=options.clusters,
            nodes=options.nodes,
            workers=options.workers,
            seconds=options.seconds,
            rate=options.rate,
            interval_s=options.interval,
            postgres=not options.sqlite,
        )
    else:
        rows = [
            follow(
                options.scale,
                options.rate,
                options.seconds,
                worker=not options.bare,
                streamed=options.streamed,
                pin=options.pin,
                seed=options.seed,
            )
        ]
    return rows


def _all(scale: float, only: list[str], out: Path | None) -> None:
    found: suite.Run = {"measures": {}, "failed": []}
    for found in suite.run(scale, only):
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(json.dumps(found, indent=1) + "\n")
    runs = suite.kept(scale)
    for line in suite.told(found["measures"], suite.ranges(runs)):
        print(line)
    print(f"Compared with {len(runs)} stored runs of this size.")
    if found["failed"]:
        raise SystemExit(f"Failed benchmarks: {', '.join(found['failed'])}")
    if out is not None:
        print(f"Results written to {out}. To keep this run, copy the file to {suite.KEPT.name}/.")


_RUNS = "Number of runs. Default: %(default)s."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure the performance of Scheduler Admin."
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="Print JSON.")
    common.add_argument("--scale", type=float, default=1.0, help="Fraction of the full size. Default: %(default)s.")
    what = parser.add_subparsers(dest="what", required=True, metavar="NAME")
    deciding = what.add_parser("decide", parents=[common], help="Time of one decision.")
    deciding.add_argument("--runs", type=int, default=5, help=_RUNS)
    what.add_parser("compare", parents=[common], help="Time to rerun a recorded day with every policy.")
    what.add_parser("memory", parents=[common], help="Peak memory of a pass.")
    for name, text in (
        ("edit", "Time of edits in the tree editor with 1000 queues."),
        ("pages", "Time until pages first show content in a browser."),
    ):
        what.add_parser(name, parents=[common], help=text).add_argument("--runs", type=int, default=5, help=_RUNS)
    storing = what.add_parser("store", parents=[common], help="Time to store the decisions of a pass.")
    storing.add_argument("--runs", type=int, default=5, help=_RUNS)
    storing.add_argument("--postgres", action="store_true", help="Use a temporary PostgreSQL server instead of SQLite.")
    for name, text in (
        ("history", "Time of pages with a long history in PostgreSQL."),
        ("migrate", "Time and locks of migrations with a long history in PostgreSQL."),
    ):
        reading = what.add_parser(name, parents=[common], help=text)
        reading.add_argument(
            "--decisions", type=int, default=1_000_000, help="Decisions to store. Default: %(default)s."
        )
        reading.add_argument(
            "--days", type=int, default=730, help="Days over which they are spread. Default: %(default)s."
        )
        reading.add_argument("--runs", type=int, default=40, help=_RUNS)
        reading.add_argument(
            "--database",
            default="",
            help="URL (postgres://...) of a database that is empty or was filled by an earlier run.",
        )
    larger = what.add_parser("large", parents=[common], help="Time of pages with many queues and pods in PostgreSQL.")
    larger.add_argument("--queues", type=int, default=20_000, help="Queues of the tree. Default: %(default)s.")
    larger.add_argument("--pods", type=int, default=3_000_000, help="Pods of the cluster. Default: %(default)s.")
    larger.add_argument("--runs", type=int, default=5, help=_RUNS)
    larger.add_argument(
        "--database",
        default="",
        help="URL (postgres://...) of a database that is empty or was filled by an earlier run.",
    )
    clicking = what.add_parser(
        "load", parents=[common], help="Response times with 50 users and 2 pipelines on a long history."
    )
    clicking.add_argument("--decisions", type=int, default=1_000_000, help="Decisions to store. Default: %(default)s.")
    clicking.add_argument(
        "--days", type=int, default=730, help="Days over which they are spread. Default: %(default)s."
    )
    clicking.add_argument("--seconds", type=int, default=120, help="Duration of the load. Default: %(default)s.")
    clicking.add_argument(
        "--news", type=float, default=2.0, help="Seconds between changes of usage. Default: %(default)s."
    )
    clicking.add_argument(
        "--database",
        default="",
        help="URL (postgres://...) of a database that is empty or was filled by an earlier run.",
    )
    everything = what.add_parser("all", help="Run all benchmarks and compare them with the stored runs.")
    everything.add_argument("--scale", type=float, default=1.0, help="Fraction of the full size. Default: %(default)s.")
    everything.add_argument("--out", type=Path, help="File to write all results to, as JSON.")
    everything.add_argument("parts", nargs="*", help="Benchmarks to run. Default: all.")
    many = what.add_parser(
        "clusters",
        parents=[common],
        help="Passes over many clusters with several engine workers, one of which is killed.",
    )
    many.add_argument("--clusters", type=int, default=20, help="Number of clusters. Default: %(default)s.")
    many.add_argument(
        "--nodes", type=int, default=200, help="Nodes per cluster, with 30 pods each. Default: %(default)s."
    )
    many.add_argument("--workers", type=int, default=3, help="Number of engine workers. Default: %(default)s.")
    many.add_argument(
        "--seconds",
        type=int,
        default=120,
        help="Seconds to measure, before and after a worker is killed. Default: %(default)s.",
    )
    many.add_argument("--rate", type=int, default=5, help="Pod changes per second and cluster. Default: %(default)s.")
    many.add_argument(
        "--interval", type=float, default=5.0, help="Seconds between two passes of a cluster. Default: %(default)s."
    )
    many.add_argument("--sqlite", action="store_true", help="Use SQLite instead of a temporary PostgreSQL server.")
    following = what.add_parser("follow", parents=[common], help="Time to read a cluster and to follow its changes.")
    following.add_argument("--rate", type=int, default=RATE, help="Pod changes per second. Default: %(default)s.")
    following.add_argument("--seconds", type=int, default=60, help="Seconds to follow changes. Default: %(default)s.")
    following.add_argument("--bare", action="store_true", help="Do not load the other parts of the engine worker.")
    following.add_argument("--streamed", action="store_true", help="Read lists as streams instead of pages.")
    following.add_argument(
        "--pin", action="store_true", help="Pin each process to its own core. Use it on idle machines."
    )
    following.add_argument("--seed", type=int, default=1, help="Seed of the random numbers. Default: %(default)s.")
    return parser


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in ("msgspec", "numpy", "urllib3")}}


def _told(row: Row) -> str:
    if "asked" in row:
        figures = f"median {row['median_ms']:g} ms, p95 {row['p95_ms']:g}, p99 {row['p99_ms']:g}"
        return f"{row['asked']:28} {figures}; {row['times']} requests, {row['failed']} failed, {row['bytes']} bytes"
    if "page" in row and "bytes" in row:
        figures = (
            f"CPU {row['cpu_ms']} ms (first {row['first_cpu_ms']}), median {row['clock_ms']} ms, {row['bytes']} bytes"
        )
        return f"{row['page']:40} {figures}, {row['runs']} runs"
    if "p95_ms" in row:
        figures = f"median {row['median_ms']} ms, 95th percentile {row['p95_ms']}, CPU {row['cpu_p95_ms']}"
        return f"{row['page']:30} {figures}, {row['runs']} runs"
    if "migration" in row:
        longest = f"{row['longest_s']} s {row['statement']}" if row["statement"] else ""
        return f"{row['migration']:40} {row['seconds']} s, {longest}, {row['locks'] or 'no blocking locks'}"
    if "median_ms" in row:
        figures = f"median {row['median_ms']} ms, from {row['min_ms']} to {row['max_ms']}"
        queries = f", {row['queries']} queries" if "queries" in row else ""
        return f"{row['scenario']:14} {figures}, {row['runs']} runs{queries}"
    if "act" in row:
        figures = f"server {row['server_cpu_ms']} ms CPU, browser {row['browser_ms']} ms"
        clock = f"{row['clock_ms']} ms elapsed, {row['whole_ms']} ms until complete"
        return f"{row['act']:14} {figures}, {clock}, {row['runs']} runs"
    return "\n".join(f"{name:26} {figure}" for name, figure in row.items())


if __name__ == "__main__":
    main()

"""``python -m benchmarks decide``: one decision. ``... follow``: a cluster read, and followed while it changes.

``... clusters``: many clusters over several workers.
``... compare``: a recorded day run again under every policy.
``... edit``: acts in the editor at a thousand queues. ``... pages``: when pages first show something.
``... history``: pages of a long history, on PostgreSQL. ``... migrate``: migrations beside one.
``... load``: fifty people and two pipelines at once, on a long history.
``... store``: what a pass decided, stored.
``... memory``: the most memory of a pass. ``... all``: everything, beside the runs that are kept.
"""

import argparse
import json
import platform
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
from benchmarks.load import load
from benchmarks.memory import memory
from benchmarks.migrating import migrate
from benchmarks.pages import pages
from benchmarks.past import past
from benchmarks.storing import store

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> None:
    """Measure what is asked for and print it."""
    options = _parser().parse_args()
    if options.what == "all":
        _all(options.scale, options.parts, options.out)
        return
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
    if options.json:
        print(json.dumps({"machine": platform.platform(), **_versions(), "scale": options.scale, "rows": list(rows)}))
        return
    for row in rows:
        print(_told(row), flush=True)


def _all(scale: float, only: list[str], out: Path | None) -> None:
    found: suite.Run = {"measures": {}, "failed": []}
    for found in suite.run(scale, only):
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(json.dumps(found, indent=1) + "\n")
    runs = suite.kept(scale)
    for line in suite.told(found["measures"], suite.ranges(runs)):
        print(line)
    print(f"Beside {len(runs)} kept runs of this size.")
    if found["failed"]:
        raise SystemExit(f"failed: {', '.join(found['failed'])}")
    if out is not None:
        print(f"Written to {out}; copied into {suite.KEPT.name}/ it is kept.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true")
    common.add_argument("--scale", type=float, default=1.0, help="of the full size (default: %(default)s)")
    what = parser.add_subparsers(dest="what", required=True)
    deciding = what.add_parser("decide", parents=[common])
    deciding.add_argument("--runs", type=int, default=5)
    for name in ("compare", "memory"):
        what.add_parser(name, parents=[common])
    for name in ("edit", "pages"):
        what.add_parser(name, parents=[common]).add_argument("--runs", type=int, default=5)
    storing = what.add_parser("store", parents=[common])
    storing.add_argument("--runs", type=int, default=5)
    storing.add_argument("--postgres", action="store_true", help="on a server of its own, not on SQLite")
    for name in ("history", "migrate"):
        reading = what.add_parser(name, parents=[common])
        reading.add_argument("--decisions", type=int, default=1_000_000, help="to be stored (default: %(default)s)")
        reading.add_argument("--days", type=int, default=730, help="over which they are spread (default: %(default)s)")
        reading.add_argument("--runs", type=int, default=40)
        reading.add_argument("--database", default="", help="postgres://...: one that is empty, or was filled before")
    clicking = what.add_parser("load", parents=[common])
    clicking.add_argument("--decisions", type=int, default=1_000_000, help="to be stored (default: %(default)s)")
    clicking.add_argument("--days", type=int, default=730, help="over which they are spread (default: %(default)s)")
    clicking.add_argument("--seconds", type=int, default=120, help="of clicking (default: %(default)s)")
    clicking.add_argument("--news", type=float, default=2.0, help="seconds between passes that find other usage")
    clicking.add_argument("--database", default="", help="postgres://...: one that is empty, or was filled before")
    everything = what.add_parser("all")
    everything.add_argument("--scale", type=float, default=1.0, help="of the full size (default: %(default)s)")
    everything.add_argument("--out", type=Path, help="where to write all figures, as JSON")
    everything.add_argument("parts", nargs="*", help="only these")
    many = what.add_parser("clusters", parents=[common])
    many.add_argument("--clusters", type=int, default=20)
    many.add_argument("--nodes", type=int, default=200, help="of each cluster, with 30 pods each")
    many.add_argument("--workers", type=int, default=3)
    many.add_argument("--seconds", type=int, default=120, help="of watching, before and after one is killed")
    many.add_argument("--rate", type=int, default=5, help="changes of pods a second in each (default: %(default)s)")
    many.add_argument("--sqlite", action="store_true", help="not on a PostgreSQL of its own")
    following = what.add_parser("follow", parents=[common])
    following.add_argument("--rate", type=int, default=RATE, help="changes of pods a second (default: %(default)s)")
    following.add_argument("--seconds", type=int, default=60, help="of following (default: %(default)s)")
    following.add_argument("--bare", action="store_true", help="without what the engine's worker loads beside")
    following.add_argument("--streamed", action="store_true", help="lists as streams, not by pages")
    following.add_argument("--pin", action="store_true", help="each process on a core of its own: for idle machines")
    following.add_argument("--seed", type=int, default=1)
    return parser


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in ("msgspec", "numpy", "urllib3")}}


def _told(row: Row) -> str:
    if "asked" in row:
        figures = f"median {row['median_ms']:g} ms, p95 {row['p95_ms']:g}, p99 {row['p99_ms']:g}"
        return f"{row['asked']:28} {figures}; {row['times']} times, {row['failed']} failed, {row['bytes']} bytes"
    if "p95_ms" in row:
        figures = f"median {row['median_ms']} ms, 95th percentile {row['p95_ms']}, of CPU {row['cpu_p95_ms']}"
        return f"{row['page']:30} {figures}, {row['runs']} runs"
    if "migration" in row:
        longest = f"{row['longest_s']} s {row['statement']}" if row["statement"] else ""
        return f"{row['migration']:40} {row['seconds']} s, {longest}, {row['locks'] or 'no lock that others wait for'}"
    if "median_ms" in row:
        figures = f"median {row['median_ms']} ms, from {row['min_ms']} to {row['max_ms']}"
        queries = f", {row['queries']} queries" if "queries" in row else ""
        return f"{row['scenario']:14} {figures}, {row['runs']} runs{queries}"
    if "act" in row:
        figures = f"server {row['server_cpu_ms']} ms of CPU, browser {row['browser_ms']} ms"
        clock = f"{row['clock_ms']} ms by the clock, {row['whole_ms']} until all is there"
        return f"{row['act']:14} {figures}, {clock}, {row['runs']} runs"
    return "\n".join(f"{name:26} {figure}" for name, figure in row.items())


if __name__ == "__main__":
    main()

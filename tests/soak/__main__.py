"""``python -m tests.soak --minutes 60 --seed 1``: the product under faults at random, and what became of it."""

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.soak.figures import Figures
from tests.soak.ground import ground
from tests.soak.plan import DATABASES
from tests.soak.running import Soak


def main() -> int:
    """1 where anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long faults go on (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the same faults and the same work (default: %(default)s)")
    parser.add_argument("--database", choices=DATABASES, default="sqlite", help="(default: %(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures there, as JSON")
    options = parser.parse_args()
    began, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="soak-"))
    print(f"seed {options.seed}, {options.minutes:g} minutes, {options.database}, logs in {folder}", flush=True)

    def say(sentence: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {sentence}", flush=True)

    figures = Figures(options.seed, options.database)
    with ground(folder, options.database) as found:
        say("it runs")
        Soak(found, figures, say).run(options.minutes)
    print(figures.table())
    if options.out is not None:
        options.out.write_text(json.dumps(figures.as_json(), indent=2) + "\n")
    if not figures.wrong:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

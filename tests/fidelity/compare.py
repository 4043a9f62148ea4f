"""Hold the engine against the real kube-scheduler on wild cases.

``python -m tests.fidelity.compare --seed 7 --cases 1000`` prints disagreements, and which features disagree how often;
the exit code is 1 if there is any. ``--only 7-42`` shows one case whole: nodes and pods in short, what the scheduler
says of each node, and our answer. ``--shrink`` takes from each case shown whatever the disagreement doesn't need.
"""

import argparse
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.cli import decide as offline
from tests.fidelity.agreement import disagreements
from tests.fidelity.generate import case, cases
from tests.fidelity.recorded import read
from tests.fidelity.recorder import record
from tests.fidelity.shrink import shrunk
from tests.fidelity.sketch import sketch

Manifest = dict[str, Any]
BATCH = 200


def answer(made: Manifest, *, unqueued: bool = False) -> Manifest:
    """Ours; with every pending pod in the scheduler's queue unless ``unqueued``."""
    pods = (one for one in made["objects"] if one["kind"] == "Pod")
    pending = [
        f"{one['metadata']['namespace']}/{one['metadata']['name']}" for one in pods if "nodeName" not in one["spec"]
    ]
    return offline.answer(json.dumps(made if unqueued else {**made, "queue": pending}).encode())


def differences(made: Manifest, recorded: Manifest, *, unqueued: bool = False) -> list[str]:
    """What of our answer to a case differs; an answer that fails is a difference too."""
    try:
        return disagreements(recorded, answer(made, unqueued=unqueued))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not the scheduler's answer
        return [f"{type(error).__name__}: {error}"]


@dataclass
class Comparison:
    """How many cases disagree, of which features; the first ``show`` are printed as they come."""

    show: int
    whole: bool = False
    shrink: bool = False
    unqueued: bool = False
    outcomes: Counter[str] = field(default_factory=Counter)
    had: Counter[str] = field(default_factory=Counter)
    disagreed: Counter[str] = field(default_factory=Counter)
    wrong: int = 0

    def run(self, wanted: Iterable[Manifest]) -> None:
        rest = iter(wanted)
        while batch := list(itertools.islice(rest, BATCH)):
            for made, recorded in zip(batch, record(batch, unqueued=self.unqueued), strict=True):
                self._count(made, recorded, differences(made, recorded, unqueued=self.unqueued))

    def _count(self, made: Manifest, recorded: Manifest, lines: list[str]) -> None:
        self.outcomes[recorded["outcome"]] += 1
        self.had.update(made["tags"])
        if lines:
            self.wrong += 1
            self.disagreed.update(made["tags"])
        if self.whole or (lines and self.wrong <= self.show):
            self._print(made, lines)

    def _print(self, made: Manifest, lines: list[str]) -> None:
        _write(f"{made['name']} {' '.join(made['tags'])}", *(f"  {line}" for line in lines[:5]))
        if self.shrink and lines:
            made = shrunk(made, lambda smaller: _sort(self._differs(smaller)) == _sort(lines))
            _write("  shrunk:", *(f"  {line}" for line in self._differs(made)))
        if self.whole or self.shrink:
            (recorded,) = record([made], unqueued=self.unqueued)
            _write(*sketch(made, recorded), *_ours(made))

    def _differs(self, made: Manifest) -> list[str]:
        (recorded,) = record([made], unqueued=self.unqueued)
        return differences(made, recorded, unqueued=self.unqueued)

    def summary(self) -> Iterator[str]:
        total = self.outcomes.total()
        yield f"{total - self.wrong} of {total} agree; recorded: {dict(self.outcomes.most_common())}"
        rates = sorted(((count / self.had[tag], tag) for tag, count in self.disagreed.items()), reverse=True)
        for rate, tag in rates[:12]:
            yield f"  {tag}: {self.disagreed[tag]} of {self.had[tag]} disagree ({rate:.0%})"


def _sort(lines: list[str]) -> str:
    """What kind of disagreement it is, so that shrinking doesn't end at another."""
    return lines[0].split()[0] if lines else ""


def _ours(made: Manifest) -> Iterator[str]:
    try:
        yield f"ours: {json.dumps(answer(made))}"
    except Exception as error:  # noqa: BLE001 - shown as it is
        yield f"ours: {type(error).__name__}: {error}"


def main() -> int:
    options = _options()
    whole, without = bool(options.only), set(options.without)
    comparison = Comparison(options.show, whole=whole, shrink=options.shrink, unqueued=options.unqueued)
    comparison.run(made for made in _wanted(options) if not without & set(made["tags"]))
    _write(*comparison.summary())
    return bool(comparison.wrong)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--show", type=int, default=20, help="disagreements to print")
    parser.add_argument("--only", help="one case, as 7-42")
    parser.add_argument("--file", type=Path, help="cases of this file instead, one JSON object a line, or gzipped")
    parser.add_argument("--without", nargs="*", default=[], metavar="TAG", help="pass over cases with these features")
    parser.add_argument("--shrink", action="store_true", help="take away what the disagreement doesn't need")
    parser.add_argument("--unqueued", action="store_true", help="see tests.fidelity.recorder.record")
    return parser.parse_args()


def _wanted(options: argparse.Namespace) -> Iterable[Manifest]:
    if options.file:
        return read(options.file)
    if options.only:
        seed, number = options.only.removeprefix("wild/").split("-")
        return [case(int(seed), int(number))]
    return cases(options.seed, options.cases)


def _write(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

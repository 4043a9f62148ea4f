"""The real kube-scheduler's decisions on cases: its own code, built once from the module that pins the control plane.

``python -m tests.fidelity.recorder < cases.jsonl`` writes for each case what the scheduler does, in the form of a
recorded case's ``expect``, and ``why`` each node was ruled out. The program is kept beside the control plane's.
"""

import fcntl
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.controlplane import binaries

SOURCES = binaries.HERE / "kube" / "recorder"

Manifest = dict[str, Any]


class RecorderError(Exception):
    """A case that the recorder can't decide. ``str()`` of it is a sentence."""


def program() -> Path:
    """Where the program is, or will be: under a name made of what it is built from."""
    sources = [SOURCES.parent / "go.mod", *sorted(SOURCES.glob("*.go"))]
    mark = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    return binaries.cache() / f"recorder-{mark}"


def build() -> Path:
    """Build the program if it is missing; who comes second waits. Raises subprocess.CalledProcessError."""
    wanted = program()
    wanted.parent.mkdir(parents=True, exist_ok=True)
    with (wanted.parent / ".recorder.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.is_file():
            binaries.compile_program("kube", "./recorder", wanted)
    return wanted


def record(cases: Iterable[Manifest], *, unqueued: bool = False) -> list[Manifest]:
    """What the scheduler does with each case, in their order. Raises RecorderError.

    ``unqueued``: pods nominated to nodes wait in no queue, as when a test harness only names them. The scheduler takes
    such a pod for one of priority 0 that asks for nothing.
    """
    answers: list[Manifest] = _ask(cases, *(["-unqueued"] if unqueued else []))
    return answers


def refused(cases: Iterable[Manifest]) -> list[list[str]]:
    """What of each case's objects an API server would not admit as it is. Raises RecorderError."""
    answers: list[list[str]] = _ask(cases, "-admission")
    return answers


def _ask(cases: Iterable[Manifest], *flags: str) -> list[Any]:
    wanted = list(cases)
    sent = "".join(json.dumps({k: v for k, v in case.items() if k != "expect"}) + "\n" for case in wanted)
    done = subprocess.run([str(build()), *flags], input=sent, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(wanted):
        raise RecorderError(f"{len(answers)} answers to {len(wanted)} cases: {done.stderr[-2000:]}")
    for case, answer in zip(wanted, answers, strict=True):
        if "error" in answer:
            raise RecorderError(f"{case['name']}: {answer['error']}")
    return answers


if __name__ == "__main__":
    for expect in record(json.loads(line) for line in sys.stdin):
        sys.stdout.write(json.dumps(expect) + "\n")

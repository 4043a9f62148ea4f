"""The recorded decisions of the real kube-scheduler in tests/data."""

import gzip
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from tests.runner.suites import sized

FOLDER = Path(__file__).parents[1] / "data" / "kube-scheduler"

Manifest = dict[str, Any]
Case = TypeVar("Case")


def read(path: Path) -> list[Manifest]:
    """The cases of one file, one JSON object a line, which may be gzipped."""
    written = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(written) if path.suffix == ".gz" else written).splitlines()]


def recorded_cases() -> list[Manifest]:
    """All of them."""
    return [case for path in sorted(FOLDER.glob("*.jsonl.gz")) for case in read(path)]


def some(cases: Iterable[Case]) -> Iterator[Case]:
    """Every fifth, and all in the suite ``worlds``: for what holds of any case, not for agreeing with what it says."""
    return islice(cases, 0, None, sized("worlds", usual=5, long=1))

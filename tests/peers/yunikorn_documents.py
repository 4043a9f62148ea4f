"""Random queues.yaml documents, most of which YuniKorn refuses, and what it says of each.

``python -m tests.peers.yunikorn_documents VALIDATOR`` asks YuniKorn's own validator, compares its answers with those of
the product, and keeps some of each kind for tests/fidelity.
"""

import gzip
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.formats.yunikorn.read import read
from engine.model.notes import ImportFailure
from engine.tree.lint import errors
from tests.engine.linted import under

RECORDED = Path(__file__).parents[1] / "data" / "yunikorn-documents.jsonl.gz"
SEED, COUNT, OF_A_KIND = 20261127, 20_000, 4
_VARIABLE = re.compile(r"[0-9]+|map\[.*?\]|'.*?'|\(.*?\)|(queue|user|group) \S+")

Mapping = dict[str, Any]
_NAMES = ("a", "b", "Prod", "x-1")
_AMOUNTS = (0, 1, 2, "3", "500m", "4", "1Gi", "2k", "5 ", "1.5", "-1", "x", "3Ki", "9223372036854775807", "8Ei", None)
_PLAIN = (1, 2, 3, 4, "500m", 6)
_USERS = ("ann", "bob", "*", "1x", "svc$", "a b", "dev.*")
_GROUPS = ("dev", "ops", "*", "a@b", "team:x")
_PATHS = ("root.a", "root.b", "a", "a.b", "root.a.b", "root.Prod", "root.prod.a", "new", "b.new", "root.a.a.b")


def documents(seed: int, count: int) -> list[Mapping]:
    """Return so many documents; the same for the same seed."""
    draw = random.Random(seed)
    return [_document(draw) for _ in range(count)]


def refusals(validator: str, texts: Iterable[str]) -> list[str]:
    """Return what YuniKorn says of each document; empty where it takes it."""
    sent = "".join(f"{json.dumps(text)}\n" for text in texts)
    done = subprocess.run([validator], input=sent, text=True, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def our_errors(text: str) -> list[str]:
    """Return what the product has against a document of YuniKorn's."""
    try:
        return [str(note) for note in errors(read(text).tree, under(), form="yunikorn")]
    except ImportFailure as failure:
        return [str(failure)]


def _document(draw: random.Random) -> Mapping:
    odd = draw.random() < 0.35
    partition: Mapping = {"name": "default", "queues": [_queue(draw, "root", 3, odd, root=True)]}
    if draw.random() < 0.5:
        partition["placementrules"] = [_rule(draw, 2) for _ in range(draw.randint(1, 2))]
    if draw.random() < 0.15:
        partition["limits"] = [_limit(draw, odd) for _ in range(draw.randint(1, 2))]
    if draw.random() < 0.1:
        partition["nodesortpolicy"] = draw.choice(
            [{"type": "fair"}, {"type": "fairest"}, {"type": "binpacking", "resourceweights": {"vcore": -1}}]
        )
    if odd and draw.random() < 0.2:
        partition[draw.choice(["usergroupresolver", "statedumpfilepath", "Limits", "preemption"])] = draw.choice(
            [{"type": "os"}, {"enabled": True}, {"enabled": "true"}, 3]
        )
    return {"partitions": [partition]}


def _queue(draw: random.Random, name: str, deep: int, odd: bool, *, root: bool = False) -> Mapping:
    found: Mapping = {"name": name}
    if draw.random() < 0.4:
        found["parent"] = draw.choice([True, True, "yes", "true", 1, False]) if odd else True
    if not root and draw.random() < 0.6:
        amounts = _AMOUNTS if odd and draw.random() < 0.3 else _PLAIN
        found["resources"] = {
            kind: {resource: draw.choice(amounts) for resource in ("vcore", "memory") if draw.random() < 0.5}
            for kind in ("guaranteed", "max")
            if draw.random() < 0.5
        }
    if draw.random() < 0.12:
        found["maxapplications"] = draw.choice([1, 2, 3, 0, -1, "2", 2.5]) if odd else draw.choice([2, 3])
    if draw.random() < 0.15:
        found["limits"] = [_limit(draw, odd) for _ in range(draw.randint(1, 3))]
    if odd and draw.random() < 0.1:
        found[draw.choice(["adminacl", "submitacl"])] = draw.choice(["*", "ann,bob dev", "ann bob dev", " a  b ", 3])
    if odd and draw.random() < 0.05:
        found[draw.choice(["max", "preemptionpolicy", "properties"])] = draw.choice([{"a": 1}, {"a": [1]}, 5])
    names = draw.sample(_NAMES, draw.randint(0, 2 if deep else 0))
    if names:
        found["queues"] = [_queue(draw, one, deep - 1, odd) for one in names]
    return found


def _limit(draw: random.Random, odd: bool) -> Mapping:
    found: Mapping = {"limit": "x"}
    for kind, names in (("users", _USERS), ("groups", _GROUPS)):
        if draw.random() < 0.6:
            found[kind] = draw.sample(names if odd else names[:3], draw.randint(1, 2))
    if draw.random() < 0.6:
        found["maxresources"] = {"vcore": draw.choice((0, 1, 2, 4) if odd else (1, 2))}
    if draw.random() < 0.6:
        found["maxapplications"] = draw.choice((0, 1, 2, 3))
    return found


def _rule(draw: random.Random, deep: int, *, above: bool = False) -> Mapping:
    kind = draw.choice(["fixed", "fixed", "tag", "user", "provided"])
    found: Mapping = {"name": kind}
    if kind == "fixed":
        paths = [path for path in _PATHS if not (path.startswith("root") and "parent" in found)]
        found["value"] = draw.choice(paths)
    if kind == "tag":
        found["value"] = "namespace"
    if draw.random() < 0.5:
        found["create"] = True
    if deep and not above and draw.random() < 0.4 and not str(found.get("value", "")).startswith("root"):
        found["parent"] = _rule(draw, deep - 1)
    return found


def _some(cases: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield a few of the cases for each thing that YuniKorn says."""
    kinds: Counter[str] = Counter()
    for text, refusal in cases:
        kind = _VARIABLE.sub("", refusal)
        kinds[kind] += 1
        if kinds[kind] <= OF_A_KIND * (1 if refusal else 50):
            yield text, refusal


def main(validator: str) -> int:
    """Compare, record, and report how many answers differ."""
    texts = [json.dumps(one) for one in documents(SEED, COUNT)]
    cases = list(zip(texts, refusals(validator, texts), strict=True))
    other = [(text, refusal) for text, refusal in cases if bool(refusal) != bool(our_errors(text))]
    for text, refusal in other:
        sys.stdout.write(f"{text}\n  YuniKorn: {refusal or 'takes it'}\n  here: {our_errors(text)}\n")
    lines = [json.dumps({"document": text, "refusal": refusal}) for text, refusal in _some(cases)]
    RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    sys.stdout.write(f"{len(cases)} documents, {len(other)} answers differ, {len(lines)} recorded\n")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

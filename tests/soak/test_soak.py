"""Faults at random for minutes: nobody goes twice, no law is broken, all recovers by itself, nothing stays open."""

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests import postgres
from tests.soak.checks import accepted, wrong_evictions
from tests.soak.plan import DATABASES, LEAST_S, MOST_S, QUEUES, every, moves, rounds

BASE = Path(__file__).parents[2]
MINUTES = os.environ.get("SOAK_MINUTES", "5")
SEED = os.environ.get("SOAK_SEED", "1")


@pytest.mark.e2e
@pytest.mark.suite("soak")
@pytest.mark.parametrize("database", DATABASES)
def test_the_product_comes_through_faults_at_random(tmp_path: Path, database: str) -> None:
    """The same seed as on any machine: ``make soak MINUTES=5`` does it again. SOAK_MINUTES and SOAK_SEED: others."""
    if database == "postgres" and postgres.programs() is None:
        pytest.skip("there is no PostgreSQL here")
    out = tmp_path / "figures.json"
    which = ["--minutes", MINUTES, "--seed", SEED, "--database", database, "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", *which], cwd=BASE, capture_output=True, text=True, check=False
    )
    told = f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    assert done.returncode == 0, told
    figures = json.loads(out.read_text())
    assert figures["wrong"] == [], told
    assert figures["evictions"] > 0, told
    assert figures["rounds"] > 0, told


@pytest.mark.parametrize("database", DATABASES)
def test_a_seed_is_a_plan(database: str) -> None:
    """The same faults and the same work each time; another seed is another plan."""
    assert [*islice(rounds(7, database), 100)] == [*islice(rounds(7, database), 100)]
    assert [*islice(rounds(7, database), 100)] != [*islice(rounds(8, database), 100)]
    assert [*islice(moves(7), 100)] == [*islice(moves(7), 100)]
    assert all(move.replicas in QUEUES[move.queue] for move in islice(moves(7), 100))


@pytest.mark.parametrize("database", DATABASES)
def test_every_fault_comes_before_any_comes_twice_more(database: str) -> None:
    """However short a soak is, it is of as many kinds as there is time for; two at once are of two parts."""
    known = every(database)
    planned = [*islice(rounds(3, database), 4 * len(known))]
    faults = [fault for one in planned for fault in one.faults]
    for times in (1, 2, 3):
        assert set(faults[: times * len(known)]) == set(known)
    assert all(LEAST_S <= one.lasts_s <= MOST_S for one in planned)
    assert all(len({fault.target for fault in one.faults}) == len(one.faults) for one in planned)
    assert any(len(one.faults) == 2 for one in planned)


def asked(name: str, **other: Any) -> dict[str, Any]:
    """An eviction as the API server's log has it."""
    return {"name": name, "uid": f"uid-{name}", "subresource": "eviction", "dry_run": False, "code": 201, **other}


def victim(name: str, queue: str = "root.test", ask_queue: str = "root.prod") -> dict[str, Any]:
    """A pod that a decision names."""
    return {"id": 1, "name": name, "uid": f"uid-{name}", "queue": queue, "ask_queue": ask_queue}


def test_trials_and_refusals_are_no_evictions() -> None:
    """Only what the API server took counts."""
    audit = [asked("a"), asked("b", dry_run=True), asked("c", code=429), asked("d", subresource="binding"), asked("a")]
    assert accepted(audit) == {("a", "uid-a"): 2}


def test_another_pod_of_that_name_is_another() -> None:
    """Names are made up at random, and there are not so many of them."""
    assert set(accepted([asked("a"), asked("a", uid="uid-later")]).values()) == {1}


@pytest.mark.parametrize(
    ("evicted", "victims", "refused", "want"),
    [
        ({"a": 1}, [victim("a")], 0, ""),
        ({"a": 2}, [victim("a")], 0, "told to go 2 times"),
        ({"a": 1, "b": 1}, [victim("a")], 0, "no decision knows of b (uid-b)"),
        ({}, [victim("a", queue="root.dev")], 0, "never has more than its guarantee"),
        ({}, [victim("a", ask_queue="root.test")], 0, "nothing is guaranteed"),
        ({}, [], 1, "1 decisions broke a law"),
    ],
)
def test_what_is_wrong_is_found(
    evicted: dict[str, int], victims: list[dict[str, Any]], refused: int, want: str
) -> None:
    """Each by itself; nothing else is complained of."""
    found = wrong_evictions(
        Counter({(name, f"uid-{name}"): times for name, times in evicted.items()}), victims, refused
    )
    assert len(found) == bool(want)
    assert want in "".join(found)

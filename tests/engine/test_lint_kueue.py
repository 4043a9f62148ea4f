"""What Kueue refuses of a tree that goes to it is an error here, before it is published."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.formats import kueue
from engine.model.notes import Severity
from engine.model.queue_tree import QueueTree, Take
from engine.tree.lint import errors, lint
from tests.builders import amounts, queue, tree
from tests.engine.linted import under
from tests.fidelity.recorded import read

DOCUMENTS = read(Path(__file__).parents[1] / "data" / "kueue-documents.jsonl.gz")
"""Trees as they were written at random, and what the real Kueue 0.19.2 said of them; empty: it takes them."""


@pytest.mark.parametrize("case", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_of_trees_at_random_it_refuses_those_that_the_real_one_does(case: dict[str, Any]) -> None:
    """All of them were written by us, and tried on it without changing anything."""
    found = errors(kueue.read(case["text"]).tree, under("cohort"), form="kueue")
    assert bool(found) == bool(case["refused"]), case["refused"]


def leaf(**settings: Any) -> QueueTree:
    """Two queues of one cohort, one of them with these settings."""
    one = msgspec.structs.replace(queue("4"), **settings)
    return tree({"company": queue(fence=True), "company.a": one, "company.b": queue("4")})


@pytest.mark.parametrize(
    "settings",
    [
        {"lendable": amounts("5")},
        {"take_borrowing": True, "take_reclaim": Take.NEVER},
        {"take_borrowing": True},
        {"weight": 1},
    ],
    ids=str,
)
def test_what_it_refuses_is_an_error_of_its_own_trees_alone(settings: dict[str, Any]) -> None:
    """Said once; of trees that it does not read it is a remark at most."""
    found = lint(leaf(**settings), under("cohort"), form="kueue")
    about = [note for note in found if note.field]
    assert [note.severity for note in about][:1] == [Severity.ERROR]
    assert len({note.field for note in about}) == len(about)
    assert not errors(leaf(**settings), under("cohort"))


@pytest.mark.parametrize("settings", [{"weight": 0}, {"weight": 2}, {"lendable": amounts("4")}], ids=str)
def test_what_it_takes_is_none(settings: dict[str, Any]) -> None:
    assert not errors(leaf(**settings), under("cohort"), form="kueue")


def test_a_limit_at_the_top_of_a_cohort_is_kept_by_us_alone() -> None:
    """There is nobody to borrow from: Kueue refuses to be told one."""
    top = msgspec.structs.replace(queue("8", fence=True), max=amounts("9"))
    written = kueue.write("", tree({"company": top, "company.a": queue("4")}))
    assert "borrowingLimit" not in written.text
    assert kueue.read(written.text).tree["root.company"].max == amounts("9")

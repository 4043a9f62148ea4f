"""What those may not change who change subtrees only, whatever they send."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.scopes import EVERYTHING, Scope
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.subtrees import outside
from tests.builders import queue, tree

EDITOR = Scope(namespaces=frozenset({"red"}), subtrees=frozenset({"root.red"}), given=frozenset({"root.red"}))
QUEUES = {
    "red": queue("10"),
    "red.a": queue("6", namespaces=("red",)),
    "red.b": queue("2"),
    "blue": queue("10"),
    "blue.a": queue("10"),
}
BEFORE = tree(QUEUES)
PATHS = st.sampled_from(["red", "red.a", "red.b", "red.b.c", "red.c", "redder", "blue", "blue.a", "blue.c"])
SETTINGS = st.builds(queue, st.integers(0, 9), max=st.sampled_from([None, 20]), fence=st.booleans())


def told(after: QueueTree, scope: Scope = EDITOR) -> list[tuple[str, str, str]]:
    """Path, field and sentence of each error."""
    return [(note.path, note.field, said(note)) for note in outside(BEFORE, after, scope)]


def places(after: QueueTree) -> list[tuple[str, str]]:
    """Path and field alone."""
    return [(path, field) for path, field, _sentence in told(after)]


@given(st.dictionaries(PATHS, SETTINGS))
def test_nothing_outside_ever_changes_unnoticed(changed: dict[str, object]) -> None:
    """A tree in which nothing is wrong leaves every queue but those below the top as it was."""
    after = tree({**QUEUES, **changed})
    if not told(after):
        assert {p: after[p] for p in after.queues if not p.startswith("root.red.")} == {
            p: BEFORE[p] for p in BEFORE.queues if not p.startswith("root.red.")
        }
        below = sum(after[p].guaranteed.get("cpu", 0) for p in after.queues if p.count(".") == 2 and ".red." in p)
        assert below <= BEFORE["root.red"].guaranteed["cpu"]


def test_who_changes_everything_is_told_nothing() -> None:
    """Admins."""
    assert told(tree({"red": queue("99")}), EVERYTHING) == []


def test_below_the_top_queues_are_changed_added_and_removed() -> None:
    """Within what the top is guaranteed."""
    assert told(tree({**QUEUES, "red.a": queue("3", namespaces=("red",)), "red.b": queue(), "red.c": queue("7")})) == []


def test_what_the_top_is_given_is_not_theirs() -> None:
    """Its guarantee, its max, its fence, whatever: the sentence says whose it is."""
    ((path, _field, sentence),) = told(tree({**QUEUES, "red": queue("12")}))
    assert (path, sentence) == (
        "root.red",
        "Only users who can change the parent queue can change this queue and its settings.",
    )
    assert places(tree({**QUEUES, "red": queue("10", fence=True)})) == [("root.red", "")]


def test_queues_outside_are_not_theirs() -> None:
    """Those that are sent are pointed at, those left out are not named."""
    assert places(tree({**QUEUES, "blue": queue("1"), "redder": queue()})) == [("root.blue", ""), ("root.redder", "")]
    without = {path: one for path, one in QUEUES.items() if path != "blue.a"}
    ((path, field, sentence),) = told(tree(without))
    assert (path, field) == ("", "queues")
    assert "blue" not in sentence


def test_guarantees_come_to_no_more_than_the_top_has() -> None:
    """As the nearest guarantee counts, they would be claimed from others."""
    after = tree({**QUEUES, "red.b": queue("5")})
    assert told(after) == [
        (
            "root.red.b",
            "guaranteed/cpu",
            "The guarantees below root.red would total 11 cpu. The total can't be more than 10.",
        )
    ]


@pytest.mark.parametrize("middle", [None, "1"])
def test_nor_do_they_deeper_down(middle: str | None) -> None:
    """Not even below a queue that itself says little."""
    after = tree({**QUEUES, "red.b": queue(middle), "red.b.c": queue("9")})
    assert ("root.red.b.c", "guaranteed/cpu") in places(after)


def test_what_is_not_guaranteed_at_the_top_is_nobodys_to_promise() -> None:
    """A resource that it says nothing of."""
    assert places(tree({**QUEUES, "red.b": queue({"cpu": "2", "example.com/gpu": 1})})) == [
        ("root.red.b", "guaranteed/example.com~1gpu")
    ]


def test_promises_of_before_may_stay_and_move() -> None:
    """Those above who promised too little at the top do not break what was there."""
    before = tree({"red": queue("1"), "red.a": queue("4"), "red.b": queue("4")})
    after = tree({"red": queue("1"), "red.a": queue("1"), "red.b": queue("7")})
    assert outside(before, after, EDITOR) == []


def test_preemption_is_not_turned_off_and_no_template_changed() -> None:
    """Both would take from others what the top leaves them. What an admin set so stays."""
    off = tree({**QUEUES, "red.b": queue("2", disabled=True)})
    assert places(off) == [("root.red.b", "preemption_policy")]
    assert outside(off, off, EDITOR) == []
    made = tree({**QUEUES, "red.b": queue("2", template=msgspec.structs.replace(queue("50"), path=""))})
    assert places(made) == [("root.red.b", "template")]


def test_namespaces_move_and_are_not_claimed() -> None:
    """From leaf to leaf; one that none of theirs had is not theirs to say."""
    moved = tree({**QUEUES, "red.a": queue("6"), "red.b": queue("2", namespaces=("red",))})
    assert told(moved) == []
    assert places(tree({**QUEUES, "red.b": queue("2", namespaces=("free",))})) == [("root.red.b", "namespaces")]

"""What differs between two trees, in words."""

import msgspec
from hypothesis import given

from engine.formats.tree_json.diff import ChangeKind, changes, describe_change
from engine.model.queue_tree import WEIGHT_ONE, QueueTree, Settings
from tests.builders import queue, tree
from tests.engine.strategies import growing_trees

BEFORE = {"prod": queue({"cpu": 40}), "prod.web": queue({"cpu": 10, "memory": "1Gi"}, delay_ms=30_000), "lab": queue()}


def told(before: QueueTree, after: QueueTree, moved: dict[str, str] | None = None) -> list[str]:
    """Every sentence about the difference."""
    return [str(one) for change in changes(before, after, moved) for one in describe_change(change)]


def test_a_changed_amount_is_told_from_what_to_what() -> None:
    """As people type amounts."""
    assert told(tree(BEFORE), tree(BEFORE | {"prod": queue({"cpu": "60500m"})})) == [
        "root.prod: guaranteed cpu 40 → 60500m"
    ]


def test_settings_that_come_and_go_are_told_so() -> None:
    """Not as changes from or to an empty text."""
    after = tree(BEFORE | {"prod.web": queue({"cpu": 10}, fence=True, max={"cpu": 20})})
    assert told(tree(BEFORE), after) == [
        "root.prod.web: preemption policy set to fence",
        "root.prod.web: max cpu set to 20",
        "root.prod.web: guaranteed memory 1Gi removed",
        "root.prod.web: delay 30s removed",
    ]


def test_a_weight_is_told_against_the_one_that_all_have() -> None:
    """Nobody has to know that what says nothing weighs 1."""
    after = tree(BEFORE | {"lab": queue(weight=2 * WEIGHT_ONE, lendable={"cpu": 0}, take_borrowing=False)})
    assert told(tree(BEFORE), after) == [
        "root.lab: weight 1 → 2",
        "root.lab: lendable cpu set to 0",
        "root.lab: take borrowing set to false",
    ]
    assert told(after, tree(BEFORE))[0] == "root.lab: weight 2 → 1"


def test_a_template_is_told_setting_by_setting() -> None:
    """One that sets nothing is told too: it stands before that of the queue above."""
    lab = queue(template=Settings(guaranteed={"cpu": 2_000}, delay_ms=5_000))
    assert told(tree(BEFORE), tree(BEFORE | {"lab": lab})) == [
        "root.lab: template guaranteed cpu set to 2",
        "root.lab: template delay set to 5s",
    ]
    assert told(tree(BEFORE), tree(BEFORE | {"lab": queue(template=Settings())})) == ["root.lab: template set to {}"]


def test_queues_that_come_and_go_are_told_with_what_they_have() -> None:
    """The new first, where they stand; the removed last."""
    after = tree(
        {"prod": BEFORE["prod"], "prod.api": queue({"cpu": 1}, fence=True, namespaces=("x", "y")), "lab": queue()}
    )
    assert told(tree(BEFORE), after) == [
        "root.prod.api added: preemption policy fence, guaranteed cpu 1, namespaces x, y",
        "root.prod.web removed",
    ]


def test_a_moved_queue_is_one_queue_and_takes_those_below_with_it() -> None:
    """Known by what it was, not told as removed and added; nothing happened to its children."""
    after = tree({"lab": queue(), "lab.live": queue({"cpu": 40}), "lab.live.web": BEFORE["prod.web"]})
    moved = {"root.lab.live": "root.prod", "root.lab.live.web": "root.prod.web"}
    assert told(tree(BEFORE), after, moved) == ["root.prod moved to root.lab.live"]


@given(growing_trees(), growing_trees())
def test_trees_are_the_same_exactly_when_nothing_is_told(one: QueueTree, other: QueueTree) -> None:
    """Whatever differs is told, and only that."""
    assert (changes(one, other) == ()) == (one.queues == other.queues)
    assert changes(one, one) == ()


@given(growing_trees(), growing_trees())
def test_the_way_back_tells_the_same_backwards(one: QueueTree, other: QueueTree) -> None:
    """Added against removed, before against after."""
    there = {(c.path, s.field, s.resource): (s.before, s.after) for c in changes(one, other) for s in c.settings}
    back = {(c.path, s.field, s.resource): (s.after, s.before) for c in changes(other, one) for s in c.settings}
    assert there == back


def test_changes_do_not_depend_on_the_order_of_the_document() -> None:
    """Siblings in another order are the same tree."""
    shape = tree(BEFORE)
    assert changes(shape, QueueTree(reversed(shape.queues.values()))) == ()
    assert changes(shape, tree({"new": queue()}))[0].kind is ChangeKind.ADDED
    assert msgspec.json.encode(changes(shape, shape)) == b"[]"

"""What lint says of how queues lend and take, and what it leaves in peace."""

from typing import Any

import pytest

from engine.formats import kueue
from engine.model.placement_rules import Rule, RuleName
from engine.model.queue_tree import WEIGHT_ONE, Queue, Take
from engine.tree.lint import lint
from tests.builders import amounts, queue
from tests.engine.linted import findings, under
from tests.engine.test_kueue_objects import DOCUMENT

B = queue(2)


def said(queues: dict[str, Queue], *rules: Rule, **terms: str) -> list[str]:
    """The findings about lending and taking alone."""
    fields = ("weight", "lendable", "take_")
    return [one for one in findings(queues, None, *rules, **terms) if one.split()[2].startswith(fields)]


@pytest.mark.parametrize(
    ("queues", "finding"),
    [
        ({"a": queue(2, lendable=amounts({"cpu": 3})), "b": B}, "warning root.a lendable/cpu: Lendable cpu 3 exceeds"),
        ({"a": queue(lendable=amounts({"cpu": 1})), "b": B}, "warning root.a lendable/cpu: Lendable cpu 1 exceeds"),
        ({"a": queue(2, lendable={"cpu": 0})}, "warning root.a lendable/cpu: Its lendable amount has no effect"),
        (
            {"a": queue(2, fence=True, lendable={"cpu": 0}), "b": B},
            "warning root.a lendable/cpu: Its lendable amount has no effect",
        ),
        (
            {"t": queue(fence=True), "t.a": queue(2, lendable={"cpu": 0}), "b": B},
            "warning root.t.a lendable/cpu: Its lendable amount has no effect",
        ),
        ({"a": queue(2, weight=2 * WEIGHT_ONE)}, "warning root.a weight: Its weight has no effect"),
        ({"root": queue(weight=0), "a": B, "b": B}, "warning root weight: Its weight has no effect"),
        (
            {"a": queue(2, weight=WEIGHT_ONE // 2), "b": queue(2, fence=True)},
            "warning root.a weight: Its weight has no",
        ),
        ({"a": queue(2, weight=0), "b": B}, "info root.a weight: With a weight of 0, everything it borrows counts"),
        (
            {"t": queue(take_within=Take.NEVER), "t.a": B, "b": B},
            "warning root.t take_within: Preemption settings have no effect",
        ),
        (
            {"t": queue(take_borrowing=False), "t.a": B, "b": B},
            "warning root.t take_borrowing: Preemption settings have no effect",
        ),
        (
            {"a": queue(2, take_reclaim=Take.NEVER, take_borrowing=True), "b": B},
            "warning root.a take_borrowing: It does not preempt other queues",
        ),
        (
            {"a": queue(2, take_threshold=5, take_borrowing=False), "b": B},
            "warning root.a take_threshold: The highest priority preempted while borrowing",
        ),
    ],
)
def test_what_has_no_effect_or_another_one_is_said(queues: dict[str, Queue], finding: str) -> None:
    """By Kueue's policies too; by priority alone nothing is lent."""
    for policy in ("fence", "fair-share"):
        [found] = said(queues, policy=policy)
        assert found.startswith(finding), found
    assert said(queues, policy="priority") == []


@pytest.mark.parametrize(
    "settings",
    [
        {"lendable": {"cpu": 0}},
        {"lendable": amounts({"cpu": 2})},
        {"weight": 2 * WEIGHT_ONE},
        {"take_within": Take.LOWER_PRIORITY, "take_reclaim": Take.ANY, "take_borrowing": True, "take_threshold": 0},
        {"take_reclaim": Take.NEVER, "take_borrowing": False},
        {"take_threshold": 5},
    ],
)
def test_what_does_what_it_says_is_left_in_peace(settings: dict[str, Any]) -> None:
    """A leaf beside another one."""
    assert said({"a": queue(2, **settings), "b": B}) == []


def test_a_parent_lends_what_is_promised_below_it() -> None:
    """More than its own guarantee; and a leaf that is alone below it lends to those beside its parent."""
    shape = {"t": queue(lendable=amounts({"cpu": 2})), "t.a": queue(2, lendable=amounts({"cpu": 1})), "b": B}
    assert said(shape) == []


def test_a_queue_that_others_may_come_to_stand_beside_shares_with_those() -> None:
    """As placement rules make them."""
    alone = {"t": queue(parent_declared=True), "t.a": queue(2, weight=0, lendable={"cpu": 0})}
    make = Rule(name=RuleName.TAG, value="namespace", create=True, parent=Rule(name=RuleName.FIXED, value="t"))
    assert len(said(alone)) == 2
    assert [one.partition(":")[0] for one in said(alone, make)] == ["info root.t.a weight"]


def test_kueues_own_example_has_but_the_weight_that_nothing_shares() -> None:
    """Its only cohort is compared with no other."""
    found = [
        note for note in lint(kueue.read(DOCUMENT).tree, under()) if note.field.startswith(("weight", "lend", "take"))
    ]
    assert [(note.path, note.field) for note in found] == [("root.research", "weight")]

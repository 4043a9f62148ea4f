"""Who may preempt whom by the tree alone: what is said is what policy ``fence`` does."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain import border_clause, border_label
from engine.formats import yunikorn
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, Queue, QueueTree
from engine.tree.reach import BY_SHARES, Border, BorderReason, border
from tests.builders import queue, tree
from tests.derived import pairs
from tests.properties import examples

EXAMPLE = tree(
    {
        "system": queue("2"),
        "tenant-1": queue("4", fence=True),
        "tenant-1.queue-b": queue("2"),
        "tenant-1.training": queue("2"),
        "tenant-2": queue("4", fence=True),
        "tenant-2.queue-1": queue("2"),
        "tenant-2.queue-2": queue("2"),
        "queue-a": queue("2", fence=True),
    }
)
"""The fence example of the design document."""


def said(of: QueueTree) -> dict[tuple[str, str], bool]:
    """Every pair as reach has it."""
    return {(one, other): border(of, one, other).allowed for one in of.leaves for other in of.leaves}


def between(of: QueueTree, asker: str, victim: str) -> tuple[str, str]:
    """Reason and queue, both without the root."""
    found = border(of, f"root.{asker}", f"root.{victim}")
    return found.reason.value, found.queue.removeprefix("root.")


def test_by_shares_fences_and_what_is_turned_off_alone_are_in_the_way() -> None:
    """Nothing has to be guaranteed, and no priority ranks above another."""
    ranked = queue(priority_policy=PriorityPolicy.FENCE, priority_offset=9)
    where = tree({"a": queue(), "f": queue(fence=True), "f.b": queue(), "off": queue(disabled=True), "high": ranked})
    leaves = where.leaves
    open_ = {(one, other) for one in leaves for other in leaves if BY_SHARES.border(where, one, other).allowed}
    assert {f"{one} {other}".replace("root.", "") for one, other in open_} == {
        "a f.b", "a high", "high a", "high f.b",
    }  # fmt: skip
    assert BY_SHARES.border(where, "root.f.b", "root.a").reason is BorderReason.FENCE
    assert BY_SHARES.border(where, "root.a", "root.off").reason is BorderReason.DISABLED
    assert border(where, "root.a", "root.high").reason is BorderReason.NO_GUARANTEE


def test_the_designs_example_is_what_the_policy_does() -> None:
    """Each tenant within itself, queue-a nowhere, system everywhere."""
    found = said(EXAMPLE)
    assert found == pairs(EXAMPLE)
    assert [f"{one} {other}".replace("root.", "") for (one, other), open_ in found.items() if open_] == [
        "system tenant-1.queue-b",
        "system tenant-1.training",
        "system tenant-2.queue-1",
        "system tenant-2.queue-2",
        "system queue-a",
        "tenant-1.queue-b tenant-1.training",
        "tenant-1.training tenant-1.queue-b",
        "tenant-2.queue-1 tenant-2.queue-2",
        "tenant-2.queue-2 tenant-2.queue-1",
    ]


def test_the_demos_tree_is_what_the_policy_does() -> None:
    """The tree that newcomers see."""
    of = yunikorn.read(Path("demo/queues.yaml").read_text(encoding="utf-8")).tree
    assert said(of) == pairs(of)


SEEDS = st.integers(0, 2**32)


@given(SEEDS)
@examples(40)
def test_any_tree_is_what_the_policy_does(seed: int) -> None:
    """Fences, disabled queues, guarantees and maxima of any resource at any level, priority fences and offsets."""
    of = grown(Random(seed))
    assert said(of) == pairs(of)


def grown(random: Random) -> QueueTree:
    """A tree of two to six leaves, at most four deep."""
    queues = [_queue(random, "root")]
    leaves = random.randint(2, 6)
    while sum(not any(each.path.startswith(f"{one.path}.") for each in queues) for one in queues) < leaves:
        above = random.choice([each.path for each in queues if each.path.count(".") < 4])
        queues += [_queue(random, f"{above}.{len(queues)}{letter}") for letter in "ab"]
    return QueueTree(queues)


def _queue(random: Random, path: str) -> Queue:
    policies = [PreemptionPolicy.DEFAULT] * 6 + [PreemptionPolicy.FENCE] * 2 + [PreemptionPolicy.DISABLED]
    ranked = random.random() < 0.15
    return Queue(
        path=path,
        guaranteed=_amounts(random, {"cpu": 0.5, "memory": 0.3, "pods": 0.12}, (0, 1, 2, 2)),
        max=_amounts(random, {"cpu": 0.1, "memory": 0.1, "pods": 0.1}, (0, 1, 2, 3)),
        preemption_policy=random.choice(policies),
        priority_policy=PriorityPolicy.FENCE if ranked else PriorityPolicy.DEFAULT,
        priority_offset=random.choice([0, 0, 1, -1]),
    )


def _amounts(random: Random, likely: dict[str, float], amounts: tuple[int, ...]) -> dict[str, int]:
    return {name: random.choice(amounts) for name, chance in likely.items() if random.random() < chance}


@pytest.mark.parametrize(
    ("asker", "victim", "reason", "about"),
    [
        ("tenant-1.training", "tenant-1.queue-b", "same-fence", "tenant-1"),
        ("tenant-1.training", "system", "fence", "tenant-1"),
        ("tenant-1.training", "tenant-1.training", "same-queue", "tenant-1.training"),
        ("system", "tenant-2.queue-1", "no-fence", "tenant-2"),
        ("system", "queue-a", "no-fence", "queue-a"),
        ("queue-a", "system", "leaf-fence", "queue-a"),
    ],
)
def test_the_border_says_why_and_names_its_queue(asker: str, victim: str, reason: str, about: str) -> None:
    """In the design's example."""
    assert between(EXAMPLE, asker, victim) == (reason, about)


def test_without_any_fence_no_queue_is_named() -> None:
    """Nothing lies between them."""
    assert between(tree({"a": queue("1"), "b": queue()}), "a", "b") == ("no-fence", "")


def test_what_is_disabled_neither_takes_nor_gives() -> None:
    """The queue that says so is named on either side."""
    of = tree({"off": queue(disabled=True), "off.c": queue("1"), "b": queue("1")})
    assert between(of, "off.c", "b") == between(of, "b", "off.c") == ("disabled", "off")


@pytest.mark.parametrize("settings", [{}, {"guaranteed": "0"}, {"guaranteed": "2", "max": "0"}])
def test_without_a_guarantee_to_claim_nothing_is_taken(settings: dict[str, str]) -> None:
    """None at all, one of nothing, or one that its own max lets it have nothing of."""
    assert between(tree({"a": queue(**settings), "b": queue()}), "a", "b") == ("no-guarantee", "a")


def test_a_guarantee_of_both_is_nothing_to_take_from_each_other() -> None:
    """Siblings that live on their parent's guarantee alone; outsiders may still be taken from."""
    of = tree({"t": queue("8"), "t.a": queue(), "t.b": queue({"memory": "1Gi"}), "s": queue()})
    assert between(of, "t.a", "t.b") == ("shared-guarantee", "t")
    assert between(of, "t.a", "s") == ("no-fence", "")
    assert between(of, "t.b", "t.a") == ("no-fence", "")


def test_of_several_shared_guarantees_the_nearest_is_named() -> None:
    """That one decides for the resource that it is of."""
    of = tree({"t": queue({"memory": "8Gi"}), "t.u": queue("8"), "t.u.a": queue(), "t.u.b": queue()})
    assert between(of, "t.u.a", "t.u.b") == ("shared-guarantee", "t.u")


def test_a_guarantee_of_pods_is_claimed_by_every_ask() -> None:
    """Even one that wants nothing else."""
    of = tree({"t": queue({"pods": 5}), "t.a": queue("2"), "t.b": queue()})
    assert between(of, "t.a", "t.b") == ("shared-guarantee", "t")
    of = tree({"a": queue({"cpu": 2, "pods": 0}), "b": queue()})
    assert between(of, "a", "b") == ("no-guarantee", "a")


def test_a_priority_fence_may_rank_above_all_that_an_asker_can_say() -> None:
    """Only where the asker's own priorities are fenced, too."""
    fenced = PriorityPolicy.FENCE
    of = tree(
        {
            "a": queue("1", priority_policy=fenced),
            "free": queue("1"),
            "b": queue(priority_policy=fenced, priority_offset=5),
        }
    )
    assert between(of, "a", "b") == ("priority-fence", "b")
    assert between(of, "free", "b") == ("no-fence", "")


def test_offsets_on_the_way_down_to_a_priority_fence_count() -> None:
    """Seven, less the three of t, is below five."""
    fenced = {"priority_policy": PriorityPolicy.FENCE}
    below = queue(**fenced, priority_offset=5)
    of = tree({"a": queue("1", **fenced, priority_offset=7), "t": queue(priority_offset=3), "t.b": below, "b": below})
    assert between(of, "a", "t.b") == ("priority-fence", "t.b")
    assert between(of, "a", "b") == ("no-fence", "")
    assert said(of) == pairs(of)


def test_every_reason_is_said_in_a_word_and_in_a_clause() -> None:
    """With the queues' own names in it."""
    for reason in BorderReason:
        found = Border(preemptor="root.t.a", victim="root.t.b", reason=reason, queue="root.t.q")
        clause = border_clause(found)
        assert "root." not in str(clause)
        assert border_label(reason).id
    unfenced = border_clause(Border(preemptor="root.a", victim="root.b", reason=BorderReason.NO_FENCE, queue=""))
    assert str(unfenced) == "the requesting queue has no fence"


def test_a_max_that_is_promised_away_leaves_no_room() -> None:
    """Of two pods at most, two are the victim's."""
    of = tree({"root": queue(max={"pods": 2}), "a": queue("1"), "b": queue({"pods": 2})})
    assert border(of, "root.a", "root.b") == Border(
        preemptor="root.a", victim="root.b", reason=BorderReason.OVER_MAX, queue="root"
    )

"""Percentages: what they come to, that they never come to more than they are of, and that they are kept as typed."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import yunikorn
from engine.formats.tree_json.amounts import AmountError
from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.formats.tree_json.diff import changes, describe_change
from engine.formats.tree_json.document import read_form, write_form
from engine.formats.tree_json.percentages import PercentageBase, read_share, write_share
from engine.model.queue_tree import QueueTree
from engine.tree.lint import lint
from engine.tree.lint.room import ClusterRoom
from tests.engine.linted import under

CLUSTER = PercentageBase({"cpu": 100_000, "memory": 2**30})


def read(*queues: dict[str, Any], capacity: PercentageBase = CLUSTER, beside: Any = None) -> QueueTree:
    """The tree of a document in which nothing is wrong, with a root unless one is given."""
    root = [] if any(queue["path"] == "root" for queue in queues) else [{"path": "root"}]
    members = {"capacity": beside} if beside else {}
    reading = read_form({"queues": [*root, *queues], **members}, capacity)
    assert (reading.notes, reading.tree is None) == ((), False)
    assert reading.tree is not None
    return reading.tree


def wrong(*queues: dict[str, Any], capacity: PercentageBase = CLUSTER) -> list[tuple[str, str, str]]:
    """Where something is wrong, and what."""
    reading = read_form({"queues": [{"path": "root"}, *queues]}, capacity)
    return [(note.path, note.field, note.text) for note in reading.notes]


class TestWhatTheyComeTo:
    """Of what the nearest queue above sets for the same; where none does, of the cluster; rounded down."""

    def test_of_the_nearest_queue_above_that_sets_it(self) -> None:
        tree = read(
            {"path": "root.a", "guaranteed": {"cpu": "80"}, "max": {"cpu": "10"}},
            {"path": "root.a.b", "guaranteed": {"memory": "1Gi"}},
            {"path": "root.a.b.c", "guaranteed": {"cpu": "40%", "memory": "12.5 %"}},
        )
        assert tree["root.a.b.c"].guaranteed == {"cpu": 32_000, "memory": 2**27}
        assert tree["root.a.b.c"].guaranteed_share == {"cpu": 40_000, "memory": 12_500}
        assert tree.capacity == {}

    def test_of_the_cluster_where_none_does(self) -> None:
        tree = read({"path": "root.a", "max": {"cpu": "12.5%"}})
        assert (tree["root.a"].max, tree.capacity) == ({"cpu": 12_500}, {"cpu": 100_000})

    def test_of_what_another_share_came_to(self) -> None:
        tree = read({"path": "root.a.b", "max": {"cpu": "50%"}}, {"path": "root.a", "max": {"cpu": "50%"}})
        assert tree["root.a.b"].max == {"cpu": 25_000}

    def test_rounded_down_to_the_unit(self) -> None:
        tree = read({"path": "root.a", "max": {"gpu": "7"}}, {"path": "root.a.b", "max": {"gpu": "33.333%"}})
        assert tree["root.a.b"].max == {"gpu": 2}

    def test_in_a_template_of_what_its_queue_sets(self) -> None:
        tree = read({"path": "root.a", "max": {"cpu": "10"}, "template": {"max": {"cpu": "25%"}}})
        template = tree["root.a"].template
        assert template is not None
        assert (template.max, template.max_share) == ({"cpu": 2500}, {"cpu": 25_000})

    def test_the_document_itself_may_say_what_the_cluster_holds(self) -> None:
        tree = read({"path": "root.a", "max": {"cpu": "50%"}}, capacity=PercentageBase(), beside={"cpu": "8"})
        assert (tree["root.a"].max, tree.capacity) == ({"cpu": 4000}, {"cpu": 8000})


class TestWhatCanNotBe:
    """Each is an error at its field, told once."""

    @pytest.mark.parametrize("text", ["40.1234%", "-1%", "%", "4 0%", "1e2%", "1234567%", "٤%"])
    def test_no_percentage(self, text: str) -> None:
        ((path, field, said),) = wrong({"path": "root.a", "max": {"cpu": text}})
        assert (path, field) == ("root.a", "max/cpu")
        assert said == f"{text} is not a valid percentage. Use at most three decimals, for example 12.5%."

    def test_of_nothing_that_is_known(self) -> None:
        ((_path, field, said),) = wrong({"path": "root.a", "max": {"nvidia.com/gpu": "50%"}})
        assert field == "max/nvidia.com~1gpu"
        assert "the capacity of the cluster is unknown" in said

    def test_of_clusters_that_hold_different_amounts(self) -> None:
        two = PercentageBase.of([{"cpu": 8000, "gpu": 1}, {"cpu": 9000, "gpu": 1}])
        ((_path, _field, said),) = wrong({"path": "root.a", "max": {"cpu": "50%", "gpu": "100%"}}, capacity=two)
        assert "the clusters that use this tree have different capacities" in said

    def test_what_is_of_a_mistyped_amount_waits_for_it(self) -> None:
        found = wrong(
            {"path": "root.a", "max": {"cpu": "many"}},
            {"path": "root.a.b", "max": {"cpu": "50%"}},
            {"path": "root.a.b.c", "max": {"cpu": "50%"}},
        )
        assert [(path, field) for path, field, _said in found] == [("root.a", "max/cpu")]

    def test_too_large(self) -> None:
        ((path, _field, said),) = wrong(
            {"path": "root.a", "max": {"memory": str(2**62)}}, {"path": "root.a.b", "max": {"memory": "999999%"}}
        )
        assert (path, "too large" in said) == ("root.a.b", True)

    def test_a_share_of_the_cluster_is_of_an_amount(self) -> None:
        reading = read_form({"queues": [{"path": "root"}], "capacity": {"cpu": "5%"}})
        assert [note.field for note in reading.notes] == ["capacity/cpu"]

    @pytest.mark.parametrize(("text", "share"), [("40%", 40_000), ("12.50 %", 12_500), ("0.001%", 1), ("0%", 0)])
    def test_it_is_written_as_short_as_it_can_be(self, text: str, share: int) -> None:
        assert read_share(text) == share
        assert read_share(write_share(share)) == share
        with pytest.raises(AmountError):
            read_share(text.replace("%", ""))


class TestKeptAsTyped:
    """The tree holds what was typed beside what it came to."""

    def test_the_diff_tells_both(self) -> None:
        queues = [{"path": "root.a", "max": {"cpu": "10"}}, {"path": "root.a.b", "max": {"cpu": "40%"}}]
        before, after = read(*queues), read({"path": "root.a", "max": {"cpu": "20"}}, queues[1])
        said = [str(message) for change in changes(before, after) for message in describe_change(change)]
        assert said == ["root.a: max cpu 10 → 20", "root.a.b: max cpu 40% = 4 → 40% = 8"]

    def test_a_queues_yaml_has_the_amounts(self) -> None:
        tree = read({"path": "root.a", "max": {"cpu": "40%"}})
        assert "vcore: '40'" in yunikorn.write(None, tree)
        assert "%" not in yunikorn.write(None, tree)

    def test_lint_says_where_the_cluster_holds_another_amount_by_now(self) -> None:
        tree = read({"path": "root.a", "max": {"cpu": "40%"}})
        assert not [
            note for note in lint(tree, under(), ClusterRoom(CLUSTER.amounts)) if "Percentages" in note.message.id
        ]
        (note,) = [
            note for note in lint(tree, under(), ClusterRoom({"cpu": 120_000})) if "Percentages" in note.message.id
        ]
        assert (note.path, note.field) == ("root", "capacity/cpu")
        assert (note.message.params["then"], note.message.params["capacity"]) == ("100", "120")

    def test_only_a_tree_with_shares_is_of_the_form_that_has_them(self) -> None:
        with_template = read({"path": "root.a", "template": {"max": {"cpu": "1%"}}})
        for tree in (read({"path": "root.a", "max": {"cpu": "1%"}}), with_template):
            assert b'"form":3' in encode_tree(tree)
        assert b'"form":1' in encode_tree(read({"path": "root.a", "max": {"cpu": "1"}}))


SHARES = st.integers(0, 100_000)
AMOUNTS = st.integers(0, 10**7)


@st.composite
def documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Queues of a tree in some order, with shares and amounts of cpu; shares below one queue are at most 100 %."""
    queues: list[dict[str, Any]] = [{"path": "root"}]
    for above in ("root", "root.q0", "root.q1", "root.q0.q0"):
        if all(queue["path"] != above for queue in queues):
            continue
        left = 100_000
        for number in range(draw(st.integers(0, 3))):
            share = draw(st.integers(0, left))
            left -= share
            text = write_share(share) if draw(st.booleans()) else f"{draw(AMOUNTS)}m"
            settings: dict[str, Any] = {"guaranteed": {"cpu": text}} if draw(st.booleans()) else {}
            queues.append({"path": f"{above}.q{number}", **settings})
    return queues


@given(whole=AMOUNTS, parts=st.lists(SHARES, max_size=6))
def test_shares_of_a_hundred_percent_never_come_to_more(whole: int, parts: list[int]) -> None:
    """Whatever they are of, and however they are cut."""
    fitting = []
    for part in parts:
        fitting += [part] if sum(fitting) + part <= 100_000 else []
    below = [{"path": f"root.a.q{n}", "max": {"cpu": write_share(part)}} for n, part in enumerate(fitting)]
    tree = read({"path": "root.a", "max": {"cpu": f"{whole}m"}}, *below)
    assert sum(tree[queue["path"]].max["cpu"] for queue in below) <= whole


@given(queues=documents())
def test_what_is_written_is_read_back(queues: list[dict[str, Any]]) -> None:
    """In our own form, without knowing the cluster, and in the canonical one."""
    tree = read(*queues)
    again = read_form(write_form(tree)).tree
    assert again is not None
    assert (again.queues, again.capacity) == (tree.queues, tree.capacity)
    assert encode_tree(decode_tree(encode_tree(tree))) == encode_tree(tree)


@given(queues=documents(), seed=st.randoms(use_true_random=False))
def test_the_order_of_queues_does_not_matter(queues: list[dict[str, Any]], seed: random.Random) -> None:
    """To the byte."""
    shuffled = seed.sample(queues, len(queues))
    assert encode_tree(read(*shuffled)) == encode_tree(read(*queues))

"""The queue tree answers who is above whom, what is inherited and what is not."""

import pytest

from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.model.queue_tree import DEFAULT_DELAY_MS, Queue, QueueTree, Settings, TreeError
from tests.builders import queue, tree

TENANTS = tree(
    {
        "tenant": queue("4", fence=True),
        "tenant.a": queue({"memory": "1Gi"}, namespaces=("team-a", "shared")),
        "tenant.b": queue(fence=True, delay_ms=5, namespaces=("shared",)),
        "off": queue(disabled=True),
        "off.c": queue(),
        "empty": queue(parent_declared=True),
    }
)


@pytest.mark.parametrize(
    ("paths", "sentence"),
    [
        (["root", "root.a", "root.a"], "queue root.a is given twice"),
        (["root", "root.a.b"], "queue root.a.b has no parent root.a"),
        (["root", "other"], "a tree has one root queue, this one has 2"),
        ([], "a tree has one root queue, this one has 0"),
    ],
)
def test_what_is_no_tree_is_refused_by_name(paths: list[str], sentence: str) -> None:
    """The sentence names the queue."""
    with pytest.raises(TreeError) as error:
        QueueTree(Queue(path=path) for path in paths)
    assert str(error.value) == sentence


def test_leaves_are_where_pods_run() -> None:
    """A queue with queues below it, or declared a parent, is none."""
    assert TENANTS.leaves == ("root.tenant.a", "root.tenant.b", "root.off.c")
    assert not TENANTS.is_leaf("root.empty")
    assert "root.off.c" in TENANTS
    assert "root.nowhere" not in TENANTS


def test_names_and_parents_come_from_the_path() -> None:
    """The root has no parent."""
    assert (TENANTS["root.tenant.a"].name, TENANTS["root.tenant.a"].parent) == ("a", "root.tenant")
    assert (TENANTS["root"].name, TENANTS["root"].parent) == ("root", None)


def test_the_first_leaf_that_claims_a_namespace_has_it() -> None:
    """By its path."""
    assert TENANTS.leaf_by_namespace == {"team-a": "root.tenant.a", "shared": "root.tenant.a"}


def test_which_leaf_that_is_does_not_depend_on_the_order_in_which_queues_are_given() -> None:
    """What is sent in any order is published, and enforced, in the order of paths."""
    turned = QueueTree(reversed(TENANTS.queues.values()))
    assert turned.leaf_by_namespace == TENANTS.leaf_by_namespace
    assert decode_tree(encode_tree(turned)).leaf_by_namespace == turned.leaf_by_namespace


def test_walking_goes_from_parents_to_children() -> None:
    """Siblings in the order given, or one subtree alone."""
    assert list(TENANTS.walk("root.tenant")) == ["root.tenant", "root.tenant.a", "root.tenant.b"]
    assert next(iter(TENANTS.walk())) == "root"
    assert set(TENANTS.walk()) == set(TENANTS.queues)


def test_lineage_and_containment_agree() -> None:
    """A queue contains itself and all below it; names that begin alike are strangers."""
    assert TENANTS.lineage("root.tenant.a") == ("root.tenant.a", "root.tenant", "root")
    assert TENANTS.contains("root.tenant", "root.tenant.a")
    assert TENANTS.contains("root.tenant", "root.tenant")
    alike = tree({"a": queue(), "ab": queue()})
    assert not alike.contains("root.a", "root.ab")


def test_the_nearest_fence_counts_the_own_first() -> None:
    """One on the root is none."""
    assert TENANTS.fence("root.tenant.a") == "root.tenant"
    assert TENANTS.fence("root.tenant.b") == "root.tenant.b"
    assert TENANTS.fence("root.off.c") is None
    assert tree({"root": queue(fence=True), "a": queue()}).fence("root.a") is None


def test_disabled_is_inherited_but_not_from_the_root() -> None:
    """The queue that says so is named."""
    assert TENANTS.disabled_by("root.off.c") == "root.off"
    assert TENANTS.disabled_by("root.tenant.a") is None
    assert tree({"root": queue(disabled=True), "a": queue()}).disabled_by("root.a") is None


def test_only_a_leafs_own_delay_counts() -> None:
    """Thirty seconds where it says nothing, whatever its parent says."""
    shape = tree({"t": queue(delay_ms=1), "t.a": queue(), "t.b": queue(delay_ms=7)})
    assert (shape.delay_ms("root.t.a"), shape.delay_ms("root.t.b")) == (DEFAULT_DELAY_MS, 7)


def test_the_entitling_queue_is_found_for_each_resource_by_itself() -> None:
    """Memory here, cpu one level up, gpu nowhere."""
    assert TENANTS.entitling("root.tenant.a", "memory") == "root.tenant.a"
    assert TENANTS.entitling("root.tenant.a", "cpu") == "root.tenant"
    assert TENANTS.entitling("root.tenant.a", "gpu") is None


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [("tenant.a", "tenant.a", 0), ("tenant.a", "tenant.b", 2), ("tenant.a", "tenant", 1), ("tenant.a", "off.c", 4)],
)
def test_distance_is_the_way_through_the_nearest_queue_above_both(one: str, other: str, steps: int) -> None:
    """The same in both directions."""
    assert TENANTS.distance(f"root.{one}", f"root.{other}") == steps
    assert TENANTS.distance(f"root.{other}", f"root.{one}") == steps


def test_a_parents_amounts_are_the_sum_below_it() -> None:
    """Every queue is there, those with nothing too."""
    rolled = TENANTS.roll_up({"root.tenant.a": {"cpu": 1}, "root.tenant.b": {"cpu": 2, "gpu": 1}})
    assert rolled["root"] == rolled["root.tenant"] == {"cpu": 3, "gpu": 1}
    assert rolled["root.off"] == {}


def test_how_queues_lend_and_take_is_a_form_that_older_versions_refuse() -> None:
    """They would pass over it."""
    for settings in ({"weight": 0}, {"take_borrowing": False}, {"template": Settings(take_threshold=0)}):
        shape = tree({"a": queue(**settings)})
        assert b'"form":4' in encode_tree(shape)
        assert decode_tree(encode_tree(shape)).queues == shape.queues

"""Our own form of a tree: read back exactly, and every mistake told at its place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.tree_json.document import read_form, write_form
from engine.formats.tree_json.weights import as_quantity, read_weight
from engine.model.notes import Note
from engine.model.queue_tree import WEIGHT_ONE, Queue, QueueTree, Take, write_weight
from tests.builders import queue, tree
from tests.engine.strategies import growing_trees


def notes(*queues: Any, **members: Any) -> tuple[Note, ...]:
    """What reading says of a document with these queues below a root."""
    return read_form({"queues": [{"path": "root"}, *queues], **members}).notes


def test_a_tree_is_read_as_it_is_typed() -> None:
    """Amounts and durations in the units that people type, everything else by default."""
    reading = read_form(
        {
            "policy": "fence",
            "queues": [
                {
                    "path": "root.a.b",
                    "guaranteed": {"cpu": "1500m", "memory": "2Gi"},
                    "max": {"cpu": 4},
                    "delay": "1m30s",
                },
                {"path": "root"},
                {"path": "root.a", "preemption_policy": "fence", "parent": True},
            ],
        }
    )
    want = tree(
        {
            "a": queue(fence=True, parent_declared=True),
            "a.b": queue({"cpu": "1500m", "memory": "2Gi"}, max=4, delay_ms=90_000),
        }
    )
    assert reading.tree is not None
    assert (reading.tree.queues, reading.policy, reading.dialect) == (want.queues, "fence", None)
    assert not reading.failed


@pytest.mark.parametrize(
    ("said", "settings"),
    [
        ({"weight": "500m"}, {"weight": WEIGHT_ONE // 2}),
        ({"weight": 0}, {"weight": 0}),
        ({"weight": 1}, {}),
        ({"lendable": {"cpu": "500m", "memory": 0}}, {"lendable": {"cpu": 500, "memory": 0}}),
        (
            {"take_within": "LowerPriority", "take_reclaim": "Any"},
            {"take_within": Take.LOWER_PRIORITY, "take_reclaim": Take.ANY},
        ),
        ({"take_borrowing": False, "take_threshold": 0}, {"take_borrowing": False, "take_threshold": 0}),
        ({"take_borrowing": True, "take_threshold": "-5"}, {"take_borrowing": True, "take_threshold": -5}),
    ],
)
def test_how_a_queue_lends_and_takes_is_read_as_it_is_typed(said: dict[str, Any], settings: dict[str, Any]) -> None:
    """A weight of 1 is the one that all have; to say no is not the same as to say nothing."""
    reading = read_form({"queues": [{"path": "root", **said}]})
    assert not reading.notes
    assert reading.tree is not None
    assert reading.tree["root"] == Queue(path="root", **settings)
    again = read_form(write_form(reading.tree)).tree
    assert again is not None
    assert again.queues == reading.tree.queues


@given(st.integers(0, 2**63 - 1))
def test_a_weight_is_read_back_to_the_billionth(weight: int) -> None:
    """As people type it, and as Kubernetes keeps it."""
    assert read_weight(write_weight(weight)) == read_weight(as_quantity(weight)) == weight


@given(growing_trees())
def test_what_is_written_is_read_back(shape: QueueTree) -> None:
    """Also through JSON, whatever the tree holds."""
    reading = read_form(json.loads(json.dumps(write_form(shape))))
    assert reading.notes == ()
    assert reading.tree is not None
    assert (reading.tree.queues, reading.tree.placement) == (shape.queues, shape.placement)


@pytest.mark.parametrize(
    ("settings", "pointer", "sentence"),
    [
        (
            {"max": {"memory": "128Gb"}},
            "/queues/1/max/memory",
            "128Gb is not a valid amount. Did you mean 128Gi or 128G?",
        ),
        ({"max": {"nvidia.com/gpu": "few"}}, "/queues/1/max/nvidia.com~1gpu", "few is not a valid amount."),
        ({"max": {"cpu": "-1"}}, "/queues/1/max/cpu", "-1 is less than zero."),
        ({"max": {"memory": "10E"}}, "/queues/1/max/memory", "10E is too large. An amount is a 64-bit integer."),
        (
            {"max": {"pods": "0.5"}},
            "/queues/1/max/pods",
            "0.5 is not a whole number. Enter a whole number for pods.",
        ),
        (
            {"max": {"cpu": "0.0005"}},
            "/queues/1/max/cpu",
            "0.0005 is too precise. The smallest amount of CPU is 0.001 (1m).",
        ),
        ({"delay": "3"}, "/queues/1/delay", "3 is not a valid duration. Did you mean 3s?"),
        ({"max": {"cpu": True}}, "/queues/1/max/cpu", "An amount must be a string or a number."),
        ({"max": {"c pu": "1"}}, "/queues/1/max/c pu", "'c pu' is not a valid resource name."),
        ({"max": {"cpu": "9" * 5000}}, "/queues/1/max/cpu", f"{'9' * 5000} is not a valid amount."),
        ({"delay": "9" * 5000 + "s"}, "/queues/1/delay", f"{'9' * 5000}s is not a valid duration"),
        ({"guaranteed": ["1"]}, "/queues/1/guaranteed", "guaranteed must be a mapping."),
        (
            {"delay": "soon"},
            "/queues/1/delay",
            "soon is not a valid duration. Enter a duration above zero and up to 24 days, for example 1m30s.",
        ),
        (
            {"delay": "600h"},
            "/queues/1/delay",
            "600h is not a valid duration. Enter a duration above zero and up to 24 days, for example 1m30s.",
        ),
        (
            {"delay": "0s"},
            "/queues/1/delay",
            "0s is not a valid duration. Enter a duration above zero and up to 24 days, for example 1m30s.",
        ),
        (
            {"preemption_policy": "wall"},
            "/queues/1/preemption_policy",
            "wall is not allowed. Allowed values: default, fence, disabled.",
        ),
        ({"priority_offset": 2**31}, "/queues/1/priority_offset", "2147483648 is not a 32-bit integer."),
        ({"namespaces": "a"}, "/queues/1/namespaces", "namespaces must be a list."),
        ({"namespaces": ["a", "B"]}, "/queues/1/namespaces/1", "'B' is not a valid namespace name."),
        ({"evict_uncontrolled": "yes"}, "/queues/1/evict_uncontrolled", "evict_uncontrolled must be true or false."),
        ({"guarantee": {}}, "/queues/1/guarantee", "guarantee is not a known setting."),
        ({"weight": "much"}, "/queues/1/weight", "much is not a valid weight. Enter a number such as 2 or 0.5."),
        ({"weight": -1}, "/queues/1/weight", "-1 is less than zero."),
        ({"weight": "0.0000000001"}, "/queues/1/weight", "0.0000000001 is too precise. Use at most nine decimals."),
        ({"weight": "10G"}, "/queues/1/weight", "10G is too large for a weight."),
        ({"weight": True}, "/queues/1/weight", "A weight must be a string or a number."),
        ({"lendable": {"cpu": "few"}}, "/queues/1/lendable/cpu", "few is not a valid amount."),
        ({"lendable": {"cpu": "50%"}}, "/queues/1/lendable/cpu", "Percentages are not allowed here. Enter an amount."),
        (
            {"take_within": "Any"},
            "/queues/1/take_within",
            "Any is not allowed. Allowed values: Never, LowerPriority, LowerOrNewerEqual",
        ),
        (
            {"take_reclaim": [1]},
            "/queues/1/take_reclaim",
            "[1] is not allowed. Allowed values: Never, LowerPriority, Any.",
        ),
        ({"take_borrowing": "yes"}, "/queues/1/take_borrowing", "take_borrowing must be true or false."),
        ({"take_threshold": 1.5}, "/queues/1/take_threshold", "1.5 is not a 32-bit integer."),
    ],
)
def test_a_mistake_is_told_at_its_field(settings: dict[str, Any], pointer: str, sentence: str) -> None:
    """A JSON pointer and a sentence; the rest of the queue is read."""
    (note,) = notes({"path": "root.a", "namespaces": ["ok"]} | settings)
    assert (note.pointer, note.path) == (pointer, "root.a")
    assert note.text.startswith(sentence)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("tenant", "Every path must begin with root, for example root.tenant-1.queue-b."),
        ("root.a b", "'a b' is not a valid queue name. Use at most 64 letters, digits and the characters _:#/@-."),
        ("root..a", "'' is not a valid queue name. Use at most 64 letters, digits and the characters _:#/@-."),
        ("root.Root", "Only the top-level queue can be named root."),
        ("root.no.a", "Parent queue root.no does not exist."),
        ("ROOT", "Every path must begin with root, for example root.tenant-1.queue-b."),
        ("root", "Queue root is defined twice."),
        ("root." + ".".join("a" * 300), "A path can have at most 500 characters."),
    ],
)
def test_a_queue_without_a_place_is_told_at_its_path(path: str, sentence: str) -> None:
    """Such queues form no tree."""
    reading = read_form({"queues": [{"path": "root"}, {"path": path}]})
    assert reading.tree is None
    assert [(note.pointer, note.text) for note in reading.notes] == [("/queues/1/path", sentence)]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (None, ""),
        ([], ""),
        ({}, "/queues"),
        ({"queues": {}}, "/queues"),
        ({"queues": []}, "/queues"),
        ({"queues": [{}] * 25_001}, "/queues"),
        ({"queues": [{"path": "root"}, 3]}, "/queues/1"),
        ({"queues": [{"path": 3}]}, "/queues/0/path"),
        ({"queues": [{"path": "root"}], "policy": 1}, "/policy"),
        ({"queues": [{"path": "root"}], "parameters": []}, "/parameters"),
        ({"queues": [{"path": "root"}], "polices": "fence"}, "/polices"),
    ],
)
def test_what_is_no_such_document_is_refused_where_it_goes_wrong(document: Any, pointer: str) -> None:
    """Never an exception: it comes from anywhere."""
    reading = read_form(document)
    assert reading.failed
    assert reading.notes[0].pointer == pointer


def test_all_mistakes_are_told_at_once() -> None:
    """Nobody likes to mend one to be told of the next."""
    found = notes({"path": "root.a", "max": {"cpu": "x"}, "delay": "x"}, {"path": "root.b", "max": {"cpu": "y"}})
    assert [note.pointer for note in found] == ["/queues/1/max/cpu", "/queues/1/delay", "/queues/2/max/cpu"]


@pytest.mark.parametrize(
    ("settings", "pointer", "sentence"),
    [
        ({"template": 3}, "/queues/1/template", "template must be a mapping."),
        ({"template": {"delay": "0s"}}, "/queues/1/template/delay", "0s is not a valid duration"),
        ({"template": {"max": {"cpu": "x"}}}, "/queues/1/template/max/cpu", "x"),
        ({"template": {"namespaces": ["a"]}}, "/queues/1/template/namespaces", "namespaces is not a known setting."),
    ],
)
def test_a_mistake_in_a_template_is_told_at_its_place(settings: Any, pointer: str, sentence: str) -> None:
    """As one in a queue's own settings."""
    (note,) = notes({"path": "root.a", **settings})
    assert note.pointer == pointer
    assert sentence in note.text


@pytest.mark.parametrize(
    ("placement", "pointer", "sentence"),
    [
        ({}, "/placement", "placement must be a list."),
        ([3], "/placement/0", "A rule must be a mapping with a name."),
        (
            [{"name": "queue"}],
            "/placement/0/name",
            "'queue' is not allowed. Allowed values: provided, user, tag, fixed.",
        ),
        ([{"name": "tag"}], "/placement/0/value", "A tag rule needs the tag name as its value."),
        (
            [{"name": "tag", "value": "team\0"}],
            "/placement/0/value",
            "value contains a character that can't be stored.",
        ),
        (
            [{"name": "user", "filter": {"users": ["ada\0"]}}],
            "/placement/0/filter/users",
            "users must be a list of at most 1000 names.",
        ),
        ([{"name": "fixed"}], "/placement/0/value", "must be a queue below the root"),
        ([{"name": "fixed", "value": "root"}], "/placement/0/value", "must be a queue below the root"),
        ([{"name": "fixed", "value": "a b"}], "/placement/0/value", "not 'a b'"),
        ([{"name": "user", "create": "yes"}], "/placement/0/create", "create must be true or false."),
        ([{"name": "user", "more": 1}], "/placement/0/more", "more is not a known setting."),
        ([{"name": "user", "parent": [{"name": "user"}]}], "/placement/0/parent", "A rule must be a mapping"),
        (
            [{"name": "user", "filter": {"type": "some"}}],
            "/placement/0/filter/type",
            "some is not allowed. Allowed values: allow, deny.",
        ),
        ([{"name": "user", "filter": {"users": "ann"}}], "/placement/0/filter/users", "users must be a list"),
        (
            [{"name": "user", "filter": {"users": ["("]}}],
            "/placement/0/filter/users",
            "'(' is not a valid regular expression",
        ),
        (
            [{"name": "user", "filter": {"groups": ["(?=a)"]}}],
            "/placement/0/filter/groups",
            "is not a valid regular expression",
        ),
        (
            [{"name": "fixed", "value": "root.a", "parent": {"name": "user"}}],
            "/placement/0/parent",
            "A fixed rule whose value begins with root can't have a parent rule.",
        ),
    ],
)
def test_a_mistake_in_a_rule_is_told_at_its_place(placement: Any, pointer: str, sentence: str) -> None:
    """And such a rule is left out, so that nothing is placed by half of it."""
    reading = read_form({"queues": [{"path": "root"}], "placement": placement})
    (note,) = reading.notes
    assert note.pointer == pointer
    assert sentence in note.text
    assert reading.tree is not None
    assert reading.tree.placement == ()


def test_rules_nested_without_end_are_refused() -> None:
    """Before they take any memory."""
    rule: dict[str, Any] = {"name": "user"}
    for _ in range(2_000):
        rule = {"name": "user", "parent": rule}
    (note,) = read_form({"queues": [{"path": "root"}], "placement": [rule]}).notes
    assert note.text == "Rules are nested more than 10 levels deep."

"""Consumers of kube-arbitrator are read into a tree, and written back with nothing else changed."""

from textwrap import dedent

import msgspec
import pytest
from hypothesis import given

from engine.formats.arbitrator.consumers import read, write
from engine.model.notes import ImportFailure, Severity
from engine.model.queue_tree import WEIGHT_ONE, Queue, QueueTree
from tests.builders import queue, tree
from tests.engine.strategies import queue_trees
from tests.engine.test_kueue_objects import declared, with_queue
from tests.properties import examples

DOCUMENT = dedent(
    """\
    # areas
    apiVersion: kuabe-arbitrator.incubator.k8s.io/v1
    kind: Consumer
    metadata:
      name: apps
    spec:
      reserved: {requests.cpu: "8"}
    ---
    apiVersion: kuabe-arbitrator.incubator.k8s.io/v1
    kind: Consumer
    metadata:
      name: defaults
      namespace: shop   # its namespace
    spec:
      parent: apps
      weight: 2
      hard:
        requests.cpu:   "4"
        memory: 1Gi
        limits.cpu: "2"
      reserved:
        limits.memory: 1Gi
    ---
    apiVersion: kuabe-arbitrator.incubator.k8s.io/v1
    kind: Allocation
    metadata: {name: defaults}
    """
)


def consumer(name: str, spec: str = "{}") -> str:
    """A document of one Consumer."""
    kind = "---\napiVersion: kube-arbitrator.incubator.k8s.io/v1\nkind: Consumer\n"
    return f"{kind}metadata: {{name: {name}}}\nspec: {spec}\n"


def test_a_consumer_is_the_leaf_of_its_namespace() -> None:
    """Hard is max, reserved guaranteed; what others name as their parent holds them."""
    assert read(DOCUMENT).tree.queues == {
        "root": Queue(path="root", parent_declared=True),
        "root.apps": Queue(path="root.apps", parent_declared=True, guaranteed={"cpu": 8000}),
        "root.apps.shop": Queue(
            path="root.apps.shop", namespaces=("shop",), max={"cpu": 4000, "memory": 2**30}, weight=2 * WEIGHT_ONE
        ),
    }


def test_what_has_no_counterpart_is_said_with_its_line() -> None:
    """Limits are not divided, other objects are kept."""
    kept = "has no counterpart here. It is kept and written back unchanged."
    assert sorted((note.line, note.text) for note in read(DOCUMENT).notes) == [
        (20, f"hard limits.cpu {kept}"),
        (22, f"reserved limits.memory {kept}"),
        (26, f"Allocation defaults {kept}"),
    ]


def test_only_what_changed_is_written() -> None:
    """The key stays as it was typed, and all that is kept."""
    shape = read(DOCUMENT).tree
    assert write(DOCUMENT, shape).text == DOCUMENT
    more = with_queue(shape, "root.apps.shop", max={"cpu": 6000, "memory": 2**30})
    assert write(DOCUMENT, more).text == DOCUMENT.replace('requests.cpu:   "4"', 'requests.cpu: "6"')
    alone = with_queue(shape, "root.apps.shop", max={})
    assert read(write(DOCUMENT, alone).text).tree.queues == alone.queues


def test_a_new_leaf_is_named_after_its_namespace() -> None:
    """The queue's own name is kept beside."""
    shape = tree({"area.Big": queue("2", namespaces=("shop",))})
    text = write("", shape).text
    assert "name: shop" in text
    assert declared(read(text).tree) == declared(shape)


@given(queue_trees())
@examples(15)
def test_any_tree_comes_back(shape: QueueTree) -> None:
    """From new Consumers, and from another tree's; also a parent that holds nothing yet."""
    empty = QueueTree([*shape.queues.values(), Queue(path="root.empty", parent_declared=True)])
    for text in ("", DOCUMENT):
        assert declared(read(write(text, empty).text).tree) == declared(empty)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", None, "The document contains no kube-arbitrator Consumer"),
        (consumer("a") + consumer("a"), 9, "Consumer a is defined twice."),
        (consumer("a", "{parent: b}"), 5, "Parent Consumer b does not exist."),
        (consumer("a", "{parent: a}"), 5, "Consumer a is its own ancestor. Remove the cycle."),
        (consumer("a", "{hard: {cpu: 1Gb}}"), 5, "1Gb is not a valid amount."),
        (consumer("a", "{hard: {cpu: 1, requests.cpu: 1}}"), 5, "hard sets cpu twice."),
        (consumer("a", "{hard: 1}"), 5, "hard must be a mapping."),
    ],
)
def test_what_is_wrong_is_said_at_its_line(text: str, line: int | None, says: str) -> None:
    """In a sentence."""
    with pytest.raises(ImportFailure) as refused:
        read(text)
    wrong = [note for note in refused.value.notes if note.severity is Severity.ERROR]
    assert (wrong[0].line, wrong[0].text[: len(says)]) == (line, says)
    assert msgspec.json.encode(wrong)


def test_a_consumer_of_no_namespace_that_is_called_as_each_of_them_is_told() -> None:
    """It would become the leaf of a namespace ``defaults``, which hardly anybody has."""
    (warning,) = [note for note in read(consumer("defaults")).notes if note.severity is Severity.WARNING]
    assert warning.text.startswith("Consumer defaults has no namespace, so it is read as the Consumer of namespace")
    assert [note for note in read(DOCUMENT).notes if note.severity is Severity.WARNING] == []

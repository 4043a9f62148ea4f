"""A tree goes out in any format and comes back; documents are recognised by their words."""

import msgspec
import pytest
from hypothesis import given

from engine.formats import registry
from engine.formats.registry import Format
from engine.model.notes import ImportFailure, Severity
from engine.model.queue_tree import QueueTree
from tests.builders import queue, tree
from tests.engine.strategies import growing_trees
from tests.engine.test_consumers import DOCUMENT as CONSUMERS
from tests.engine.test_kueue_objects import DOCUMENT as KUEUE
from tests.engine.test_kueue_objects import with_queue
from tests.engine.test_named_parents import DOCUMENTS as NAMED
from tests.engine.test_yunikorn import DOCUMENT as YUNIKORN
from tests.properties import examples

OWN = """\
# ours
policy: fence
queues:
  - path: root
  - path: root.a   # the first
    guaranteed: {cpu: 2000m,  memory: 1Gi}
    delay:  30s
  - {path: root.b, max: {cpu: 4}}
"""
DOCUMENTS = {
    Format.YUNIKORN: YUNIKORN,
    Format.KUEUE: KUEUE,
    Format.SCHEDULER_ADMIN: OWN,
    Format.CONSUMERS: CONSUMERS,
    **NAMED,
}


def same(one: QueueTree, other: QueueTree) -> bool:
    """Whether they have the same queues and rules."""
    return (one.queues, one.placement) == (other.queues, other.placement)


@pytest.mark.parametrize("form", Format)
def test_a_document_is_recognised_by_its_words(form: Format) -> None:
    """And what is read says of which format it is."""
    assert registry.detect(DOCUMENTS[form]) is form
    assert registry.read(DOCUMENTS[form]).form == form


def test_json_is_recognised_too() -> None:
    """As REST takes it."""
    assert registry.detect('{"queues":[{"path":"root"}]}') is Format.SCHEDULER_ADMIN
    assert registry.detect("hello") is None


@pytest.mark.parametrize("form", Format)
def test_an_unchanged_tree_gives_the_text_to_the_byte(form: Format) -> None:
    """Comments, blanks, order and what we have no field for."""
    text = DOCUMENTS[form]
    assert registry.write(form, text, registry.read(text).tree).text == text


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("text", ["", "a: [", "- 1", "queues: 1", "kind: x", "partitions: {}", "queues: [{path: 1}]"])
def test_what_is_no_document_of_a_format_is_refused(form: Format, text: str) -> None:
    """With at least one error."""
    with pytest.raises(ImportFailure) as refused:
        registry.read(text, form)
    assert any(note.severity is Severity.ERROR for note in refused.value.notes)


def test_only_what_changed_is_written_into_our_own_form() -> None:
    """A queue more, another less, one amount: all else as it was typed."""
    shape = with_queue(registry.read(OWN).tree, "root.a", guaranteed={"cpu": 3000, "memory": 2**30}, delay_ms=None)
    queues = [one for one in shape.queues.values() if one.name != "b"]
    more = QueueTree([*queues, msgspec.structs.replace(queue(fence=True), path="root.c")])
    assert registry.write(Format.SCHEDULER_ADMIN, OWN, more).text == OWN.replace(
        "cpu: 2000m,  m", "cpu: '3', m"
    ).replace(
        "    delay:  30s\n  - {path: root.b, max: {cpu: 4}}\n", "  - path: root.c\n    preemption_policy: fence\n"
    )


def test_our_own_form_says_how_the_tree_decides() -> None:
    """Where it is told; else as it did."""
    terms = {"policy": "priority", "dialect": "kube-scheduler", "parameters": {}}
    shape = registry.read(OWN).tree
    assert registry.read(registry.write(Format.SCHEDULER_ADMIN, "", shape, terms).text).terms == terms
    said = registry.read(registry.write(Format.SCHEDULER_ADMIN, OWN, shape, terms).text).terms
    assert said == {"policy": "priority", "dialect": "kube-scheduler"}
    assert registry.read(OWN).terms == {"policy": "fence"}


def test_what_is_wrong_with_our_own_form_is_said_at_its_line() -> None:
    """As deep as the setting stands there by itself."""
    wrong = OWN.replace("1Gi", "1Gib").replace("30s", "soon").replace("root.b", "root.x.b")
    with pytest.raises(ImportFailure) as refused:
        registry.read(wrong)
    assert [(note.line, note.text.partition(" is ")[0]) for note in refused.value.notes] == [
        (6, "1Gib"),
        (7, "soon"),
        (8, "Parent queue root.x does not exist."),
    ]


@pytest.mark.parametrize("form", [Format.YUNIKORN, Format.SCHEDULER_ADMIN])
@given(shape=growing_trees())
@examples(15)
def test_any_tree_comes_back(form: Format, shape: QueueTree) -> None:
    """From a new document, and from another tree's, with its rules and templates."""
    for text in ("", DOCUMENTS[form]):
        assert same(registry.read(registry.write(form, text, shape).text, form).tree, shape)


def test_what_is_shared_by_aliases_is_changed_in_one_place_alone() -> None:
    """The others keep what they said."""
    text = """\
queues:
  - path: root
  - {path: root.a, guaranteed: &two {cpu: 2}}
  - {path: root.b, guaranteed: *two}
"""
    shape = registry.read(text).tree
    assert registry.write(Format.SCHEDULER_ADMIN, text, shape).text == text
    more = with_queue(shape, "root.a", guaranteed={"cpu": 3000})
    assert same(registry.read(registry.write(Format.SCHEDULER_ADMIN, text, more).text).tree, more)


def test_a_bomb_of_aliases_is_refused() -> None:
    """Before it is written out."""
    lists = "\n".join(f"  - &l{k} [{', '.join([f'*l{k - 1}'] * 9)}]" for k in range(1, 9))
    text = f"queues:\n  - {{path: root}}\n  - &l0 {{path: root.a}}\n{lists}\n"
    for form in Format:
        with pytest.raises(ImportFailure):
            registry.read(text, form)


def test_what_a_format_can_not_say_is_named() -> None:
    """Queue by queue, before anybody downloads it."""
    shape = tree(
        {"a": queue({"memory": 1}, namespaces=("x",)), "a.b": queue(delay_ms=1000), "c": queue({"cpu@spot": 1})}
    )
    said = {
        form: [
            (note.path, note.message.params["settings"])
            for note in registry.write(form, "", shape).notes
            if "settings" in note.message.params
        ]
        for form in Format
    }
    assert said == {
        Format.YUNIKORN: [("root.a", "namespaces"), ("root.c", "cpu@spot")],
        Format.KUEUE: [("root.a", "namespaces"), ("root.a.b", "delay"), ("root.c", "guaranteed")],
        Format.CONSUMERS: [("root.a", "namespaces"), ("root.a.b", "delay, namespaces"), ("root.c", "namespaces")],
        Format.VOLCANO: [("root.a", "namespaces"), ("root.a.b", "delay")],
        Format.KAI: [("root.a", "guaranteed, namespaces"), ("root.a.b", "delay"), ("root.c", "guaranteed")],
        Format.SCHEDULER_ADMIN: [],
    }

"""What a draft's queue says, as texts: the same in other words is the same, and nothing is lost between the forms."""

from hypothesis import given

from engine.formats.tree_json.document import write_queue
from engine.model.queue_tree import QueueTree
from scheduler_admin.queues.drafts.texts import canonical, setting_named, typed, untyped
from tests.engine.strategies import growing_trees


def test_the_same_in_other_words_is_the_same() -> None:
    said = {
        "delay": "60s",
        "priority_offset": "0",
        "namespaces": "lab search,lab",
        "max/cpu": "1000m",
        "guaranteed/cpu": "40.0 %",
        "weight": "1",
        "preemption_policy": "default",
        "evict_uncontrolled": "false",
        "take_borrowing": "false",
    }
    assert canonical(said) == {
        "delay": "1m",
        "namespaces": "lab, search",
        "max/cpu": "1",
        "guaranteed/cpu": "40%",
        "take_borrowing": "false",
    }


def test_a_template_of_defaults_is_still_a_template() -> None:
    assert canonical({"template/weight": "1", "template/delay": ""}) == {"template/own": "true"}


def test_what_cannot_be_read_stays_as_it_was_typed() -> None:
    said = {"delay": "soon", "max/cpu": "much", "namespaces": "No!, lab", "template/weight": "-1"}
    assert canonical(said) == said


def test_names_of_settings_are_known_with_a_resource_where_they_hold_amounts() -> None:
    known = ("delay", "max/cpu", "max/nvidia.com/gpu", "template/max/cpu", "template/delay", "parent_declared")
    assert all(setting_named(name) for name in known)
    unknown = ("max", "delay/cpu", "template/namespaces", "template/template/delay", "colour", "")
    assert not any(setting_named(name) for name in unknown)


@given(tree=growing_trees())
def test_nothing_is_lost_between_a_document_and_texts(tree: QueueTree) -> None:
    for queue in tree.queues.values():
        document = write_queue(queue)
        texts = typed(document)
        assert typed(untyped(texts)) == texts == canonical(texts)

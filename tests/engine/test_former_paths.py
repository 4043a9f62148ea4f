"""A queue keeps its pods under another path: former paths are what it was called before."""

from hypothesis import given
from hypothesis import strategies as st

from engine.formats import registry
from engine.formats.registry import Format
from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.formats.tree_json.diff import ChangeKind, changes, renamed_paths, with_former_paths
from engine.formats.tree_json.document import read_form, write_form
from engine.model.objects import Pod
from engine.model.placement_rules import Rule, RuleName
from engine.model.queue_paths import current_path, known_as
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import ClusterState
from engine.model.snapshot.queue_assignment import queue_of
from engine.tree.lint import lint
from engine.tree.orphans import Orphans, orphans
from tests.builders import pod
from tests.engine.linted import under


def tree(*queues: Queue | str, rules: tuple[Rule, ...] = ()) -> QueueTree:
    """Queues below a root; a path alone is a queue that says nothing."""
    made = [one if isinstance(one, Queue) else Queue(path=one) for one in queues]
    return QueueTree([Queue(path="root"), *made], rules)


def state(*pods: Pod) -> ClusterState:
    """A cluster that holds these alone."""
    made = ClusterState()
    made.pods.update((one.uid, one) for one in pods)
    return made


PATHS = st.sampled_from(["root.a", "root.b", "root.a.b", "root.b.a", "root.c.a"])
TRAIN = Queue(path="root.train", former_paths=("root.training",))


class TestPods:
    """Pods that name a former path."""

    def test_run_in_the_renamed_queue(self) -> None:
        assert queue_of(pod("p", queue="training"), tree(TRAIN)) == "root.train"
        assert queue_of(pod("p", queue="root.training"), tree(TRAIN)) == "root.train"

    def test_run_below_the_renamed_queue_where_they_name_what_was_below_it(self) -> None:
        found = tree(TRAIN, "root.train.a")
        assert queue_of(pod("p", queue="root.training.a"), found) == "root.train.a"
        assert queue_of(pod("p", queue="root.training.b"), found) is None

    def test_find_it_through_several_renames(self) -> None:
        moved = Queue(path="root.x", former_paths=("root.train.a",))
        assert queue_of(pod("p", queue="root.training.a"), tree(TRAIN, moved)) == "root.x"

    def test_run_where_a_queue_has_the_path_by_now(self) -> None:
        assert queue_of(pod("p", queue="training"), tree(TRAIN, "root.training")) == "root.training"

    def test_are_in_no_queue_where_the_one_that_has_the_path_by_now_is_no_leaf(self) -> None:
        found = tree(TRAIN, "root.training", "root.training.a")
        assert queue_of(pod("p", queue="training"), found) is None

    def test_are_found_by_the_rule_provided_and_by_no_other(self) -> None:
        provided = tree(TRAIN, rules=(Rule(name=RuleName.PROVIDED, create=True),))
        fixed = tree(TRAIN, rules=(Rule(name=RuleName.FIXED, value="training", create=True),))
        assert queue_of(pod("p", queue="root.Training"), provided) == "root.train"
        assert queue_of(pod("p", queue="root.training"), fixed) == "root.training"


class TestRenames:
    """What tells that a queue of one tree is a queue of another."""

    def test_are_told_in_both_directions(self) -> None:
        before, after = tree("root.training", "root.training.a"), tree(TRAIN, "root.train.a")
        there = {"root.train": "root.training", "root.train.a": "root.training.a"}
        assert renamed_paths(before, after) == there
        assert renamed_paths(after, before) == {was: now for now, was in there.items()}

    def test_are_changes_of_the_queue_and_not_another_queue(self) -> None:
        found = changes(tree("root.training", "root.training.a"), tree(TRAIN, "root.train.a"))
        assert [(one.kind, one.path, one.former) for one in found] == [
            (ChangeKind.MOVED, "root.train", "root.training")
        ]

    def test_are_known_going_back(self) -> None:
        back = with_former_paths(tree(TRAIN, "root.train.a"), tree("root.training", "root.training.a"))
        assert {path: queue.former_paths for path, queue in back.queues.items() if queue.former_paths} == {
            "root.training": ("root.train",)
        }

    def test_of_a_queue_that_others_took_the_place_of_are_none(self) -> None:
        assert renamed_paths(tree("root.a"), tree("root.a", Queue(path="root.b", former_paths=("root.a",)))) == {}


class TestKnownAs:
    """Under which paths rows of old are found."""

    def test_are_those_of_the_queue_and_of_what_lies_above_and_below(self) -> None:
        among = (("root.training", "root.train"), ("root.old", "root.train.a"))
        assert known_as("root.train", among) == {"root.training", "root.old"}
        assert known_as("root.train.a", among) == {"root.training.a", "root.old"}
        assert known_as("root.train", among, alone=True) == {"root.training"}
        assert known_as("root", among) == frozenset()

    @given(
        st.lists(
            st.tuples(*[st.sampled_from(["root.a", "root.b", "root.a.b", "root.b.a", "root.c.a"])] * 2), max_size=5
        ),
        st.sampled_from(["root.a", "root.a.b", "root.c"]),
    )
    def test_end_whatever_was_renamed_to_what(self, among: list[tuple[str, str]], path: str) -> None:
        assert path not in known_as(path, tuple(among))
        assert current_path(path, tuple(among)).startswith("root.")


class TestDocuments:
    """Former paths are read and written."""

    def test_of_our_own_form_and_of_the_canonical_one(self) -> None:
        written = read_form(write_form(tree(TRAIN))).tree
        assert written is not None
        assert written["root.train"] == TRAIN
        assert decode_tree(encode_tree(tree(TRAIN)))["root.train"] == TRAIN

    def test_of_every_format_that_can_be_written(self) -> None:
        for form in Format:
            text = registry.write(form, "", tree(TRAIN), None).text
            again = registry.read(text, form).tree
            assert again["root.train"].former_paths == ("root.training",), form

    def test_that_are_none_are_errors_at_their_place(self) -> None:
        document = {"queues": [{"path": "root"}, {"path": "root.a", "former_paths": ["training", "root.b"]}]}
        [note] = read_form(document).notes
        assert (note.path, note.field) == ("root.a", "former_paths/0")

    def test_that_have_no_effect_are_warned_of(self) -> None:
        found = tree(TRAIN, "root.training")
        assert "former_paths/0" in [note.field for note in lint(found, under()) if note.path == "root.train"]
        twice = tree(TRAIN, Queue(path="root.u", former_paths=("root.training",)))
        assert [note.path for note in lint(twice, under()) if note.field == "former_paths/0"] == ["root.u"]


class TestOrphans:
    """Pods that a change would leave in no queue."""

    def test_are_counted_by_the_queue_that_they_were_in(self) -> None:
        seen = state(
            pod("one", queue="training", node="n"),
            pod("two", queue="training"),
            pod("three", queue="other", node="n"),
            pod("four", queue="nowhere", node="n"),
        )
        before = tree("root.training", "root.other")
        assert orphans(seen, before, tree("root.train", "root.other")) == (
            Orphans(queue="root.training", running=1, pending=1),
        )
        assert orphans(seen, before, tree(TRAIN, "root.other")) == ()

    def test_are_those_of_a_leaf_that_gets_queues_below(self) -> None:
        seen = state(pod("one", queue="training", node="n"))
        found = orphans(seen, tree("root.training"), tree("root.training", "root.training.a"))
        assert found == (Orphans(queue="root.training", running=1),)

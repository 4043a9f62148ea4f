"""Pods find their leaf by the tree's rules, as they would in YuniKorn; leaves come into being with their pods."""

from typing import Any

import pytest

from engine.model.objects import Namespace, Pod, Shield
from engine.model.placement import Submission, add_dynamic_queues, leaf_for
from engine.model.placement_rules import Filter, Rule, RuleName
from engine.model.queue_tree import ROOT_ONLY, PreemptionPolicy, Queue, QueueTree, Settings
from engine.model.snapshot import ClusterState, Protection
from tests.builders import NOW, amounts, ask, node, pod, queue, snapshot, tree

PROVIDED = Rule(name=RuleName.PROVIDED, create=True)
USER = Rule(name=RuleName.USER, create=True)
NAMESPACE = Rule(name=RuleName.TAG, value="namespace", create=True)


def fixed(value: str, **settings: Any) -> Rule:
    """A rule that names a queue."""
    return Rule(name=RuleName.FIXED, value=value, **settings)


def ruled(*rules: Rule) -> QueueTree:
    """Two leaves, ``dev`` and ``Ops.night``, and an empty parent, under these rules."""
    shape = tree({"dev": queue(), "Ops.night": queue(), "users": queue(parent_declared=True)})
    return QueueTree(shape.queues.values(), rules)


def found(*rules: Rule, **pod: Any) -> str | None:
    """Where a pod runs under these rules."""
    return leaf_for(ruled(*rules), Submission(**pod))


class TestProvided:
    """The pod's queue label."""

    @pytest.mark.parametrize(
        ("label", "leaf"),
        [
            ("root.dev", "root.dev"),
            ("dev", "root.dev"),
            ("root.DEV", "root.dev"),
            ("root.ops.Night", "root.Ops.night"),
            ("root.users.Ann", "root.users.ann"),
            ("root.ops.day.early", "root.Ops.day.early"),
            ("team.one", "root.team_dot_one"),
            ("", None),
            ("root.dev.below-a-leaf", None),
            ("root.users", None),
            ("root.a..b", None),
            ("root.a b", None),
            ("root.root", None),
            ("root." + "x" * 65, None),
            (".".join(["root", *["x" * 60] * 9]), None),
        ],
    )
    def test_a_label_names_a_leaf(self, label: str, leaf: str | None) -> None:
        """There or to come, whatever the case; not below a leaf, not a parent, not by a name that YuniKorn refuses."""
        assert found(PROVIDED, queue=label) == leaf

    def test_without_create_the_leaf_must_be_there(self) -> None:
        """Else the next rule is asked."""
        strict = Rule(name=RuleName.PROVIDED)
        assert found(strict, queue="dev") == "root.dev"
        assert found(strict, fixed("root.dev"), queue="new") == "root.dev"

    def test_the_parent_rule_is_for_labels_that_do_not_begin_with_root(self) -> None:
        """Source: the example of YuniKorn's documentation."""
        rule = Rule(name=RuleName.PROVIDED, create=True, parent=USER)
        assert found(rule, queue="my_special_queue", user="developer") == "root.developer.my_special_queue"
        assert found(rule, queue="root.dev_queue", user="developer") == "root.dev_queue"


class TestUser:
    """Who submitted the pod."""

    def test_dots_of_a_name_are_no_steps_of_the_tree(self) -> None:
        """They are written out."""
        assert found(USER, user="finance.test") == "root.finance_dot_test"

    def test_who_does_not_say_it_is_nobody(self) -> None:
        """As in YuniKorn."""
        assert found(USER) == "root.nobody"

    def test_a_name_that_can_be_no_queue_refuses_the_pod(self) -> None:
        """Whatever the rules after it say."""
        assert found(USER, fixed("root.dev"), user="a b") is None
        assert found(USER, fixed("root.dev"), user="ünal") is None

    def test_a_user_without_a_queue_goes_on_to_the_next_rule(self) -> None:
        """Where the rule creates none."""
        assert found(Rule(name=RuleName.USER), fixed("root.dev"), user="ann") == "root.dev"


class TestTag:
    """What the pod's namespace says."""

    def test_by_namespace(self) -> None:
        """The name, or the queue that the namespace's annotation names."""
        assert found(NAMESPACE, namespace="search") == "root.search"
        above = Rule(name=RuleName.TAG, value="namespace.parentqueue", create=True)
        assert found(above, namespace="search", parent_queue="root.users.x") == "root.users.x"
        below = Rule(name=RuleName.TAG, value="Namespace", create=True, parent=above)
        assert found(below, namespace="search", parent_queue="root.users") == "root.users.search"

    def test_another_tag_is_on_no_pod(self) -> None:
        """So the next rule is asked."""
        assert found(Rule(name=RuleName.TAG, value="team", create=True), fixed("root.dev")) == "root.dev"


class TestFixed:
    """A queue that the rule itself names."""

    @pytest.mark.parametrize(
        ("value", "leaf"), [("root.dev", "root.dev"), ("DEV", "root.dev"), ("users.a.b", "root.users.a.b")]
    )
    def test_with_its_steps(self, value: str, leaf: str) -> None:
        """Its dots are steps, unlike those of other rules."""
        assert found(fixed(value, create=True)) == leaf

    def test_a_parent_is_passed_over(self) -> None:
        """Pods run in leaves."""
        assert found(fixed("root.users"), fixed("root.dev")) == "root.dev"

    def test_as_parent_it_must_hold_queues(self) -> None:
        """A leaf there refuses the pod, whatever the rules after it say."""
        assert found(Rule(name=RuleName.USER, create=True, parent=fixed("root.users")), user="ann") == "root.users.ann"
        under_leaf = Rule(name=RuleName.USER, create=True, parent=fixed("root.dev"))
        assert found(under_leaf, fixed("root.dev"), user="ann") is None

    def test_a_parent_that_is_not_there_gives_nothing(self) -> None:
        """Unless it may be created."""
        assert found(Rule(name=RuleName.USER, create=True, parent=fixed("root.new")), user="ann") is None
        created = Rule(name=RuleName.USER, create=True, parent=fixed("root.new", create=True))
        assert found(created, user="ann") == "root.new.ann"


class TestFilter:
    """Whose pods a rule is for."""

    @pytest.mark.parametrize(
        ("whom", "user", "groups", "is_for"),
        [
            (Filter(), "ann", (), True),
            (Filter(deny=True), "ann", (), False),
            (Filter(users=("ann", "bob")), "bob", (), True),
            (Filter(users=("ann", "bob")), "Bob", (), False),
            (Filter(users=("ann",), deny=True), "ann", (), False),
            (Filter(users=("ann",), deny=True), "bob", (), True),
            (Filter(groups=("dev",)), "bob", ("ops", "dev"), True),
            (Filter(groups=("dev",)), "bob", ("ops",), False),
            (Filter(users=("ann",), groups=("dev",)), "bob", ("dev",), True),
            (Filter(users=("^a.*",)), "ann", (), True),
            (Filter(users=("n+",)), "ann", (), True),
            (Filter(users=("^n",)), "ann", (), False),
            (Filter(groups=("dev*",)), "sarah", ("sarah", "test_app", "dev_app"), True),
            (Filter(users=("ann", "b.*")), "bob", (), False),
        ],
    )
    def test_by_user_then_by_group(self, whom: Filter, user: str, groups: tuple[str, ...], is_for: bool) -> None:
        """A single entry may be an expression, found anywhere in the name; several are names."""
        rule = fixed("root.dev", filter=whom)
        assert found(rule, user=user, groups=groups) == ("root.dev" if is_for else None)


class TestInTheEnd:
    """Where no rule gives a leaf."""

    def test_the_leaf_of_the_namespace_then_the_default_one(self) -> None:
        """The latter as in YuniKorn, if the tree has it."""
        shape = tree({"default": queue(), "mine": queue(namespaces=("search",))})
        by_label = QueueTree(shape.queues.values(), [PROVIDED])
        assert leaf_for(by_label, Submission(namespace="search")) == "root.mine"
        assert leaf_for(by_label, Submission(namespace="other")) == "root.default"
        assert found(PROVIDED, namespace="other") is None


class TestGrown:
    """The tree with the leaves that are there because of their pods."""

    TEMPLATE = Settings(guaranteed=amounts("2"), delay_ms=5, preemption_policy=PreemptionPolicy.FENCE)

    def test_a_leaf_takes_the_nearest_template_above_and_a_parent_nothing(self) -> None:
        """Down through parents, dynamic ones too, that have none of their own."""
        shape = tree(
            {"a": queue("9", parent_declared=True, template=self.TEMPLATE), "a.b": queue(parent_declared=True)}
        )
        one = add_dynamic_queues(shape, ["root.a.b.c.d", "root.a.x", "root.new"])
        assert one["root.a.b.c.d"] == Queue(
            path="root.a.b.c.d",
            guaranteed={"cpu": 2_000},
            delay_ms=5,
            preemption_policy=PreemptionPolicy.FENCE,
            dynamic=True,
        )
        assert one["root.a.b.c"] == Queue(path="root.a.b.c", parent_declared=True, dynamic=True)
        assert one["root.a.x"].guaranteed == {"cpu": 2_000}
        assert one["root.new"] == Queue(path="root.new", dynamic=True)
        assert [one.path for one in one.dynamic] == ["root.a.b.c", "root.a.b.c.d", "root.a.x", "root.new"]

    def test_an_own_template_stands_before_that_above_even_if_it_says_nothing(self) -> None:
        """As one of YuniKorn's that says only what is not read here."""
        shape = tree(
            {
                "a": queue(parent_declared=True, template=self.TEMPLATE),
                "a.b": queue(parent_declared=True, template=Settings()),
            }
        )
        assert add_dynamic_queues(shape, ["root.a.b.c"])["root.a.b.c"] == Queue(path="root.a.b.c", dynamic=True)

    def test_nothing_grows_below_a_leaf(self) -> None:
        """Written or dynamic: who comes first has it."""
        shape = ruled(PROVIDED)
        assert add_dynamic_queues(shape, ["root.dev.x"]) is shape
        assert "root.a.b" not in add_dynamic_queues(shape, ["root.a", "root.a.b"])
        assert add_dynamic_queues(shape, ["root.a.b", "root.a"])["root.a"].parent_declared

    def test_a_root_alone_holds_queues(self) -> None:
        """As it always does in YuniKorn."""
        assert list(add_dynamic_queues(ROOT_ONLY, ["root.a"]).leaves) == ["root.a"]
        assert leaf_for(QueueTree(ROOT_ONLY.queues.values(), [PROVIDED]), Submission(queue="a")) == "root.a"


class TestInASnapshot:
    """What policies see."""

    def test_its_tree_has_the_queues_of_its_pods(self) -> None:
        """And those of a tree without rules are the written ones."""
        shape = ruled(PROVIDED)
        at = snapshot(shape, node(), pod("one", queue="root.users.ann", node="n1"), ask("two", queue="dev"))
        assert [one.queue for one in at.pods] == ["root.users.ann", "root.dev"]
        assert at.tree["root.users.ann"].dynamic
        assert at.usage(at.tree)["root.users"] == {"cpu": 1_000, "pods": 1}
        plain = QueueTree(shape.queues.values())
        assert snapshot(plain, node(), ask("two", queue="root.users.ann")).tree is plain

    def test_its_tree_is_the_same_while_its_queues_are(self) -> None:
        """What was worked out for it holds on; the written tree stays as it is."""
        shape, state = ruled(PROVIDED), _state(pod("one", queue="root.users.ann"))
        first = state.snapshot(shape, now_ms=NOW)
        state.pods["uid-two"] = pod("two", queue="root.users.ann")
        second = state.snapshot(shape, now_ms=NOW)
        assert second.tree is first.tree
        state.pods.clear()
        assert state.snapshot(shape, now_ms=NOW).tree is shape

    def test_a_newcomer_never_takes_a_leaf_away(self) -> None:
        """Its queue would need the leaf of an older pod to be a parent: it has no queue, and is never a victim."""
        shape = ruled(PROVIDED)
        old = pod("old", queue="root.a", node="n1", created_ms=1)
        new = pod("new", queue="root.a.b", node="n1", created_ms=2)
        at = snapshot(shape, node(), new, old, protection=Protection())
        assert {one.name: (one.queue, one.shield) for one in at.pods} == {
            "old": ("root.a", Shield.NONE),
            "new": (None, Shield.NO_QUEUE),
        }

    def test_a_template_says_whether_pods_without_a_controller_may_go(self) -> None:
        """As a queue of its own does."""
        template = Settings(evict_uncontrolled=True)
        shape = QueueTree(tree({"t": queue(parent_declared=True, template=template)}).queues.values(), [PROVIDED])
        lone = [pod(name, queue=name, node="n1", controller="") for name in ("root.t.x", "root.u")]
        at = snapshot(shape, node(), lone, protection=Protection())
        assert [one.shield for one in at.pods] == [Shield.NONE, Shield.NO_CONTROLLER]

    def test_what_a_namespace_says_is_followed_at_once(self) -> None:
        """Also for pods that were there before."""
        shape = ruled(Rule(name=RuleName.TAG, value="namespace.parentqueue", create=True))
        state = _state(pod("one"))
        assert queue_in(state, shape) is None
        state.namespaces["ns"] = Namespace(name="ns", parent_queue="root.users.x")
        assert queue_in(state, shape) == "root.users.x"
        assert state.placed("uid-one", shape) is not None
        assert state.queue_of(state.pods["uid-one"], shape) == "root.users.x"


def _state(*pods: Pod) -> ClusterState:
    state = ClusterState()
    state.pods.update((one.uid, one) for one in pods)
    return state


def queue_in(state: ClusterState, shape: QueueTree) -> str | None:
    """Where the only pod of a state runs."""
    (one,) = state.snapshot(shape, now_ms=NOW).pods
    return one.queue

"""What can't be read is never taken for free room, for a promise that is not kept, or for a victim."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import Invariant, audit, failed_checks
from engine.formats.kubernetes.placeholders import unread_budget, unread_class, unread_node, unread_pod
from engine.model.decision import Decision, NodeReason, Outcome, Reason
from engine.model.objects import DisruptionBudget, PriorityClass, Shield
from engine.model.snapshot import Snapshot
from engine.policies import known_dialects, policy
from tests.builders import ask, named, node, pod, queue, refused, snapshot, tree

SHAPE = tree({"a": queue("4"), "b": queue(), "c": queue()})
UNREAD = {"unread": True}
EVERY_POLICY = pytest.mark.parametrize(
    ("name", "dialect"), [(name, dialect) for name, dialects in known_dialects().items() for dialect in dialects]
)


def decide(at: Snapshot) -> Decision:
    return policy("fence", "design")(at, SHAPE, named(at, "ask"))


def world(*objects: Any) -> Snapshot:
    """Room for the ask is made by one pod of b on n1."""
    victim, other = pod("v", queue="b", cpu=2, node="n1"), pod("w", queue="b", cpu=2, node="n2", priority=1)
    given = {
        one.name: one for one in (node("n1", 2), node("n2", 2), victim, other, ask("ask", queue="a", cpu=2, priority=1))
    }
    return snapshot(SHAPE, *(given | {one.name: one for one in objects}).values())


def test_where_all_can_be_read_the_cheapest_pod_goes() -> None:
    """What the others in this file are held against."""
    assert [one.pod.name for one in decide(world()).victims] == ["v"]


@pytest.mark.parametrize("odd", [node("n1", 2, **UNREAD), pod("odd", cpu=0, node="n1", **UNREAD)])
def test_a_node_that_holds_what_can_not_be_read_is_passed_over(odd: Any) -> None:
    """The dearer node is taken, and the trace says why not this one."""
    found = decide(world(odd))
    assert (found.node, [one.pod.name for one in found.victims]) == ("n2", ["w"])
    assert [(one.node, one.reason) for one in found.trace.nodes] == [("n1", NodeReason.UNREAD)]


def test_a_node_that_looks_empty_is_no_room_while_a_pod_on_it_can_not_be_read() -> None:
    """Neither for the answer that an ask fits, nor for the law that holds a decision against it."""
    odd = pod("odd", cpu=0, node="n3", **UNREAD)
    assert decide(world(node("n3", 9), odd)).outcome is Outcome.PREEMPT
    assert decide(world(node("n3", 9))).outcome is Outcome.FITS
    at = world(odd, node("n1", 2))
    moved = msgspec.structs.replace(odd, node="n1")
    decision = decide(at)
    assert [check.law for check in failed_checks(audit(world(moved), SHAPE, decision))] == [Invariant.FITS]
    assert not failed_checks(audit(at, SHAPE, decision))


def test_once_it_can_be_read_again_the_node_counts_as_before() -> None:
    """Nothing of it stays."""
    assert refused(ask("x"), node("n1"), pod("odd", node="n1", **UNREAD)) is not None
    assert refused(ask("x"), node("n1"), pod("odd", node="n1")) is None


def test_a_pod_that_can_not_be_read_is_never_a_victim() -> None:
    """With or without a protection."""
    at = world(pod("v", queue="b", cpu=2, node="n1", **UNREAD))
    assert named(at, "v").shield is Shield.UNREAD
    assert [one.pod.name for one in decide(at).victims] == ["w"]


@pytest.mark.parametrize(
    ("where", "reason"), [("a", Reason.UNREAD), ("b", Reason.BELOW_GUARANTEE), ("nowhere", Reason.BELOW_GUARANTEE)]
)
def test_no_ask_preempts_by_a_guarantee_that_may_be_used_up(where: str, reason: Reason) -> None:
    """A pod that can't be read may hold all that its queue is guaranteed; other queues are not concerned."""
    at = world(pod("odd", queue=where, cpu=0, node="gone", **UNREAD))
    assert decide(at).reason is reason


@EVERY_POLICY
def test_what_waits_and_can_not_be_read_holds_nothing_back(name: str, dialect: str) -> None:
    """A pending pod that no node could hold stops no preemption, not even in its own queue."""
    odd = [ask(f"odd-{where}", queue=where, cpu=0, **UNREAD) for where in ("a", "b", "c")]
    halves = tree({"a": queue("2"), "b": queue("2"), "c": queue()})
    long_ago = {"root.b": 0}  # policy deserved preempts only after a notice
    worlds = [msgspec.structs.replace(at, notices=long_ago) for at in (world(), world(*odd))]
    without, beside = (policy(name, dialect)(at, halves, named(at, "ask")) for at in worlds)
    assert without.outcome is Outcome.PREEMPT
    assert (beside.outcome, beside.node, beside.victims) == (without.outcome, without.node, without.victims)


@EVERY_POLICY
def test_an_ask_that_can_not_be_read_is_left_alone(name: str, dialect: str) -> None:
    """Nobody knows what it asks for, and it may be bound by now."""
    at = world(ask("ask", queue="a", cpu=2, priority=1, **UNREAD))
    assert policy(name, dialect)(at, SHAPE, named(at, "ask")).reason is Reason.UNREAD


def test_a_law_of_its_own_holds_that_too() -> None:
    """Also against a policy that forgot."""
    decision = decide(world())
    at = world(pod("odd", queue="a", cpu=0, node="n9", **UNREAD))
    assert [check.law for check in failed_checks(audit(at, SHAPE, decision))] == [Invariant.MAY_PREEMPT]


# What stands for them


def data(spec: Any = None, status: Any = None, **meta: Any) -> bytes:
    meta = {"name": "p", "namespace": "a", "uid": "u", **meta}
    return json.dumps({"metadata": meta, "spec": spec, "status": status}).encode()


def test_of_a_pod_that_was_never_read_its_place_queue_and_phase_are_told() -> None:
    """As far as they can be read by themselves."""
    got = unread_pod(data({"nodeName": "n1", "priority": "high"}, {"phase": "Failed"}, labels={"queue": "b"}), None)
    assert (got.uid, got.key, got.node, got.queue_label, got.finished, got.unread) == (
        "u",
        "a/p",
        "n1",
        "b",
        True,
        True,
    )
    nothing = unread_pod(data([], [], labels=[]), None)
    assert (nothing.node, nothing.queue_label, nothing.finished, nothing.unread) == (None, "", False, True)


def test_of_a_pod_that_was_read_before_all_is_kept_but_where_it_is_now() -> None:
    """An ask that was bound since is no ask any more."""
    known = ask("p", queue="b", cpu=3)
    assert unread_pod(data({"nodeName": "n1", "overhead": {"cpu": "much"}}), known) == msgspec.structs.replace(
        known, unread=True, node="n1"
    )


def test_what_can_not_be_read_spares_rather_than_takes() -> None:
    """Nodes take nothing, classes opt out, budgets allow no disruption."""
    assert unread_node(data(name="n1"), node("n1", 4)) == node("n1", 4, unread=True)
    assert unread_node(data(name="n1"), None).allocatable == {}
    assert unread_class(data(name="c"), PriorityClass(name="c", value=5)) == PriorityClass(
        name="c", value=5, opted_out=True, unread=True
    )
    covered = DisruptionBudget(namespace="a", name="p", allowed=7)
    assert unread_budget(data(), covered).allowed == 0
    assert unread_budget(data(), None).expressions == ()


ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([]) | st.just({})
PARTS = ANY | st.dictionaries(st.sampled_from(["nodeName", "phase", "conditions", "queue"]), ANY)


@given(PARTS, PARTS, PARTS)
def test_whatever_an_object_is_made_of_something_stands_for_it(spec: Any, status: Any, labels: Any) -> None:
    """As long as it has an identity."""
    for stand_in in (unread_pod, unread_node, unread_class, unread_budget):
        stand_in(data(spec, status, labels=labels), None)

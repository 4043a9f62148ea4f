"""Who gives back, who is told, and who is left alone under policy ``deserved``, rule by rule."""

import msgspec

from engine.model.decision import Decision, Outcome, PodReason, Reason, apply_decision
from engine.model.objects import DisruptionBudget, Pod
from engine.model.snapshot import Snapshot
from engine.policies.deserved import Parameters, decide
from tests.builders import NOW, ask, named, node, pod, queue, snapshot, tree, victims_of

FLAT = tree({"a": queue(), "b": queue(), "c": queue()})
LONG_AGO = {"root.a": 0, "root.b": 0}


def decided(there: Snapshot, name: str = "x", **parameters: object) -> Decision:
    """What is decided for the ask."""
    return decide(there, there.tree, named(there, name), msgspec.convert(parameters, Parameters))


def shared(*more: Pod, notices: dict[str, int], a: int = 3, b: int = 3) -> Snapshot:
    """Six cores on one node, which two queues fill; a third one asks for one."""
    running = [pod(f"{of}{i}", queue=of, node="n1") for of, many in (("a", a), ("b", b)) for i in range(many)]
    return snapshot(FLAT, node("n1", 6), running, ask("x", queue="c"), more, notices=notices)


def test_who_has_had_its_time_gives_before_who_has_not() -> None:
    """Though the other one has more beyond what it deserves; it is told all the same."""
    found = decided(shared(notices={"root.b": 0}, a=3, b=3))
    assert (found.outcome, {one.pod.queue for one in found.victims}) == (Outcome.PREEMPT, {"root.b"})
    assert {notice.queue for notice in found.notices} == {"root.a", "root.b"}


def test_who_has_no_more_than_it_deserves_is_not_taken_from() -> None:
    """However long ago it was told."""
    found = decided(shared(notices={"root.b": 0}, a=4, b=2))
    assert (found.reason, found.detail) == (Reason.GRACE, "root.a")


def test_who_was_told_already_is_waited_for() -> None:
    """So that the ask gets its room when that grace is over, and not after another one's."""
    found = decided(shared(notices={"root.b": NOW - 10_000}))
    assert (found.reason, found.detail, found.due_ms) == (Reason.GRACE, "root.b", NOW + 20_000)


def test_each_consumer_has_its_own_grace_or_that_of_its_area() -> None:
    """The nearest that says something."""
    where = tree({"area": queue(delay_ms=5_000), "area.a": queue(), "b": queue()})
    running = [pod(f"a{i}", queue="area.a", node="n1") for i in range(4)]
    found = decided(snapshot(where, node("n1", 4), running, ask("x", queue="b")))
    assert (found.reason, found.due_ms) == (Reason.GRACE, NOW + 5_000)


def test_a_pod_of_two_disruption_budgets_stays() -> None:
    """The API would refuse its eviction, whatever each allows."""
    there = shared(notices=LONG_AGO)
    budgets = tuple(DisruptionBudget(namespace="ns", name=name, allowed=9) for name in ("one", "two"))
    found = decided(there.with_budgets(budgets))
    assert (found.outcome, found.reason) == (Outcome.NO_CANDIDATE, Reason.NO_CANDIDATES)
    assert found.trace.excluded_counts[PodReason.OVER_BUDGET] == 6


def test_a_budget_is_spent_over_all_decisions_of_a_pass() -> None:
    """Whom an earlier one told to go counts, though the cluster does not show it yet."""
    there = shared(ask("y", queue="c"), notices=LONG_AGO)
    there = there.with_budgets((DisruptionBudget(namespace="ns", name="one", allowed=1),))
    first = decided(there)
    assert first.outcome is Outcome.PREEMPT
    assert decided(apply_decision(there, first), "y").outcome is Outcome.NO_CANDIDATE


def test_anywhere_pods_go_from_several_nodes_until_so_much_is_free_together() -> None:
    """Where the ask fits then is for the scheduler; its room counts as used."""
    running = [pod(f"a{i}", queue="a", node=f"n{i}", created_ms=i) for i in range(4)]
    beside = pod("a4", queue="a", node="n0")
    nodes = [node("n0", 2), *(node(f"n{i}", 1) for i in range(1, 4))]
    there = snapshot(FLAT, nodes, running, beside, ask("x", queue="c", cpu=2), notices=LONG_AGO)
    assert victims_of(decided(there)) == ["a0", "a4"]
    found = decided(there, node_fit=False)
    assert (found.node, victims_of(found)) == (None, ["a2", "a3"])
    later = apply_decision(there, found)
    assert [(room.ask_uid, room.node) for room in later.reservations] == [("uid-x", "")]


def test_a_class_of_high_priority_takes_beyond_what_is_deserved_at_once() -> None:
    """Lower priorities only, and up to its queue's hard."""

    def facing(hard: str, priority: int) -> Decision:
        where = tree({"a": queue(), "c": queue(max=hard)})
        running = [pod("a0", queue="a", node="n1", cpu=2), pod("c0", queue="c", node="n1", cpu=2)]
        urgent = ask("x", queue="c", cpu=2, priority=priority, priority_class="urgent")
        there = snapshot(where, node("n1", 4), running, urgent, ask("a1", queue="a", cpu=2))
        return decided(there, high_priority=("urgent",))

    found = facing("8", 10)
    assert (found.outcome, found.reason, victims_of(found)) == (Outcome.PREEMPT, Reason.HIGH_PRIORITY, ["a0"])
    assert found.notices == ()
    assert facing("8", 0).outcome is Outcome.NO_CANDIDATE
    assert (facing("3", 10).reason, facing("3", 10).detail) == (Reason.OVER_MAX, "root.c cpu")


def test_what_an_area_may_have_at_most_is_made_room_under_inside_it() -> None:
    """A pod from outside would not help, however much its queue has."""
    where = tree({"area": queue(max="2"), "area.a": queue(), "area.c": queue(), "b": queue()})
    running = [*(pod(f"a{i}", queue="area.a", node="n1") for i in range(2)), pod("b0", queue="b", node="n1", cpu=4)]
    there = snapshot(where, node("n1", 6), running, ask("x", queue="area.c"), notices={"root.area.a": 0, "root.b": 0})
    found = decided(there)
    assert (found.outcome, {one.pod.queue for one in found.victims}) == (Outcome.PREEMPT, {"root.area.a"})


def test_an_ask_that_no_node_could_ever_hold_takes_nothing() -> None:
    """It asks nothing of the shares either."""
    there = snapshot(FLAT, node("n1", 2), pod("a0", queue="a", node="n1", cpu=2), ask("x", queue="c", cpu=3))
    assert (decided(there).outcome, decided(there).reason) == (Outcome.NO_CANDIDATE, Reason.NO_ROOM)


def test_an_ask_that_the_scheduler_has_not_tried_waits() -> None:
    """And nobody is told."""
    there = snapshot(
        FLAT, node("n1", 2), pod("a0", queue="a", node="n1", cpu=2), ask("x", queue="c", unschedulable_ms=None)
    )
    found = decided(there)
    assert (found.reason, found.notices) == (Reason.NOT_TRIED, ())

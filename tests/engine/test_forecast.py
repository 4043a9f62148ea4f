"""A forecast begins with what the next pass would do, loses no pod on its way, and says where it ends."""

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.objects import AffinityTerm, Pod, Requirement, Taint
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning.forecast import EvictionCount, Forecast, Settling, difference, forecast, group_evictions, origin
from engine.planning.journal import PassInputs
from engine.planning.scheduling_pass import plan
from engine.policies import audit_terms, policy
from tests.builders import MINUTE, NOW, ask, daemonset_ask, node, pod, pod_group, queue, reservation, tree
from tests.engine.strategies import clusters, queue_trees
from tests.engine.test_journal import shuffled, state_of

DECIDE = policy("fence", "design")
NOW_MOMENT = PassInputs(now_ms=NOW)
LATER = 90
"""Rounds enough for every small world."""


def ahead(state: ClusterState, shape: QueueTree, moment: PassInputs = NOW_MOMENT, **settings: int) -> Forecast:
    """A forecast under policy fence."""
    return forecast(state, moment, shape, DECIDE, **settings)


def names(pods: Iterable[PodFacts]) -> list[str]:
    """In order."""
    return [one.name for one in pods]


def where(state: ClusterState) -> dict[str, str | None]:
    """Pod -> the node it is bound to."""
    return {one.name: one.node for one in state.pods.values()}


def prod_and_test(prod: int, test: int, asks: int) -> ClusterState:
    """A full node of pods of 2 cores, and Prod's asks."""
    return state_of(
        node("n1", prod + test),
        [pod(f"p{i}", queue="prod", app="p", cpu=2, node="n1") for i in range(prod // 2)],
        [pod(f"t{i}", queue="test", app="t", cpu=2, node="n1") for i in range(test // 2)],
        [ask(f"want{i}", queue="prod", app="p", cpu=2) for i in range(asks)],
    )


def test_one_pod_goes_and_then_it_is_quiet() -> None:
    """Prod 4 of 5, Test 8 over 5: one pod in the next pass, none after it."""
    found = ahead(prod_and_test(prod=4, test=8, asks=2), tree({"prod": queue("5"), "test": queue("5")}))
    assert (found.settles, found.passes) == (Settling.STABLE, 1)
    assert found.first_pass == found.total == EvictionCount(pods=1, applications=1)
    assert [(one.ask.name, one.node) for one in found.placed] == [("want0", "n1")]
    waiting = [(one.decision.ask.name, one.decision.reason) for one in found.waiting]
    assert waiting == [("want1", Reason.AT_GUARANTEE), ("t1~1", Reason.AT_GUARANTEE)]


def test_what_the_next_pass_takes_is_told_from_what_later_ones_take() -> None:
    """Prod 4 of 10, Test 8 over 2: one node is kept for one ask at a time, so three passes."""
    found = ahead(prod_and_test(prod=4, test=8, asks=6), tree({"prod": queue("10"), "test": queue("2")}))
    assert (found.passes, found.first_pass, found.total) == (3, EvictionCount(1, 1), EvictionCount(3, 1))
    [group] = group_evictions(found.evictions)
    assert (group.asker_queue, group.queue, group.namespace) == ("root.prod", "root.test", "ns")
    assert (group.application, group.node, group.first, group.later) == ("t", "n1", 1, 2)


def test_a_cluster_where_nobody_may_preempt_is_quiet_at_once() -> None:
    """No pass moves anything."""
    found = ahead(prod_and_test(prod=4, test=6, asks=1), tree({"prod": queue("5"), "test": queue("5")}))
    assert (found.settles, found.passes, found.total) == (Settling.STABLE, 0, EvictionCount(0, 0))


def test_an_ask_that_still_waits_for_its_delay_is_served_later() -> None:
    """Not in the next pass, but in the end; so is one that no scheduler has tried yet."""
    shape = tree({"prod": queue("4", delay_ms=5 * MINUTE), "test": queue("2")})
    tests = [pod(f"t{i}", queue="test", cpu=1, node="n1") for i in range(4)]
    for since in (NOW - 1, NOW + 5, None):
        found = ahead(state_of(node("n1", 4), tests, ask("a", queue="prod", unschedulable_ms=since)), shape)
        assert (found.first_pass.pods, found.total.pods, found.settles) == (0, 1, Settling.STABLE)


def test_who_has_a_controller_comes_back_and_asks() -> None:
    """Under its own name with a count, with what it asked for; bare pods and finished ones don't."""
    shape = tree({"prod": queue("4", delay_ms=0), "test": queue(evict_uncontrolled=True)})
    pods = [pod("bare", queue="test", node="n1", controller=""), pod("made", queue="test", node="n1")]
    found = ahead(state_of(node("n1", 2), pods, ask("a", queue="prod", cpu=2)), shape)
    assert where(found.end) == {"a": "n1", "made~1": None}
    again = found.end.pods["uid-made~1"]
    assert (again.requests, again.started_ms, again.created_ms) == (pods[1].requests, None, NOW)
    assert origin(again.uid) == "uid-made"


def test_open_decisions_come_about_first() -> None:
    """Their victims go and come back, their asks get the node kept for them, which then is free for others."""
    shape = tree({"prod": queue("2"), "test": queue()})
    one = ask("a", queue="prod")
    kept = node("n1", 2, taints=(Taint("scheduler-admin.io/reserved-for", one.uid),))
    pods = [pod("t0", queue="test", node="n1"), pod("t1", queue="test", node="n1")]
    moment = PassInputs(now_ms=NOW, reservations=(reservation(one, node="n1"),), going=frozenset({"uid-t0"}))
    found = ahead(state_of(kept, pods, one, ask("b", queue="prod")), shape, moment)
    assert [(placed.round, placed.ask.name, placed.node) for placed in found.placed] == [(1, "a", "n1"), (2, "b", "n1")]
    assert found.placed[0].ask.queue == "root.prod"
    assert names(one.victim for one in found.evictions) == ["t1"]
    assert where(found.end) == {"a": "n1", "b": "n1", "t0~1": None, "t1~1": None}


def test_of_an_open_decision_only_what_is_still_true_comes_about() -> None:
    """A victim that finished by itself is not made again; an ask that is gated, bound or gone gets nothing."""
    shape = tree({"prod": queue("2"), "test": queue()})
    asks = [ask("gated", queue="prod", gated=True), pod("bound", queue="prod", node="n2"), ask("gone", queue="prod")]
    moment = PassInputs(
        now_ms=NOW,
        reservations=tuple(reservation(one, node="n1") for one in asks),
        going=frozenset({"uid-done", "uid-nowhere"}),
    )
    done = pod("done", queue="test", node="n1", finished=True)
    found = ahead(state_of(node("n1", 3), node("n2", 1), done, asks[:2]), shape, moment)
    assert where(found.end) == {"gated": None, "bound": "n2"}
    assert found.placed == ()


def test_pods_on_their_way_out_leave_and_are_not_made_again() -> None:
    """What replaces them is there already; who waited for their room gets it."""
    shape = tree({"prod": queue("2"), "test": queue()})
    pods = [pod("old", queue="test", node="n1", terminating=True), ask("new", queue="test")]
    found = ahead(state_of(node("n1", 1), pods), shape)
    assert where(found.end) == {"new": "n1"}
    assert found.total.pods == 0


def test_asks_that_fit_take_no_room_twice() -> None:
    """Two for the one place that both were shown: the second waits for a later round, and for nothing."""
    found = ahead(state_of(node("n1", 1), ask("a", queue="test"), ask("b", queue="test")), tree({"test": queue()}))
    assert where(found.end) == {"a": "n1", "b": None}
    assert names(one.ask for one in found.placed) == ["a"]


def test_asks_that_keep_apart_share_no_zone_though_both_would_fit_there() -> None:
    """Each is placed beside those that came before it, on other nodes of its topology too."""
    shape = tree({"prod": queue()})
    apart = AffinityTerm("zone", (Requirement("app", "In", ("db",)),), ("ns",))
    asks = [ask(f"db-{i}", queue="prod", labels={"app": "db"}, anti_affinity=(apart,)) for i in range(2)]
    only = [msgspec.structs.replace(asks[1], node_selector={"name": "n2"})]
    nodes = [node(name, 4, labels={"zone": "a", "name": name}) for name in ("n1", "n2")]
    assert where(ahead(state_of(nodes, asks[0], only), shape).end) == {"db-0": "n1", "db-1": None}


def test_a_daemonsets_ask_takes_room_on_its_node_and_stays() -> None:
    """Its victims find other nodes; nobody takes the room back."""
    shape = tree({"agents": queue(), "test": queue("1", delay_ms=0)})
    pods = [pod(f"t{i}", queue="test", node="n1") for i in range(2)]
    found = ahead(state_of(node("n1", 2), node("n2", 1), pods, daemonset_ask("agent", on="n1", queue="agents")), shape)
    assert where(found.end)["agent"] == "n1"
    assert sorted(where(found.end).values(), key=str) == ["n1", "n1", "n2"]
    assert (found.settles, found.total.pods) == (Settling.STABLE, 1)


def test_gated_pods_and_pods_of_no_queue_are_left_alone() -> None:
    """No scheduler would look at the former; of the latter the policy says nothing."""
    shape = tree({"test": queue()})
    found = ahead(state_of(node("n1", 4), ask("gated", queue="test", gated=True), ask("stray", queue="nowhere")), shape)
    assert where(found.end) == {"gated": None, "stray": None}
    assert [one.decision.reason for one in found.waiting] == [Reason.NO_QUEUE]


def test_a_forecast_that_is_cut_short_says_so() -> None:
    """Neither quiet nor a loop."""
    found = ahead(prod_and_test(4, 8, 6), tree({"prod": queue("10"), "test": queue("2")}), passes=2)
    assert (found.settles, len(found.rounds)) == (Settling.UNDECIDED, 2)


def grabbing(snapshot: Snapshot, _tree: QueueTree, asker: Pod) -> Decision:
    """A policy without conscience: whoever asks takes the first pod of another queue."""
    others = [one for one in snapshot.pods if one.node and not one.terminating and one.queue != asker.queue]
    found = Decision(policy="fence", ask=PodFacts.of(asker), outcome=Outcome.NO_CANDIDATE, reason=Reason.NO_ROOM)
    if not others or snapshot.reservations:
        return found
    victim = PodVerdict(pod=PodFacts.of(others[0]), reason=PodReason.OVER_GUARANTEE)
    return msgspec.structs.replace(found, outcome=Outcome.PREEMPT, node=others[0].node, victims=(victim,))


def test_a_loop_is_found_and_its_asks_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that take one place from each other again and again, beside a third that has nothing to do with it."""
    monkeypatch.setattr("engine.planning.scheduling_pass.Auditor.judge", lambda *_args: ())
    shape = tree({"x": queue(), "y": queue()})
    bystander = pod("z", queue="y", node="n2", finished=True)
    at = state_of(node("n1", 1), node("n2", 1), bystander, pod("x", queue="x", node="n1"), ask("y", queue="y"))
    found = forecast(at, NOW_MOMENT, shape, grabbing)
    assert found.settles is Settling.LOOP
    assert found.loop is not None
    assert {origin(one.uid) for one in found.loop.asks} == {"uid-x", "uid-y"}
    assert (found.loop.passes, set(found.loop.queues)) == (2, {"root.x", "root.y"})
    assert [one.victim.name for one in found.evictions] == ["x", "y", "x~1"]
    assert where(found.end)["z"] == "n2"


@pytest.mark.parametrize(
    ("prod", "test", "asks", "passes", "settles", "first", "total"),
    [
        (4, 6, 1, 30, "stable", EvictionCount(0, 0), EvictionCount(0, 0)),
        (4, 8, 1, 30, "stable", EvictionCount(1, 1), EvictionCount(1, 1)),
        (2, 12, 3, 30, "stable", EvictionCount(1, 1), EvictionCount(2, 1)),
        (2, 12, 3, 1, "undecided", EvictionCount(1, 1), EvictionCount(1, 1)),
    ],
)
def test_the_next_pass_and_all_together_are_summed_up(
    prod: int, test: int, asks: int, passes: int, settles: str, first: EvictionCount, total: EvictionCount
) -> None:
    """Pods and applications, each by its own number."""
    found = ahead(prod_and_test(prod, test, asks), tree({"prod": queue("5"), "test": queue("5")}), passes=passes)
    assert (found.settles, found.first_pass, found.total) == (settles, first, total)


def test_the_laws_stop_what_would_loop() -> None:
    """The same policy under the audit: its decisions are refused, and nothing moves."""
    shape = tree({"x": queue(), "y": queue()})
    found = forecast(
        state_of(node("n1", 1), pod("x", queue="x", node="n1"), ask("y", queue="y")), NOW_MOMENT, shape, grabbing
    )
    assert (found.settles, found.passes) == (Settling.STABLE, 0)
    assert [one.refused for one in found.waiting] == [True]


def test_the_difference_of_two_trees_is_what_the_change_alone_would_do() -> None:
    """Test loses one pod anyway; with less guaranteed a second one, and Batch is spared."""
    pods = [pod(f"{leaf}{i}", queue=leaf, node=f"n-{leaf}", app=leaf) for leaf in ("test", "batch") for i in range(3)]
    at = state_of(node("n-test", 3), node("n-batch", 3), pods, [ask(f"a{i}", queue="prod") for i in range(2)])
    now = ahead(at, tree({"prod": queue("4", delay_ms=0), "test": queue("2"), "batch": queue("2")}))
    then = ahead(at, tree({"prod": queue("4", delay_ms=0), "test": queue("1"), "batch": queue("3")}))
    assert sorted(one.victim.queue for one in now.evictions) == ["root.batch", "root.test"]
    change = difference(now, then)
    assert [one.victim.queue for one in change.caused] == ["root.test"]
    assert [one.victim.queue for one in change.spared] == ["root.batch"]
    assert difference(now, now) == difference(then, then)
    assert difference(now, now).caused == difference(now, now).spared == ()


@given(shape=queue_trees(), objects=clusters(), seed=st.integers(0, 2**32))
def test_the_order_of_the_input_changes_nothing(shape: QueueTree, objects: list[object], seed: int) -> None:
    """Pods in any order give the same rounds and the same end."""
    state = state_of(*objects)
    one, other = ahead(state, shape), ahead(shuffled(state, seed), shape)
    assert one.rounds == other.rounds
    assert where(one.end) == where(other.end)


@given(shape=queue_trees(), objects=clusters())
def test_the_first_round_is_the_next_pass(shape: QueueTree, objects: list[object]) -> None:
    """Decisions and audits, with nothing held back; and the cluster that was given stays as it was."""
    state = state_of(*objects)
    before = where(state)
    found = ahead(state, shape)
    assert list(found.rounds[0].considered) == plan(NOW_MOMENT.snapshot(state, shape), shape, DECIDE)
    assert where(state) == before


@given(shape=queue_trees(), objects=clusters())
def test_no_pod_is_lost_or_made_from_nothing(shape: QueueTree, objects: list[object]) -> None:
    """Every pod is bound, waits, or has left for good: it was leaving already, or nobody makes it again."""
    state = state_of(*objects)
    found = ahead(state, shape, passes=LATER)
    leaving = {one.uid for one in state.pods.values() if one.terminating}
    ends = [origin(uid) for uid in found.end.pods]
    assert sorted(ends) == sorted(state.pods.keys() - leaving)
    for name, one in found.end.nodes.items():
        held = [each for each in found.end.pods.values() if each.node == name]
        assert sum(each.requests.get("cpu", 0) for each in held) <= max(
            one.allocatable["cpu"],
            sum(each.requests.get("cpu", 0) for each in state.pods.values() if each.node == name),
        )


@given(shape=queue_trees(), objects=clusters())
def test_under_the_laws_every_cluster_comes_to_rest(shape: QueueTree, objects: list[object]) -> None:
    """Whatever the tree: no loop, and an end that is one: forecast from there, nothing moves."""
    found = ahead(state_of(*objects), shape, passes=LATER)
    assert found.settles is Settling.STABLE
    onward = ahead(found.end, shape, PassInputs(now_ms=found.rounds[-1].now_ms + 60 * MINUTE))
    assert onward.passes == 0


def test_victims_that_leave_anyway_are_no_evictions() -> None:
    """Policy priority waits for their room, as kube-scheduler does."""
    shape = tree({"prod": queue()})
    pods = [pod("old", queue="prod", node="n1", terminating=True), ask("new", queue="prod", priority=5)]
    decide = policy("priority", "kube-scheduler", {})
    found = forecast(state_of(node("n1", 1), pods), NOW_MOMENT, shape, decide)
    assert where(found.end) == {"new": "n1"}
    assert found.total.pods == 0


def test_who_is_told_to_give_back_has_given_when_its_grace_is_over() -> None:
    """By deserved shares nobody goes in the next pass; in the one after it prod gets what it deserves."""
    shape = tree({"prod": queue(), "area": queue(delay_ms=5 * MINUTE), "area.test": queue()})
    tests = [pod(f"t{i}", queue="area.test", node="n1") for i in range(4)]
    state = state_of(node("n1", 4), tests, [ask(f"p{i}", queue="prod") for i in range(3)])
    by_shares = policy("deserved", "arbitrator")
    found = forecast(state, NOW_MOMENT, shape, by_shares, terms=audit_terms("deserved", "arbitrator", {}))
    assert (found.settles, found.first_pass.pods, found.total.pods) == (Settling.STABLE, 0, 2)
    assert sorted(one.ask.name for one in found.placed) == ["p0", "p1"]
    assert found.rounds[1].now_ms - NOW > 5 * MINUTE


def test_all_pods_of_a_gang_run_on_the_nodes_that_it_gets() -> None:
    """Policy fence decides it once, and its pods run in the same round, also where nothing is evicted for them."""
    shape = tree({"prod": queue("8"), "test": queue()})
    old = [pod(f"old-{each}", queue="test", node="n1", cpu=2) for each in "ab"]
    gangs = [
        ask(f"{name}-{number}", queue="prod", cpu=2, app=name, scheduling_group=name, created_ms=number)
        for name in ("big", "small")
        for number in range(2)
    ]
    state = state_of(node("n0", 4), node("n1", 4), old, gangs)
    for name in ("big", "small"):
        state.scheduling_groups["ns", name] = pod_group(name, at_once=2)
    found = forecast(state, NOW_MOMENT, shape, policy("fence", "design"))
    assert {placed.ask.name: placed.node for placed in found.placed} == {
        "big-0": "n0",
        "big-1": "n0",
        "small-0": "n1",
        "small-1": "n1",
    }
    assert found.settles is Settling.STABLE

"""The audit refuses every decision that breaks a law, whoever made it, and says with which figures."""

import msgspec
import pytest

from engine.audit import AuditTerms, Invariant, InvariantCheck, Relation, Sum, audit, audit_plan, failed_checks
from engine.model.decision import Decision, Outcome, Reason
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Protection, Snapshot
from tests.builders import (
    OPTED_OUT,
    amounts,
    ask,
    daemonset_ask,
    named,
    node,
    pod,
    preempting,
    queue,
    reservation,
    snapshot,
    tree,
)

PROD_AND_TEST = tree({"prod": queue("5"), "test": queue("5")})


def laws_broken(snapshot: Snapshot, tree: QueueTree, decision: Decision, **parameters: AuditTerms) -> set[Invariant]:
    """The laws that a decision breaks."""
    return {check.law for check in failed_checks(audit(snapshot, tree, decision, **parameters))}


def line_of(checks: tuple[InvariantCheck, ...], law: Invariant, subject: str) -> Sum:
    """The first line of arithmetic about a subject."""
    lines = next(check for check in checks if check.law is law).sums
    return next(line for line in lines if isinstance(line, Sum) and line.subject == subject)


def prod_and_test(prod: int, test: int, size: int = 2, asks: int = 1, **settings: object) -> Snapshot:
    """Prod and Test on one full node, with pods of one size, and asks of Prod."""
    pods = [pod(f"p{i}", queue="prod", cpu=size, node="n1") for i in range(prod // size)]
    pods += [pod(f"t{i}", queue="test", cpu=size, node="n1", **settings) for i in range(test // size)]
    return snapshot(
        PROD_AND_TEST,
        node("n1", prod + test),
        pods,
        [ask(f"a{i}", queue="prod", cpu=size) for i in range(asks)],
        OPTED_OUT,
    )


def test_the_first_worked_example_keeps_every_law() -> None:
    """Prod 4 of 5, Test 8 over 5, pods of 2: one of Test's goes."""
    at = prod_and_test(prod=4, test=8)
    checks = audit(at, PROD_AND_TEST, preempting(at, "a0", ["t0"]))
    assert not failed_checks(checks)
    of_other_policies = {Invariant.WHOLE, Invariant.QUOTA, Invariant.BORROWS, Invariant.MEMBER_NODES}
    of_other_policies |= {Invariant.DESERVED, Invariant.OVERUSED, Invariant.NOTIFIED, Invariant.SYSTEM}
    of_safeguards = {Invariant.BUDGETS, Invariant.PAUSED, Invariant.SCOPE}  # which are not known here
    assert {check.law for check in checks} == set(Invariant) - of_other_policies - of_safeguards
    kept = line_of(checks, Invariant.GUARANTEE, "root.test")
    assert (kept.start, kept.minus, kept.plus, kept.result) == (8000, (2000,), 0, 6000)
    assert (kept.relation, kept.bound) == (Relation.AT_LEAST, 5000)


def test_the_second_worked_example_is_refused() -> None:
    """Test 6 over 5, pods of 2: it would be left 4, so nothing may go."""
    at = prod_and_test(prod=4, test=6)
    assert laws_broken(at, PROD_AND_TEST, preempting(at, "a0", ["t0"])) == {Invariant.GUARANTEE, Invariant.PROGRESS}


def test_the_third_worked_example_takes_three_steps() -> None:
    """Prod 4 of 10, Test 8 over 2: three of Test's go one after the other; a fourth would go too far twice."""
    promised = tree({"prod": queue("10"), "test": queue("2")})
    at = prod_and_test(prod=4, test=8, asks=4)
    plan = audit_plan(at, promised, [preempting(at, f"a{i}", [f"t{i}"]) for i in range(4)])
    # All on one node, which the first decision keeps for its ask.
    assert not failed_checks(plan[0])
    assert all(Invariant.FITS in {check.law for check in failed_checks(checks)} for checks in plan[1:])
    spread = _spread_over_nodes(promised)
    plan = audit_plan(spread, promised, [preempting(spread, f"a{i}", [f"t{i}"], node=f"n{i}") for i in range(4)])
    assert [{check.law for check in failed_checks(checks)} for checks in plan] == [
        set(),
        set(),
        set(),
        {Invariant.GUARANTEE, Invariant.ABOVE_GUARANTEE, Invariant.ENTITLED, Invariant.PROGRESS},
    ]


def _spread_over_nodes(promised: QueueTree) -> Snapshot:
    pods = [pod(f"t{i}", queue="test", cpu=2, node=f"n{i}") for i in range(4)]
    pods += [pod(f"p{i}", queue="prod", cpu=2, node="m") for i in range(2)]
    nodes = [node("m", 4), *(node(f"n{i}", 2) for i in range(4))]
    return snapshot(promised, nodes, pods, [ask(f"a{i}", queue="prod", cpu=2) for i in range(4)])


SIBLINGS = tree({"t": queue("10"), "t.a": queue(), "t.b": queue(), "s": queue()})


@pytest.mark.parametrize(
    ("victim", "laws"),
    [("s0", set()), ("a0", {Invariant.ENTITLED, Invariant.PROGRESS})],
    ids=["beside", "sibling"],
)
def test_siblings_do_not_take_from_each_other(victim: str, laws: set[Invariant]) -> None:
    """A 4 and B 4 under T (8 of its 10), S 2 beside: B's ask may take S's pod, never A's."""
    pods = [pod(f"{name}{i}", queue=f"t.{name}", cpu=2, node="n1") for name in "ab" for i in range(2)]
    at = snapshot(SIBLINGS, node("n1", 10), pods, pod("s0", queue="s", cpu=2, node="n1"), ask("b2", queue="t.b", cpu=2))
    assert laws_broken(at, SIBLINGS, preempting(at, "b2", [victim])) == laws


def test_a_pod_that_opted_out_stays() -> None:
    """Law 1: an ordinary ask may not take it, unless the last resort is for any ask and the decision says so."""
    at = prod_and_test(prod=4, test=8, priority_class="keep")
    hidden = preempting(at, "a0", ["t0"])
    said = preempting(at, "a0", ["t0"], reason=Reason.LAST_RESORT)
    assert laws_broken(at, PROD_AND_TEST, said) == {Invariant.OPT_OUT}
    assert laws_broken(at, PROD_AND_TEST, said, terms=AuditTerms(last_resort="any")) == set()
    assert laws_broken(at, PROD_AND_TEST, hidden, terms=AuditTerms(last_resort="any")) == {Invariant.OPT_OUT}


def test_the_last_resort_is_the_last() -> None:
    """Law 1: a pod that opted out stays while others of its node would do."""
    shape = tree({"a": queue(), "b": queue()})
    at = snapshot(
        shape,
        node("n1", 4),
        OPTED_OUT,
        pod("kept", queue="a", cpu=2, node="n1", priority_class="keep"),
        pod("plain", queue="a", cpu=2, node="n1"),
        daemonset_ask("d", on="n1", queue="b", cpu=2),
    )
    resort = preempting(at, "d", ["kept"], reason=Reason.LAST_RESORT)
    assert laws_broken(at, shape, resort) == {Invariant.OPT_OUT}
    assert laws_broken(at, shape, preempting(at, "d", ["plain"], reason=Reason.DAEMONSET)) == set()


def test_a_queue_already_below_its_guarantee_is_not_touched() -> None:
    """Laws 2 and 5: neither a leaf nor a queue above it may be taken further below."""
    shape = tree({"prod": queue("5"), "tenant": queue("9"), "tenant.test": queue("1")})
    pods = [pod(f"t{i}", queue="tenant.test", cpu=2, node="n1") for i in range(4)]
    at = snapshot(shape, node("n1", 8), pods, ask("a", queue="prod", cpu=2))
    found = laws_broken(at, shape, preempting(at, "a", ["t0"]))
    assert found == {Invariant.GUARANTEE, Invariant.ABOVE_GUARANTEE, Invariant.PROGRESS}


def test_pods_on_their_way_out_count_for_nobody_twice() -> None:
    """A victim of an earlier decision no longer counts as used by its queue."""
    at = prod_and_test(prod=4, test=8)
    leaving = msgspec.structs.replace(
        at,
        pods=tuple(msgspec.structs.replace(p, terminating=p.name in ("t3", "t2")) for p in at.pods),
    )
    assert Invariant.GUARANTEE in laws_broken(leaving, PROD_AND_TEST, preempting(leaving, "a0", ["t0"]))


def test_a_reservation_counts_as_used_once() -> None:
    """An ask for which room is kept counts as used in its queue, and no more once it is bound."""
    first, other = ask("first", queue="prod", cpu=2), ask("other", queue="prod", cpu=2)
    pods = [
        pod("p0", queue="prod", cpu=3, node="n1"),
        *(pod(f"t{i}", queue="test", cpu=2, node="n1") for i in range(5)),
    ]
    held = reservation(first, node="n2")
    nodes = [node("n1", 13), node("n2", 2)]
    before = snapshot(PROD_AND_TEST, nodes, pods, first, other, held)
    assert Invariant.ENTITLED in laws_broken(before, PROD_AND_TEST, preempting(before, "other", ["t0"]))
    smaller = msgspec.structs.replace(first, node="n2", requests=amounts({"cpu": 1, "pods": 1}))
    bound = snapshot(PROD_AND_TEST, nodes, pods, smaller, other, held)
    assert laws_broken(bound, PROD_AND_TEST, preempting(bound, "other", ["t0"])) == set()


def test_nothing_is_taken_from_the_own_application_or_queue() -> None:
    """Law 3."""
    at = prod_and_test(prod=4, test=8, app="spark")
    same_app = snapshot(PROD_AND_TEST, at.nodes, at.pods, ask("mine", queue="prod", cpu=2, app="spark"))
    assert laws_broken(same_app, PROD_AND_TEST, preempting(same_app, "mine", ["t0"])) == {Invariant.APPLICATION}
    own_queue = laws_broken(at, PROD_AND_TEST, preempting(at, "a0", ["p0"]))
    assert Invariant.APPLICATION in own_queue


def test_an_ask_at_its_guarantee_takes_nothing() -> None:
    """Law 4: at it is not below it."""
    at = prod_and_test(prod=6, test=8)
    promised = tree({"prod": queue("6"), "test": queue("2")})
    assert laws_broken(at, promised, preempting(at, "a0", ["t0"])) == {Invariant.ENTITLED, Invariant.PROGRESS}


def test_an_ask_without_any_guarantee_takes_nothing() -> None:
    """Law 4: there must be a guarantee to claim."""
    at = prod_and_test(prod=4, test=8)
    promised = tree({"prod": queue(), "test": queue("2")})
    assert laws_broken(at, promised, preempting(at, "a0", ["t0"])) == {Invariant.ENTITLED, Invariant.PROGRESS}


def test_every_guaranteed_resource_of_the_ask_must_be_below() -> None:
    """Law 4 holds resource by resource: below in cpu does not excuse at in memory."""
    shape = tree({"prod": queue({"cpu": 5, "memory": "1Gi"}), "test": queue()})
    pods = [
        pod("p0", queue="prod", node="n1", resources={"memory": "1Gi"}),
        pod("t0", queue="test", node="n1", resources={"memory": "1Gi"}),
    ]
    asker = ask("a", queue="prod", resources={"memory": "1Gi"})
    at = snapshot(shape, node("n1", 2, resources={"memory": "2Gi"}), pods, asker)
    assert laws_broken(at, shape, preempting(at, "a", ["t0"])) == {Invariant.ENTITLED}


def test_a_higher_priority_is_never_taken() -> None:
    """Law 6: equal may go, higher never."""
    equal = prod_and_test(prod=4, test=8, priority=0)
    higher = prod_and_test(prod=4, test=8, priority=1)
    assert laws_broken(equal, PROD_AND_TEST, preempting(equal, "a0", ["t0"])) == set()
    assert laws_broken(higher, PROD_AND_TEST, preempting(higher, "a0", ["t0"])) == {Invariant.PRIORITY}


def test_no_victim_outside_the_fence() -> None:
    """Law 7: a fence stops the way out, not the way in."""
    shape = tree({"tenant": queue(fence=True), "tenant.a": queue("5"), "tenant.b": queue(), "system": queue("2")})
    pods = [pod("b0", queue="tenant.b", node="n1"), *(pod(f"s{i}", queue="system", node="n1") for i in range(3))]
    at = snapshot(shape, node("n1", 4), pods, ask("a", queue="tenant.a"), ask("s", queue="system"))
    assert laws_broken(at, shape, preempting(at, "a", ["s0"])) == {Invariant.FENCE}
    assert laws_broken(at, shape, preempting(at, "a", ["b0"])) == set()
    assert Invariant.FENCE not in laws_broken(at, shape, preempting(at, "s", ["b0"]))


@pytest.mark.parametrize("path", ["prod", "test", "tenant"])
def test_disabled_means_neither_victims_nor_preemptors(path: str) -> None:
    """Law 7: disabled on a queue or above it, on either side."""
    off = queue(disabled=True)
    queues = {"tenant": queue(), "tenant.prod": queue("5"), "tenant.test": queue()}
    queues |= {
        name: msgspec.structs.replace(one, preemption_policy=off.preemption_policy)
        for name, one in queues.items()
        if name.endswith(path)
    }
    shape = tree(queues)
    at = snapshot(shape, node("n1", 1), pod("t", queue="tenant.test", node="n1"), ask("a", queue="tenant.prod"))
    assert laws_broken(at, shape, preempting(at, "a", ["t"])) == {Invariant.DISABLED}


def test_the_ask_fits_under_every_max() -> None:
    """Victims below a capped queue make room under it; victims beside it do not."""
    shape = tree({"t": queue(max="4"), "t.a": queue("4"), "t.b": queue(), "s": queue()})
    pods = [
        pod("b0", queue="t.b", cpu=2, node="n1"),
        pod("b1", queue="t.b", cpu=2, node="n2"),
        pod("s0", queue="s", cpu=2, node="n1"),
    ]
    at = snapshot(shape, node("n1", 4), node("n2", 2), pods, ask("a", queue="t.a", cpu=2))
    assert laws_broken(at, shape, preempting(at, "a", ["b0"])) == set()
    assert laws_broken(at, shape, preempting(at, "a", ["s0"])) == {Invariant.MAX}


def test_all_victims_are_on_the_one_node_and_make_room_there() -> None:
    """Room is not collected across nodes."""
    pods = [pod("t0", queue="test", cpu=4, node="n1"), pod("t1", queue="test", cpu=4, node="n2")]
    at = snapshot(PROD_AND_TEST, node("n1", 4), node("n2", 4), pods, ask("a", queue="prod", cpu=5))
    found = laws_broken(at, tree({"prod": queue("5"), "test": queue()}), preempting(at, "a", ["t0", "t1"]))
    assert found == {Invariant.ONE_NODE, Invariant.FITS}


@pytest.mark.parametrize("rule", [{"unschedulable": True}, {"ready": False}])
def test_a_node_that_refuses_the_ask_is_no_place_for_it(rule: dict[str, bool]) -> None:
    """Room in resources is not enough."""
    at = prod_and_test(prod=4, test=8)
    closed = snapshot(PROD_AND_TEST, node("n1", 12, **rule), at.pods)
    assert laws_broken(closed, PROD_AND_TEST, preempting(closed, "a0", ["t0"])) == {Invariant.FITS}


def test_a_node_kept_for_another_ask_is_taken() -> None:
    """The node is the first ask's until it is bound."""
    at = prod_and_test(prod=2, test=8, asks=2)
    held = snapshot(PROD_AND_TEST, at.nodes, at.pods, reservation(named(at, "a1"), node="n1"))
    assert laws_broken(held, PROD_AND_TEST, preempting(held, "a0", ["t0"])) == {Invariant.FITS}
    assert laws_broken(held, PROD_AND_TEST, preempting(held, "a1", ["t0"])) == set()


def test_no_victim_more_than_needed() -> None:
    """A victim that could stay breaks minimality, though nothing else."""
    at = prod_and_test(prod=2, test=10)
    assert laws_broken(at, PROD_AND_TEST, preempting(at, "a0", ["t0", "t1"])) == {Invariant.MINIMAL}


def test_a_victim_elsewhere_makes_no_room() -> None:
    """Nor does one that is on its way out anyway: both could stay."""
    there = [pod("t0", queue="test", cpu=4, node="n1"), pod("t1", queue="test", cpu=4, node="n2")]
    going = pod("t2", queue="test", cpu=2, node="n1", terminating=True)
    at = snapshot(PROD_AND_TEST, node("n1", 6), node("n2", 4), there, going, ask("a", queue="prod", cpu=4))
    found = audit(at, tree({"prod": queue("5"), "test": queue()}), preempting(at, "a", ["t0", "t1", "t2"]))
    assert {check.law for check in failed_checks(found)} == {Invariant.ONE_NODE, Invariant.MINIMAL}
    [minimal] = [check for check in found if check.law is Invariant.MINIMAL]
    assert [line.holds for line in minimal.sums] == [True, False, False]


def test_a_decision_without_victims_preempts_nothing() -> None:
    """To preempt is to evict somebody, once, who is there."""
    at = prod_and_test(prod=4, test=8)
    empty = preempting(at, "a0", [])
    assert Invariant.ONE_NODE in laws_broken(at, PROD_AND_TEST, empty)
    twice = preempting(at, "a0", ["t0", "t0"])
    assert laws_broken(at, PROD_AND_TEST, twice) == {Invariant.ONE_NODE}
    gone = snapshot(PROD_AND_TEST, at.nodes, [one for one in at.pods if one.name != "t0"])
    assert Invariant.ONE_NODE in laws_broken(gone, PROD_AND_TEST, preempting(at, "a0", ["t0"]))


def test_protected_pods_are_never_victims() -> None:
    """A shield is a shield, a DaemonSet's pod would come straight back, and what is in no queue has no guarantee."""
    at = prod_and_test(prod=4, test=8)
    shielded = snapshot(PROD_AND_TEST, at.nodes, at.pods, protection=Protection(namespaces=frozenset({"ns"})))
    assert laws_broken(shielded, PROD_AND_TEST, preempting(shielded, "a0", ["t0"])) == {Invariant.SHIELDED}
    lost = snapshot(PROD_AND_TEST, at.nodes, at.pods, pod("lost", queue="nowhere", cpu=2, node="n1"))
    assert Invariant.SHIELDED in laws_broken(lost, PROD_AND_TEST, preempting(lost, "a0", ["lost"]))
    agent = prod_and_test(prod=4, test=8, controller="DaemonSet/agent")
    assert laws_broken(agent, PROD_AND_TEST, preempting(agent, "a0", ["t0"])) == {Invariant.SHIELDED}


@pytest.mark.parametrize(
    "change", [{"never_preempts": True}, {"unread_rules": ("topology spread",)}, {"node": "n2"}, {"terminating": True}]
)
def test_some_asks_may_not_preempt_at_all(change: dict[str, object]) -> None:
    """preemptionPolicy Never, a placement rule that was not read, and asks that are none."""
    at = prod_and_test(prod=4, test=8)
    decision = preempting(at, "a0", ["t0"])
    changed = tuple(msgspec.structs.replace(p, **change) if p.name == "a0" else p for p in at.pods)
    now = msgspec.structs.replace(at, pods=changed)
    assert Invariant.MAY_PREEMPT in laws_broken(now, PROD_AND_TEST, decision)


def test_what_the_decision_says_of_its_pods_is_not_believed() -> None:
    """The snapshot's priority and queue count, not those written into the decision."""
    at = prod_and_test(prod=4, test=8, priority=7)
    honest = preempting(at, "a0", ["t0"])
    facts = msgspec.structs.replace(honest.victims[0].pod, priority=0)
    lying = msgspec.structs.replace(honest, victims=(msgspec.structs.replace(honest.victims[0], pod=facts),))
    assert laws_broken(at, PROD_AND_TEST, lying) == {Invariant.PRIORITY}


def test_a_daemonset_ask_needs_no_guarantee_but_keeps_those_of_others() -> None:
    """Law 4 does not apply to an ask that has but one node; laws 2 to 7 do."""
    shape = tree({"agents": queue(), "test": queue("2")})
    pods = [pod(f"t{i}", queue="test", cpu=2, node="n1") for i in range(2)]
    at = snapshot(shape, node("n1", 4), pods, daemonset_ask("d", on="n1", queue="agents", cpu=2))
    assert laws_broken(at, shape, preempting(at, "d", ["t0"], reason=Reason.DAEMONSET)) == set()
    both = tree({"agents": queue(), "test": queue("4")})
    assert laws_broken(at, both, preempting(at, "d", ["t0"], reason=Reason.DAEMONSET)) == {
        Invariant.GUARANTEE,
        Invariant.ABOVE_GUARANTEE,
    }


def test_a_plan_is_audited_on_the_state_that_it_leaves_behind() -> None:
    """The second decision is refused for what the first has taken."""
    shape = tree({"prod": queue("5"), "test": queue("6")})
    pods = [pod(f"t{i}", queue="test", cpu=2, node=f"n{i}") for i in range(4)]
    asks = [ask(f"a{i}", queue="prod", cpu=2) for i in range(2)]
    at = snapshot(shape, [node(f"n{i}", 2) for i in range(4)], pods, asks)
    decisions = [preempting(at, f"a{i}", [f"t{i}"], node=f"n{i}") for i in range(2)]
    first, second = audit_plan(at, shape, decisions)
    assert not failed_checks(first)
    assert {check.law for check in failed_checks(second)} >= {Invariant.GUARANTEE}
    assert not failed_checks(audit(at, shape, decisions[1]))


def test_nothing_preempted_nothing_broken() -> None:
    """A decision that evicts nobody has no law to keep; a policy without laws is an error, not a pass."""
    at = prod_and_test(prod=4, test=8)
    idle = msgspec.structs.replace(preempting(at, "a0", []), outcome=Outcome.NO_CANDIDATE, node=None)
    assert audit(at, PROD_AND_TEST, idle) == ()
    with pytest.raises(LookupError, match="Policy random has no invariants"):
        audit(at, PROD_AND_TEST, msgspec.structs.replace(idle, policy="random"))


def test_checks_survive_serialisation() -> None:
    """What is stored of an audit reads back equal."""
    at = prod_and_test(prod=4, test=6)
    checks = audit(at, PROD_AND_TEST, preempting(at, "a0", ["t0"]))
    assert msgspec.json.decode(msgspec.json.encode(checks), type=tuple[InvariantCheck, ...]) == checks

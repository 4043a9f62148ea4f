"""The audit of decisions by deserved shares refuses each that breaks a law, whoever made it."""

from collections.abc import Iterable
from functools import partial
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import Auditor, AuditTerms, Invariant, audit, audit_plan, audit_remaining_victims, failed_checks
from engine.audit.shares.deserved_amounts import DeservedAmounts, shares
from engine.explain import lines
from engine.model.decision import (
    Decision,
    DeservedFigures,
    Outcome,
    PodFacts,
    PodReason,
    PodVerdict,
    Reason,
    Trace,
    apply_decision,
)
from engine.model.objects import DisruptionBudget, Requirement
from engine.model.quantities import Amounts
from engine.model.queue_tree import ROOT, WEIGHT_ONE, QueueTree
from engine.model.snapshot import Protection, Snapshot
from engine.planning.scheduling_pass import plan, plan_steps
from engine.policies import audit_terms
from engine.policies.deserved import Method, Parameters, decide, deserved, share_statuses
from tests.builders import MINUTE, NOW, OPTED_OUT, ask, daemonset_ask, named, node, pod, queue, snapshot, tree
from tests.engine.deserved_worlds import World, crowds, worlds
from tests.engine.reclaim_worlds import world

BOTH = tree({"giver": queue("1"), "taker": queue()})
TOLD = {"root.giver": NOW - MINUTE}
MANY = 1_000_000


def shared(*objects: Any, under: QueueTree = BOTH, notices: dict[str, int] = TOLD, **settings: Any) -> Snapshot:
    """A node of 4 cpu all of which the giver's four pods hold, while the taker asks for two pods of 1."""
    at = snapshot(
        under,
        node("n1", 4),
        [pod(f"g{i}", queue="giver", node="n1", **settings) for i in range(4)],
        [ask(f"t{i}", queue="taker") for i in range(2)],
        *objects,
    )
    return msgspec.structs.replace(at, notices=notices)


def taking(
    at: Snapshot, asker: str, victims: Iterable[str], tree: QueueTree = BOTH, nodes: str | None = "n1"
) -> Decision:
    """A decision made by hand, with what everybody deserves as the policy counts it."""
    figures = tuple(
        DeservedFigures(
            queue=path,
            requested=one.requested,
            used=one.used,
            after=one.used,
            reserved=one.reserved,
            hard=one.hard,
            deserved=one.deserved,
        )
        for path, one in share_statuses(at, tree).items()
    )
    return Decision(
        policy="deserved",
        dialect="arbitrator",
        ask=PodFacts.of(named(at, asker)),
        outcome=Outcome.PREEMPT,
        reason=Reason.BELOW_DESERVED,
        node=nodes,
        victims=tuple(PodVerdict(pod=PodFacts.of(named(at, name)), reason=PodReason.OVER_DESERVED) for name in victims),
        trace=Trace(deserved=figures),
    )


def laws_broken(at: Snapshot, decision: Decision, tree: QueueTree = BOTH, **terms: Any) -> set[Invariant]:
    """The laws that a decision breaks."""
    return {check.law for check in failed_checks(audit(at, tree, decision, terms=AuditTerms(**terms)))}


def test_one_that_is_over_gives_to_one_that_is_below() -> None:
    """Of 4 cpu each deserves 2: the giver uses 4, the taker none."""
    at = shared()
    checks = audit(at, BOTH, taking(at, "t0", ["g0"]))
    assert not failed_checks(checks)
    lines = {check.law: check.sums for check in checks}
    assert (lines[Invariant.OVERUSED][-1].start, lines[Invariant.OVERUSED][-1].bound) == (4000, 2000)  # type: ignore[union-attr]
    assert (lines[Invariant.GUARANTEE][0].result, lines[Invariant.GUARANTEE][0].bound) == (3000, 1000)  # type: ignore[union-attr]


def test_nobody_gives_more_than_is_needed() -> None:
    """Two make the room."""
    at = shared(ask("big", queue="taker", cpu=2))
    assert laws_broken(at, taking(at, "big", ["g0", "g1"])) == set()
    assert laws_broken(at, taking(at, "big", ["g0", "g1", "g2"])) == {Invariant.MINIMAL}


def test_nobody_gives_that_has_no_more_than_it_deserves() -> None:
    """The giver has its two of four, as the other asks for more than the other two."""
    pods = [pod(f"g{i}", queue="giver", node="n1") for i in range(2)]
    at = snapshot(BOTH, node("n1", 4), pods, ask("big", queue="taker", cpu=3))
    at = msgspec.structs.replace(at, notices=TOLD)
    assert Invariant.OVERUSED in laws_broken(at, taking(at, "big", ["g0"]))


def test_a_queue_may_end_below_what_it_deserves() -> None:
    """It was over before anybody went."""
    under = tree({"giver": queue(), "taker": queue()})
    at = snapshot(
        under,
        node("n1", 5),
        [pod(f"g{i}", queue="giver", cpu=c, node="n1") for i, c in enumerate((3, 2))],
        ask("t0", queue="taker", cpu=2),
    )
    at = msgspec.structs.replace(at, notices=TOLD)
    assert share_statuses(at, under)["root.giver"].deserved["cpu"] == 3000
    assert laws_broken(at, taking(at, "t0", ["g0"], under), under) == set()


def test_an_ask_beyond_what_its_queue_deserves_takes_nothing() -> None:
    """With a third pod the taker would have 3 of the 2 that it deserves; one of high priority may."""
    at = shared(ask("big", queue="taker", cpu=3, priority=1, priority_class="urgent"))
    found = taking(at, "big", ["g0", "g1", "g2"])
    assert laws_broken(at, found) == {Invariant.DESERVED}
    assert laws_broken(at, found, high_priority=("urgent",)) == set()
    equal = shared(ask("big", queue="taker", cpu=3, priority_class="urgent"))
    assert laws_broken(equal, found, high_priority=("urgent",)) == {Invariant.PRIORITY}


def test_what_is_reserved_is_kept_also_from_an_ask_of_high_priority() -> None:
    """The giver keeps its 1."""
    at = shared(ask("big", queue="taker", cpu=4, priority=1, priority_class="urgent"))
    found = taking(at, "big", ["g0", "g1", "g2", "g3"])
    assert laws_broken(at, found, high_priority=("urgent",)) == {Invariant.GUARANTEE}


@pytest.mark.parametrize("notices", [{}, {"root.giver": NOW - 1}, {"root.taker": 0}])
def test_nobody_gives_that_was_not_told_in_time(notices: dict[str, int]) -> None:
    """Half a minute ago where nothing is said."""
    at = shared(notices=notices)
    assert laws_broken(at, taking(at, "t0", ["g0"])) == {Invariant.NOTIFIED}


def test_the_audit_says_whose_grace_period_is_over() -> None:
    """And does not take an ask for one of high priority because of it."""
    for notices, said in (({"root.giver": 0}, "is over"), ({}, "was not notified")):
        at = shared(notices=notices)
        check = next(one for one in audit(at, BOTH, taking(at, "t0", ["g0"])) if one.law is Invariant.NOTIFIED)
        assert [said in line.id for line in lines(check)] == [True]


def test_a_grace_period_is_that_of_the_queue_or_of_one_above() -> None:
    """Two minutes of the area's, of which one is over."""
    under = tree({"area": queue(delay_ms=2 * MINUTE), "area.giver": queue(), "taker": queue()})
    pods = [pod(f"g{i}", queue="area.giver", node="n1") for i in range(4)]
    at = snapshot(under, node("n1", 4), pods, ask("t0", queue="taker"))
    for told, laws in ((NOW - MINUTE, {Invariant.NOTIFIED}), (NOW - 2 * MINUTE, set())):
        now = msgspec.structs.replace(at, notices={"root.area.giver": told})
        assert laws_broken(now, taking(now, "t0", ["g0"], under), under) == laws


def test_a_hard_limit_is_kept() -> None:
    """Of the taker."""
    under = tree({"giver": queue(), "taker": queue(max="500m")})
    at = shared(under=under)
    assert laws_broken(at, taking(at, "t0", ["g0"], under), under) == {Invariant.MAX, Invariant.DESERVED}


def test_a_disruption_budget_is_kept_by_all_decisions_of_a_pass_together() -> None:
    """One may go, and the second decision is refused; so is one that takes two at once."""
    at = shared(ask("big", queue="taker", cpu=2), labels={"app": "web"})
    budget = DisruptionBudget(namespace="ns", name="web", expressions=(Requirement("app", "In", ("web",)),), allowed=1)
    at = at.with_budgets((budget,))
    assert laws_broken(at, taking(at, "big", ["g0", "g1"])) == {Invariant.BUDGETS}
    first = taking(at, "t0", ["g0"])
    after = at.expecting([named(at, "g0")])
    second = taking(after, "t1", ["g1"])
    checks = audit_plan(at, BOTH, [first, second])
    assert not failed_checks(checks[0])
    assert Invariant.BUDGETS in {check.law for check in failed_checks(checks[1])}


def test_the_system_is_never_taken_from() -> None:
    """Whatever the queue that its pods are in."""
    at = shared(pod("dns", queue="giver", node="n2", namespace="kube-system"), node("n2", 1))
    assert Invariant.SYSTEM in laws_broken(at, taking(at, "t0", ["dns"], nodes="n2"))


def test_whom_we_protect_stays() -> None:
    """A shield is a shield under every policy."""
    at = shared()
    shielded = snapshot(BOTH, at.nodes, at.pods, protection=Protection(namespaces=frozenset({"ns"})))
    shielded = msgspec.structs.replace(shielded, notices=TOLD)
    assert laws_broken(shielded, taking(shielded, "t0", ["g0"])) == {Invariant.SHIELDED}


def test_all_victims_are_on_one_node_unless_that_does_not_matter() -> None:
    """Half of the room on either node is no room for the ask."""
    under = tree({"giver": queue(), "taker": queue()})
    pods = [pod(f"g{i}", queue="giver", node=f"n{i}") for i in range(2)]
    at = snapshot(under, [node(f"n{i}", 1) for i in range(2)], node("n2", 1), pods, ask("t0", queue="taker", cpu=1))
    at = msgspec.structs.replace(at, notices=TOLD)
    apart = taking(at, "t0", ["g0", "g1"], under, None)
    assert laws_broken(at, apart, under) >= {Invariant.ONE_NODE, Invariant.FITS}
    assert laws_broken(at, apart, under, node_fit=False) == {Invariant.MINIMAL, Invariant.OVERUSED}


def test_figures_that_nobody_deserves_are_not_believed() -> None:
    """A decision that says that the giver deserves nothing, or the taker all."""
    more = [pod(f"h{number}", queue="giver", node="n2") for number in range(4)]
    at = shared(node("n2", 4), more, [ask(f"s{number}", queue="taker") for number in range(2)])
    honest = taking(at, "t0", ["g0"])

    def said(path: str, amounts: Amounts) -> Decision:
        figures = [
            msgspec.structs.replace(one, deserved=amounts) if one.queue == path else one
            for one in honest.trace.deserved
        ]
        return msgspec.structs.replace(honest, trace=Trace(deserved=tuple(figures)))

    assert laws_broken(at, said("root.giver", {})) == {Invariant.OVERUSED}
    assert laws_broken(at, said("root.taker", {"cpu": 9000, "pods": 9})) == {Invariant.DESERVED}


def test_an_ask_of_the_system_takes_what_it_needs() -> None:
    """It deserves whatever it asks; what is reserved for others it leaves."""
    at = shared(daemonset_ask("proxy", on="n1", queue="taker", cpu=3, namespace="kube-system"))
    assert laws_broken(at, taking(at, "proxy", ["g0", "g1", "g2"])) == set()


def test_an_area_gives_what_it_uses_beyond_what_it_deserves_and_no_more() -> None:
    """Beside it the taker: that one consumer of an area within what it deserves is over does not count."""
    under = tree({"area.a": queue(), "area.b": queue(), "taker": queue()})
    pods = [pod(f"a{i}", queue="area.a", node="n1") for i in range(2)]
    asks = [ask("b", queue="area.b", cpu=3), *(ask(f"t{i}", queue="taker") for i in range(3))]
    at = msgspec.structs.replace(snapshot(under, node("n1", 4), pods, asks), notices={"root.area.a": 0})
    found = share_statuses(at, under)
    assert (found["root.area.a"].over["cpu"], found["root.area"].over) == (1000, {})
    assert Invariant.OVERUSED in laws_broken(at, taking(at, "t0", ["a0"], under), under)
    assert Invariant.OVERUSED not in laws_broken(at, taking(at, "b", ["a0"], under), under)


def test_an_area_deserves_what_its_consumers_do_each_of_which_may_have_been_rounded_up() -> None:
    """Ten that deserve two and a half pods each have three each: five more than the area's part, and no fault."""
    under = tree({**{f"area.q{number}": queue() for number in range(10)}, "taker": queue()})
    nodes = [node(f"n{number}", 5) for number in range(10)]
    pods = [pod(f"p{of}{at}", queue=f"area.q{of}", node=f"n{of}") for of in range(10) for at in range(5)]
    waiting = [ask(f"w{number}", queue=f"area.q{number}") for number in range(10)]
    asks = [ask(f"t{number}", queue="taker") for number in range(30)]
    told = dict.fromkeys(under.leaves, 0)
    at = msgspec.structs.replace(snapshot(under, nodes, pods, waiting, asks), notices=told)
    found = [one for one in plan(at, under, decide) if one.decision.evicts]
    assert found
    assert not any(failed_checks(one.laws) for one in found)


def test_the_bytes_of_a_large_cluster_are_counted_as_well_as_floating_point_can() -> None:
    """Half of 256 TiB is so many that it is off by more than one of them."""
    under = tree({"giver": queue(weight=WEIGHT_ONE), "taker": queue(weight=2 * WEIGHT_ONE)})
    sized: dict[str, Any] = {"resources": {"memory": "7Ti"}, "cpu": 0}
    pods = [pod(f"g{number}", queue="giver", node="n1", **sized) for number in range(36)]
    asks = [ask(f"t{number}", queue="taker", **sized) for number in range(36)]
    at = snapshot(under, node("n1", resources={"memory": "256Ti"}), pods, asks, notices={"root.giver": 0})
    alone = partial(decide, parameters=Parameters(method="proportional"))
    found = [one for one in plan(at, under, alone, terms=AuditTerms(method="proportional")) if one.decision.evicts]
    assert found
    assert not any(failed_checks(one.laws) for one in found)


def test_who_opted_out_stays() -> None:
    """And so does the asker's own queue."""
    at = shared(OPTED_OUT, priority_class="keep")
    assert laws_broken(at, taking(at, "t0", ["g0"])) == {Invariant.OPT_OUT}
    own = shared(pod("mine", queue="taker", node="n2"), node("n2", 1))
    assert Invariant.APPLICATION in laws_broken(own, taking(own, "t0", ["mine"], nodes="n2"))


def test_what_is_left_of_a_decision_is_held_against_who_may_be_taken() -> None:
    """Not against the room, part of which is there already."""
    at = shared(ask("big", queue="taker", cpu=2))
    rest = audit_remaining_victims(at, BOTH, taking(at, "big", ["g0", "g1"]), {"uid-g1"})
    assert not failed_checks(rest)
    assert {check.law for check in rest} >= {
        Invariant.GUARANTEE,
        Invariant.OVERUSED,
        Invariant.NOTIFIED,
        Invariant.BUDGETS,
    }


@given(worlds())
def test_two_ways_to_work_out_shares_agree(world: World) -> None:
    """The policy's, exact and rounded, and the audit's; in units so small that rounding is nothing."""

    def fine(amounts: Amounts) -> Amounts:
        return {name: amount * MANY for name, amount in amounts.items()}

    queues = (
        msgspec.structs.replace(one, guaranteed=fine(one.guaranteed), max=fine(one.max))
        for one in world.tree.queues.values()
    )
    under, capacity = QueueTree(queues), fine(world.capacity)
    requests = {leaf: fine(asked) for leaf, asked in world.requests.items()}
    exact = deserved(under, requests, capacity, world.method)
    found = shares(under, requests, capacity, alone=world.method is Method.PROPORTIONAL)
    for path in under.queues:
        for name, amount in capacity.items():
            assert abs(exact[path].get(name, 0) - found[path].get(name, 0)) <= MANY // 1000, (path, name, amount)
    assert ROOT in found


@given(worlds() | crowds(), st.data())
def test_shares_that_are_kept_are_those_worked_out_anew(where: World, data: st.DataObject) -> None:
    """Multiples of what was asked, which may leave everybody's share as it is, and anything."""
    alone = where.method is Method.PROPORTIONAL
    requests = {leaf: {name: 6 * amount for name, amount in asked.items()} for leaf, asked in where.requests.items()}
    kept = DeservedAmounts(where.tree, requests, where.capacity, alone=alone)
    for _ in range(data.draw(st.integers(1, 4))):
        leaf = data.draw(st.sampled_from(sorted(requests)))
        asked, alike = where.requests[leaf], data.draw(st.none() | st.integers(0, 9))
        times = {name: data.draw(st.integers(0, 9)) if alike is None else alike for name in asked}
        requests[leaf] = {name: times[name] * amount for name, amount in asked.items()}
        kept.change(leaf, requests[leaf])
        anew = shares(where.tree, requests, where.capacity, alone=alone)
        for path in where.tree.queues:
            for name, amount in kept.of(path).items():
                assert abs(anew[path][name] - amount) <= where.capacity[name] / MANY, (path, name)


@pytest.mark.parametrize("seed", range(40))
def test_a_pass_is_judged_as_each_of_its_decisions_by_itself(seed: int) -> None:
    """Also where what a decision says is not so."""
    at, under, parameters = world(Random(seed))
    settings = audit_terms("deserved", "arbitrator", msgspec.structs.asdict(parameters))
    auditor = Auditor(at, under, terms=settings)
    for before, one in plan_steps(at, under, partial(decide, parameters=parameters), terms=settings):
        decision = one.decision
        wrong = msgspec.structs.replace(decision, trace=Trace())
        assert auditor.judge(decision) == one.laws == audit(before, under, decision, terms=settings)
        assert auditor.judge(wrong) == audit(before, under, wrong, terms=settings)
        auditor.carry_out(decision, apply_decision(before, decision))

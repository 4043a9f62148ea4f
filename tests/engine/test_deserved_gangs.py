"""Policy deserved decides a gang as a whole or not at all, as the rules allow; a whole group goes whole or stays."""

from itertools import islice
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import AuditTerms, audit, failed_checks
from engine.model.decision import Decision, Outcome, Reason
from engine.model.objects import Pod, SchedulingGroup
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards, Snapshot
from engine.planning.scheduling_pass import plan
from engine.policies import audit_terms, policy
from engine.policies.common.groups.pending_gang import PendingGang, waiting_members
from tests.builders import named, pod_group
from tests.engine import gang_worlds, group_worlds, reclaim_worlds
from tests.engine.deserved_gang_worlds import OWN, Oracle, World, some_world
from tests.engine.test_fence_gangs import answer, under_queues
from tests.properties import examples
from tests.runner.suites import sized


def decided(world: World) -> tuple[Snapshot, QueueTree, Decision]:
    """The world with the decision about its gang."""
    at, shape = world.snapshot(), world.tree()
    decide = policy("deserved", "arbitrator", msgspec.to_builtins(world.parameters()))
    return at, shape, decide(at, shape, named(at, "gang-0"))


def oracle(world: World, at: Snapshot, shape: QueueTree) -> Oracle:
    """The rules in a world, with the members that the policy places without any eviction."""
    group = at.groups["ns", "gang"]
    _, free = PendingGang(at, shape, group, waiting_members(at, group), 0).free
    return Oracle(world, at, {int(pod.name[-1]): place for pod, place in free})


def wrong(world: World) -> str:
    """What is wrong with the policy's decision in a world; empty: nothing."""
    at, shape, decision = decided(world)
    rules = oracle(world, at, shape)
    enough = len(rules.placed) >= max(1, world.base.at_once)
    if enough or decision.outcome is Outcome.FITS:
        return "" if enough and decision.outcome is Outcome.FITS else f"{decision.outcome}"
    if decision.outcome is not Outcome.PREEMPT:
        return not_served(rules, decision)
    found = answer(world.base, decision)
    faults = {
        "unlawful": not rules.allows(found, told=True),
        "not entitled": not rules.entitled(found),
        "not minimal": not rules.minimal(found),
        "rejected": bool(failed_checks(audit(at, shape, decision, terms=terms(world)))),
    }
    return ", ".join(fault for fault, is_so in faults.items() if is_so)


def not_served(rules: Oracle, decision: Decision) -> str:
    """What is wrong with a decision that evicts nobody; empty: nothing."""
    in_time, later = (next(rules.lawful(told=told), None) for told in (True, False))
    if decision.outcome is Outcome.SEARCH_LIMIT:
        return "" if later is None or rules.mixed(later) else f"gave up instead of {later}"
    if decision.reason is Reason.GRACE:
        return "" if in_time is None and later is not None else f"waits instead of {in_time}"
    return f"{decision.outcome} {decision.reason} instead of {later}" if later else ""


def terms(world: World) -> AuditTerms:
    """What the audit takes from the parameters."""
    return audit_terms("deserved", "arbitrator", msgspec.to_builtins(world.parameters()))


@pytest.mark.parametrize(("most", "each"), sized("worlds", usual=[(3, 30)], long=[(3, 1), (4, 5)]))
def test_a_gang_preempts_exactly_where_the_rules_allow_it(most: int, each: int) -> None:
    """All ways are tried: if there is one, one is found, and it is minimal; the audit has nothing against it."""
    preempting = 0
    for base in islice(gang_worlds.worlds(most, 3), 0, None, each):
        one = World(base._replace(promised=base.promised - 1))
        why = wrong(one)
        assert not why, (why, one)
        preempting += decided(one)[2].outcome is Outcome.PREEMPT
    assert preempting


@given(seed=st.integers(0, 2**32))
@examples(800)
def test_so_it_does_whatever_is_said_of_queues(seed: int) -> None:
    """With fences, hard limits, reserved amounts, weights, a budget, high priority, and queues without a notice."""
    world = some_world(Random(seed))
    why = wrong(world)
    assert not why, (why, world)


@given(seed=st.integers(0, 2**32))
@examples(300)
def test_no_member_that_takes_ends_above_what_its_queue_deserves(seed: int) -> None:
    """With all members before it; urgent ones may."""
    world = some_world(Random(seed))
    at, shape, decision = decided(world)
    if decision.outcome is Outcome.PREEMPT and not world.urgent:
        rules = oracle(world, at, shape)
        used = rules.standings[OWN].used.get("cpu", 0) + 1000 * sum(
            world.base.members[number] for number in answer(world.base, decision).places
        )
        assert used <= rules.standings[OWN].deserved["cpu"]


@given(seed=st.integers(0, 2**32))
@examples(300)
def test_two_gangs_in_a_pass_take_only_what_the_first_leaves(seed: int) -> None:
    """Every decision is audited on the state that those before it leave, and none is rejected."""
    world = some_world(Random(seed))
    world = World(world.base._replace(rival=1 + seed % 2), world.weights, world.told, world.urgent, world.budget)
    decide = policy("deserved", "arbitrator", msgspec.to_builtins(world.parameters()))
    considered = plan(world.snapshot(), world.tree(), decide, terms=terms(world))
    assert [(one.decision, failed_checks(one.laws)) for one in considered if one.refused] == []


def grouped(at: Snapshot, random: Random) -> Snapshot:
    """The same cluster, in which most pending pods are gangs, and some running pods are groups that go whole."""
    gangs, rings = [f"gang-{number}" for number in range(2)], [f"ring-{number}" for number in range(3)]
    queues = {name: random.choice(at.tree.leaves if at.tree else ("root",)) for name in gangs}

    def in_group(one: Pod) -> Pod:
        if one.namespace != "ns" or random.random() < 0.3:
            return one
        name = random.choice(rings if one.node else gangs)
        own = {} if one.node or random.random() < 0.1 else {"queue": queues[name], "controller": "Job/x"}
        return msgspec.structs.replace(one, scheduling_group=name, **own)

    groups: list[SchedulingGroup] = [
        pod_group(name, at_once=random.randint(1, 3), priority=random.choice((0, 2))) for name in gangs
    ]
    groups += [pod_group(name, whole=random.random() < 0.7, priority=random.choice((0, 2))) for name in rings]
    pods = tuple(map(in_group, at.pods))
    return msgspec.structs.replace(at, pods=pods, groups={(one.namespace, one.name): one for one in groups})


@given(seed=st.integers(0, 2**32))
@examples(500)
def test_no_decision_with_groups_breaks_an_invariant(seed: int) -> None:
    """In crowded clusters with several resources, areas and node_fit off, in a whole pass."""
    random = Random(seed)
    at, shape, parameters = reclaim_worlds.world(random)
    at = grouped(msgspec.structs.replace(at, tree=shape), random)
    own = msgspec.to_builtins(parameters)
    considered = plan(
        at, shape, policy("deserved", "arbitrator", own), terms=audit_terms("deserved", "arbitrator", own)
    )
    assert [(one.decision, failed_checks(one.laws)) for one in considered if one.refused] == []


@given(seed=st.integers(0, 2**32))
@examples(300)
def test_no_decision_breaks_an_invariant_where_pods_keep_others_away(seed: int) -> None:
    """With affinity, spread, nominated pods and disruption budgets."""
    random = Random(seed)
    at, shape = under_queues(group_worlds.world(random)[0], random)
    at = msgspec.structs.replace(at, notices=dict.fromkeys(shape.leaves, 0), safeguards=Safeguards())
    considered = plan(at, shape, policy("deserved", "arbitrator"))
    assert [(one.decision, failed_checks(one.laws)) for one in considered if one.refused] == []

"""Policy fence decides a gang as a whole or not at all, as the rules allow, and a whole group goes whole or stays."""

from itertools import islice
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import AuditTerms, audit, failed_checks
from engine.model.decision import Decision, Outcome
from engine.model.objects import Node, Pod, SchedulingGroup
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree
from engine.model.snapshot import Safeguards, Snapshot
from engine.planning.scheduling_pass import plan
from engine.policies import policy
from engine.policies.common.groups.pending_gang import waiting_members
from engine.policies.fence.groups.attempt import GangAttempt
from tests.builders import OPTED_OUT, amounts, named, pod_group, snapshot
from tests.engine import group_worlds
from tests.engine.gang_worlds import NODES, Answer, Oracle, World, some_world, worlds
from tests.engine.strategies import busy_world, queue_trees
from tests.properties import examples
from tests.runner.suites import sized


def decided(world: World) -> tuple[Snapshot, QueueTree, Decision]:
    """The world with the decision about its gang."""
    at, shape = world.snapshot(), world.tree()
    return at, shape, policy("fence", "design")(at, shape, named(at, "gang-0"))


def oracle(world: World, at: Snapshot, shape: QueueTree) -> Oracle:
    """The rules in a world, with the members that the policy places without any eviction."""
    group = at.groups["ns", "gang"]
    _, free = GangAttempt(at, shape, group, waiting_members(at, group), 0).free
    return Oracle(world, {int(pod.name[-1]): place for pod, place in free})


def answer(world: World, decision: Decision) -> Answer:
    """What a decision says, in the oracle's terms. Units are evicted whole."""
    evicted = {verdict.pod.name for verdict in decision.victims}
    units = frozenset(int(name[1]) for name in evicted)
    assert {pod.name for number in units for pod in world.pods_of(number)} == evicted
    places = {int(uid[-1]): NODES.index(node) for uid, node in decision.nodes.items()}
    return Answer(places, units)


def wrong(world: World) -> str:
    """What is wrong with the policy's decision in a world; empty: nothing."""
    at, shape, decision = decided(world)
    rules = oracle(world, at, shape)
    enough = len(rules.placed) >= max(1, world.at_once)
    if decision.outcome is not Outcome.PREEMPT:
        if enough or decision.outcome is Outcome.FITS:
            return "" if enough and decision.outcome is Outcome.FITS else f"{decision.outcome}"
        missed = next(rules.lawful(), None)
        return f"{decision.outcome} {decision.reason} instead of {missed}" if missed else ""
    found = answer(world, decision)
    faults = {
        "enough fit": enough,
        "unlawful": not rules.allows(found),
        "not entitled": not rules.entitled(found),
        "not minimal": not rules.minimal(found),
        "rejected": bool(failed_checks(audit(at, shape, decision))),
    }
    return ", ".join(fault for fault, is_so in faults.items() if is_so)


@pytest.mark.parametrize(("most", "each"), sized("worlds", usual=[(3, 5)], long=[(4, 1), (5, 2)]))
def test_a_gang_preempts_exactly_where_the_rules_allow_it(most: int, each: int) -> None:
    """All ways are tried: if there is one, one is found, and it is minimal; the audit has nothing against it."""
    preempting = 0
    for one in islice(worlds(most, 3), 0, None, each):
        why = wrong(one)
        assert not why, (why, one)
        preempting += decided(one)[2].outcome is Outcome.PREEMPT if one.at_once == 3 else 0
    assert preempting


@given(seed=st.integers(0, 2**32))
@examples(600)
def test_so_it_does_whatever_is_said_of_queues(seed: int) -> None:
    """With fences, max, shared guarantees, and a queue outside."""
    world = some_world(Random(seed))
    why = wrong(world)
    assert not why, (why, world)


@given(seed=st.integers(0, 2**32))
@examples(300)
def test_two_gangs_in_a_pass_take_only_what_the_first_leaves(seed: int) -> None:
    """Every decision is audited on the state that those before it leave, and none is rejected."""
    world = some_world(Random(seed))._replace(rival=1 + seed % 2)
    considered = plan(world.snapshot(), world.tree(), policy("fence", "design"))
    assert [one.decision for one in considered if one.refused] == []


@given(seed=st.integers(0, 2**32))
@examples(300)
def test_only_the_last_member_that_takes_may_end_above_the_guarantee(seed: int) -> None:
    """Before it is placed, the queue is below."""
    world = some_world(Random(seed))
    at, shape, decision = decided(world)
    if decision.outcome is Outcome.PREEMPT:
        rules = oracle(world, at, shape)
        *before, _last = [number for number in answer(world, decision).places if number not in rules.placed]
        used = world.used + sum(world.members[number] for number in (*rules.placed, *before))
        assert used < world.promised


def busy_clusters() -> st.SearchStrategy[list[Node | Pod]]:
    """Up to three nodes with some pods each, full or all but full, and up to eight asks."""
    return st.integers(0, 2**32).map(lambda seed: busy_world(Random(seed))[1])


ASKING = ("a", "t.u.e")
"""The queues of gangs."""


def promising(tree: QueueTree, random: Random) -> QueueTree:
    """The same tree, in which the queues of gangs are promised much, and others mostly little."""

    def changed(queue: Queue) -> Queue:
        if queue.path.removeprefix("root.") in ASKING:
            return msgspec.structs.replace(queue, guaranteed=amounts(12), preemption_policy=PreemptionPolicy.DEFAULT)
        return queue if random.random() < 0.3 else msgspec.structs.replace(queue, guaranteed={})

    return QueueTree(map(changed, tree.queues.values()))


def grouped(objects: list[Node | Pod], random: Random) -> list[Node | Pod | SchedulingGroup]:
    """The same cluster, in which some pending pods are gangs, and some running pods are groups that go whole."""
    gangs, rings = [f"gang-{number}" for number in range(2)], [f"ring-{number}" for number in range(4)]
    queues = {name: random.choice(ASKING) for name in gangs}

    def in_group(one: Node | Pod) -> Node | Pod:
        if isinstance(one, Node) or random.random() < 0.2:
            return one
        name = random.choice(rings if one.node else gangs)
        if one.node is None and random.random() < 0.95:
            one = msgspec.structs.replace(one, queue_label=queues[name], application_label=name, controller="Job/x")
            one = msgspec.structs.replace(one, node_affinity=())
        return msgspec.structs.replace(one, scheduling_group=name)

    found: list[Node | Pod | SchedulingGroup] = [in_group(one) for one in objects]
    found += [pod_group(name, at_once=random.randint(1, 3), priority=random.choice((0, 2, 2))) for name in gangs]
    return [*found, *(pod_group(name, whole=random.random() < 0.7, priority=random.choice((0, 2))) for name in rings)]


@given(
    tree=queue_trees(),
    objects=busy_clusters(),
    random=st.randoms(use_true_random=False),
    last_resort=st.sampled_from(["daemonset", "any"]),
)
@examples(400)
def test_no_decision_with_groups_breaks_an_invariant(
    tree: QueueTree, objects: list[Node | Pod], random: Random, last_resort: str
) -> None:
    """Whatever keeps pods off nodes, in a whole pass."""
    tree = promising(tree, random)
    at = snapshot(tree, grouped(objects, random), OPTED_OUT)
    terms = AuditTerms(last_resort=last_resort)
    considered = plan(at, tree, policy("fence", "design", {"last_resort": last_resort}), terms=terms)
    assert [(one.decision, failed_checks(one.laws)) for one in considered if one.refused] == []


def under_queues(at: Snapshot, random: Random) -> tuple[Snapshot, QueueTree]:
    """A cluster with rules between pods, whose gang is of a queue that is promised much, and others of any queue."""
    promised = {"cpu": random.choice((3, 8, 99)), "memory": random.choice((5, 99))}
    spare = {"cpu": random.choice((0, 0, 3)), "memory": 0}
    shape = QueueTree(
        [
            Queue(path="root"),
            Queue(path="root.prod", guaranteed=promised),
            Queue(path="root.test", guaranteed=spare),
            Queue(path="root.other"),
        ]
    )

    def placed(pod: Pod) -> Pod:
        own = pod.scheduling_group == "asking"
        path = "root.prod" if own else random.choice(("root.test", "root.test", "root.other"))
        return msgspec.structs.replace(
            pod, queue=path, application="gang" if own else pod.name, unschedulable_ms=None if pod.node else 0
        )

    safeguards = random.choice((None, Safeguards()))
    pods = tuple(placed(pod) for pod in at.pods)
    return msgspec.structs.replace(at, tree=shape, pods=pods, safeguards=safeguards), shape


@given(seed=st.integers(0, 2**32))
@examples(400)
def test_no_decision_breaks_an_invariant_where_pods_keep_others_away(seed: int) -> None:
    """With affinity, spread, nominated pods and disruption budgets."""
    random = Random(seed)
    at, shape = under_queues(group_worlds.world(random)[0], random)
    considered = plan(at, shape, policy("fence", "design"))
    assert [(one.decision, failed_checks(one.laws)) for one in considered if one.refused] == []

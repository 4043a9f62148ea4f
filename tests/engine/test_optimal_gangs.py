"""The least victims for gangs under policy fence: held against every set of units that the rules allow."""

from collections.abc import Iterable
from itertools import islice
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.optimum import Optimal, units
from engine.analysis.optimum import optimal as least_of
from engine.audit import audit, failed_checks
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.policies import policy
from tests.builders import NOW, ask, named, node, pod, pod_group, queue, snapshot, tree
from tests.engine.gang_worlds import World, some_world, worlds
from tests.engine.test_fence_gangs import oracle
from tests.properties import examples
from tests.runner.suites import sized

Cost = tuple[int, ...]
LOOKED_AT = (Outcome.PREEMPT, Outcome.NO_CANDIDATE, Outcome.SEARCH_LIMIT)


def optimal(at: Snapshot, name: str = "gang-0") -> tuple[Decision, Optimal | None]:
    """The policy's decision about the gang of that pod, and the least victims beside it."""
    decision = policy("fence", "design")(at, at.tree, named(at, name))
    return decision, least_of(at, at.tree, named(at, name), decision)


def cost(world: World, at: Snapshot, units_gone: Iterable[int]) -> Cost:
    """What units cost by the criteria of a node; all pods of these worlds are of one age."""
    gone = [(world.units[number], world.pods_of(number)) for number in units_gone]
    pods: list[Pod] = [named(at, pod.name) for _, pods in gone for pod in pods]
    steps = {"root.t.test": 2, "root.other": 3}
    return (
        sum(pod.originator for pod in pods),
        max((unit.priority for unit, _ in gone), default=-1),
        len(pods),
        sum(steps[pod.queue or ""] for pod in pods),
        NOW * len(pods),
    )


def wrong(world: World) -> str:
    """What is wrong with the optimum in a world; empty: nothing."""
    at = world.snapshot()
    decision, found = optimal(at)
    if decision.outcome not in LOOKED_AT:
        return "" if found is None else f"not asked for: {found}"
    rules = oracle(world, at, world.tree())
    allowed = [answer for answer in rules.lawful() if rules.minimal(answer)]
    assert found is not None
    if not allowed:
        return "" if found == Optimal(none=True) else f"nothing is allowed: {found}"
    gone = {int(key.rpartition("/")[2][1]) for key in found.victims}
    least, said = min(cost(world, at, answer.units) for answer in allowed), cost(world, at, gone)
    evicted = {int(verdict.pod.name[1]) for verdict in decision.victims}
    same = bool(evicted) and cost(world, at, evicted) == least
    faults = {
        f"{said} instead of {least}": said != least,
        "same": found.same != same,
        "none": found.none or bool(found.too_many) or found.unfinished,
        "nodes": not found.nodes,
    }
    return ", ".join(fault for fault, is_so in faults.items() if is_so)


@pytest.mark.parametrize(("most", "each"), sized("worlds", usual=[(3, 13)], long=[(4, 3), (5, 7)]))
def test_the_least_set_is_found_wherever_one_is_allowed(most: int, each: int) -> None:
    """All ways are tried; where there is none, that is said."""
    for one in islice(worlds(most, 3), 0, None, each):
        why = wrong(one)
        assert not why, (why, one)


@given(seed=st.integers(0, 2**32))
@examples(400)
def test_so_it_is_whatever_is_said_of_queues(seed: int) -> None:
    """With fences, max, shared guarantees, priorities, and a queue outside."""
    world = some_world(Random(seed))._replace(rival=0)
    why = wrong(world)
    assert not why, (why, world)


def crowd(random: Random) -> Snapshot:
    """Three nodes of pods, some in groups that go whole, and a gang with members of two shapes."""
    shape = tree({"prod": queue("99"), "test": queue(random.choice((None, 2, 4))), "far.away": queue()})
    nodes = [node(f"n{k}", 6) for k in range(3)]
    pods = [
        pod(
            f"p-{on}-{each}",
            node=f"n{on}",
            queue=random.choice(("test", "test", "far.away")),
            cpu=random.choice((1, 2)),
            app=f"app-{random.randrange(3)}",
            priority=random.choice((0, 0, 1)),
            created_ms=random.randrange(4) * 1000,
            scheduling_group=random.choice(("", "", "ring-0", "ring-1")),
        )
        for on in range(3)
        for each in range(4)
    ]
    rings = [pod_group(f"ring-{k}", whole=True) for k in range(2)]
    number = random.randint(1, 4)
    gang = [
        ask(f"gang-{k}", queue="prod", cpu=random.choice((2, 3)), app="gang", priority=2, scheduling_group="gang")
        for k in range(number)
    ]
    return snapshot(shape, nodes, pods, rings, gang, pod_group("gang", at_once=number, priority=2))


@given(seed=st.integers(0, 2**32))
@examples(200)
def test_what_is_less_than_the_choice_made_passes_the_audit(seed: int) -> None:
    """And where the policy finds a set, there is one."""
    at = crowd(Random(seed))
    decision, found = optimal(at)
    if decision.outcome not in LOOKED_AT:
        return
    assert found is not None
    assert not (found.none and decision.evicts)
    if found.victims and not found.same and decision.evicts:
        assert next(iter(found.distance.values())) > 0
        instead = taking(at, decision, found)
        assert not failed_checks(audit(at, at.tree, instead))


def taking(at: Snapshot, decision: Decision, found: Optimal) -> Decision:
    """The decision with the least victims in place of its own."""
    assert decision.group
    uids = {pod.key: pod.uid for pod in decision.pending}
    group = msgspec.structs.replace(decision.group, nodes={uids[key]: on for key, on in found.nodes.items()}, spared=0)
    victims = tuple(
        PodVerdict(pod=PodFacts.of(pod), reason=PodReason.OVER_GUARANTEE, detail=pod.queue or "")
        for pod in at.pods
        if pod.key in found.victims
    )
    return msgspec.structs.replace(decision, group=group, victims=victims)


TREE = tree({"prod": queue("99"), "test": queue(), "far.away": queue()})


def gang_of(number: int, cpu: int = 2) -> list[Pod]:
    """Pods that have to run together."""
    return [
        ask(f"gang-{k}", queue="prod", cpu=cpu, app="gang", priority=1, scheduling_group="gang") for k in range(number)
    ]


def test_a_lesser_set_is_told_with_its_nodes() -> None:
    """Greedy takes the two nearer ones on the first node, where the one far away on each node would do."""
    nodes = [node(f"n{k}", 4) for k in range(2)]
    pods = [
        one
        for k in range(2)
        for one in (
            pod(f"far-{k}", queue="far.away", cpu=2, node=f"n{k}"),
            *(pod(f"{name}-{k}", queue="test", node=f"n{k}", created_ms=9) for name in "ab"),
        )
    ]
    decision, found = optimal(snapshot(TREE, nodes, pods, gang_of(2), pod_group("gang", at_once=2, priority=1)))
    assert len(decision.victims) == 3
    assert found is not None
    assert sorted(found.victims) == ["ns/far-0", "ns/far-1"]
    assert sorted(found.nodes.items()) == [("ns/gang-0", "n0"), ("ns/gang-1", "n1")]
    assert found.distance["victims"] == 1


def test_larger_gangs_and_more_units_are_not_searched() -> None:
    """That is said, with how many there are."""
    nodes = [node(f"n{k}", 2) for k in range(7)]
    pods = [pod(f"p-{k}", queue="test", cpu=2, node=f"n{k}") for k in range(7)]
    _, found = optimal(snapshot(TREE, nodes, pods, gang_of(7), pod_group("gang", at_once=7, priority=1)))
    assert found is not None
    assert found.too_many == {"members": 7}
    many = [pod(f"p-{k:02}", queue="test", node="n0") for k in range(31)]
    _, found = optimal(snapshot(TREE, node("n0", 31), many, gang_of(1), pod_group("gang", at_once=1, priority=1)))
    assert found is not None
    assert found.too_many == {"units": 31}


def test_a_search_that_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it found so far is told as such."""
    monkeypatch.setattr(units, "_MOST_STEPS", 1)
    nodes = [node(f"n{k}", 2) for k in range(2)]
    pods = [pod(f"p-{k}-{each}", queue="test", node=f"n{k}") for k in range(2) for each in range(2)]
    _, found = optimal(snapshot(TREE, nodes, pods, gang_of(2), pod_group("gang", at_once=2, priority=1)))
    assert found is not None
    assert found.unfinished
    assert not found.same


def test_for_a_single_pod_whole_groups_are_weighed_too() -> None:
    """A group of two pods on two nodes, or two pods of one node."""
    nodes = [node(f"n{k}", 2) for k in range(2)]
    rings = [pod(f"ring-{k}", queue="test", node=f"n{k}", cpu=2, scheduling_group="ring") for k in range(2)]
    new = ask("new", queue="prod", cpu=2, priority=1)
    _, found = optimal(snapshot(TREE, nodes, rings, pod_group("ring", whole=True), new), "new")
    assert found is not None
    assert found.same
    assert sorted(found.victims) == ["ns/ring-0", "ns/ring-1"]
    assert found.nodes == {"ns/new": "n0"}

"""A gang is decided in the same way, whatever kind of group it is."""

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import audit, failed_checks
from engine.model.decision import Decision, Outcome
from engine.model.objects import GroupKind, PodGroup, TaskGroup, group_reference
from engine.model.snapshot import ClusterState, Snapshot
from engine.policies import policy
from tests.builders import named
from tests.engine.gang_worlds import World, some_world
from tests.properties import examples


def as_kind(world: World, kind: GroupKind) -> Snapshot:
    """The world with its gang as a group of that kind."""
    at, state = world.snapshot(), ClusterState()
    state.nodes = {node.name: node for node in at.nodes}
    state.scheduling_groups = {key: group for key, group in at.groups.items() if group.name != "gang"}
    parts = (TaskGroup("first", 1), TaskGroup("others", world.at_once - 1)) if kind is GroupKind.YUNIKORN else ()
    for pod in at.pods:
        mine = pod.scheduling_group == "gang"
        reference = group_reference(kind, "gang") if mine else pod.scheduling_group
        state.pods[pod.uid] = msgspec.structs.replace(
            pod, scheduling_group=reference, task_groups=parts if mine else (), task_group="others" if mine else ""
        )
    if kind is GroupKind.VOLCANO:
        group = PodGroup(namespace="ns", name="gang", queue="default", min_member=world.at_once)
        state.pod_groups["ns", "gang"] = group
    return state.snapshot(world.tree(), now_ms=at.now_ms)


def answer(decision: Decision) -> tuple[object, ...]:
    """What is decided, without what the group is."""
    victims = [verdict.pod.uid for verdict in decision.victims]
    return decision.outcome, decision.reason, victims, decision.nodes, decision.group and decision.group.needed


@examples(60)
@given(st.integers(0, 2**32))
@pytest.mark.parametrize("kind", [GroupKind.YUNIKORN, GroupKind.VOLCANO])
@pytest.mark.parametrize("rules", [("fence", "design"), ("deserved", "arbitrator")])
def test_every_kind_of_gang_is_decided_alike(rules: tuple[str, str], kind: GroupKind, seed: int) -> None:
    world = some_world(Random(seed))
    if world.at_once < 2:  # Volcano starts such pods one by one
        world = world._replace(at_once=2)
    notices = dict.fromkeys(world.tree().leaves, 0)
    plain, other = (msgspec.structs.replace(at, notices=notices) for at in (world.snapshot(), as_kind(world, kind)))
    decide = policy(*rules)
    expected = decide(plain, world.tree(), named(plain, "gang-0"))
    decision = decide(other, world.tree(), named(other, "gang-0"))
    assert answer(decision) == answer(expected)
    if decision.outcome is Outcome.PREEMPT:
        assert not failed_checks(audit(other, world.tree(), decision))

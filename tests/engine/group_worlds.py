"""Random small clusters in which a group of pods waits: groups of both modes, budgets, rules; from a drawn seed."""

from random import Random

import msgspec
from hypothesis import strategies as st

from engine.model.objects import (
    AffinityTerm,
    DisruptionBudget,
    DisruptionMode,
    HostPort,
    Node,
    NodeSelectorTerm,
    Pod,
    PreferredTerm,
    Requirement,
    SchedulingGroup,
    SpreadConstraint,
    Taint,
)
from engine.model.objects.kubernetes import PREEMPTION_BY_SCHEDULER
from engine.model.snapshot import Snapshot
from tests.builders import NOW

ZONE, HOST = "zone", "host"
APPS = ("a", "b")
ASKING = SchedulingGroup(namespace="ns", name="asking", uid="asking", priority=3)


def worlds(*, rules: bool = True) -> st.SearchStrategy[tuple[Snapshot, SchedulingGroup]]:
    """A snapshot of one to five nodes, and its group that waits. ``rules``: also those between pods."""
    return st.integers(0, 2**32).map(lambda seed: world(Random(seed), rules=rules))


def world(random: Random, *, rules: bool = True) -> tuple[Snapshot, SchedulingGroup]:
    """One such cluster."""
    groups = [_group(random, f"g{number}") for number in range(random.randint(0, 3))]
    nodes: list[Node] = []
    pods: list[Pod] = []
    for number in range(random.randint(1, 5)):
        name = f"n{number}"
        there = [_bound(random, f"{name}-{each}", name, groups, rules=rules) for each in range(random.randint(0, 5))]
        nodes.append(_node(random, number, there))
        pods += there
    members = _members(random, rules=rules)
    asking = msgspec.structs.replace(ASKING, min_count=random.choice((None, 1, len(members), len(members), 2)))
    members = [_somehow(random, pod, nodes) for pod in members]
    if random.random() < 0.15:
        pods.append(_nominated(random))
    ordered = tuple(sorted([*pods, *members], key=lambda pod: (pod.namespace, pod.name)))
    snapshot = Snapshot(
        now_ms=NOW,
        nodes=tuple(nodes),
        pods=ordered,
        budgets=tuple(_budget(random, number) for number in range(random.randint(0, 3))),
        namespaces={"ns": {}},
        groups={(group.namespace, group.name): group for group in (*groups, asking)},
    )
    return snapshot, asking


def _group(random: Random, name: str) -> SchedulingGroup:
    mode = random.choice((DisruptionMode.SINGLE, DisruptionMode.ALL, DisruptionMode.ALL))
    return SchedulingGroup(
        namespace="ns", name=name, uid=name, min_count=1, disruption_mode=mode, priority=random.choice((0, 1, 2, 4))
    )


def _node(random: Random, number: int, there: list[Pod]) -> Node:
    held = {resource: sum(one.requests.get(resource, 0) for one in there) for resource in ("cpu", "memory")}
    free = {resource: amount + random.choice((0, 0, 1, 2, 4)) for resource, amount in held.items()}
    return Node(
        name=f"n{number}",
        allocatable={**free, "pods": random.choice((4, 20))},
        labels={ZONE: f"z{number % 2}", HOST: f"n{number}"} if random.random() < 0.9 else {HOST: f"n{number}"},
        taints=(Taint("soft", "", "PreferNoSchedule"),) if random.random() < 0.2 else (),
    )


def _bound(random: Random, name: str, node: str, groups: list[SchedulingGroup], *, rules: bool) -> Pod:
    named = [*(group.name for group in groups), "missing"]
    terminating = random.random() < 0.05
    pod = Pod(
        uid=f"uid-{name}",
        namespace="ns",
        name=name,
        labels={"app": random.choice(APPS)},
        node=node,
        priority=random.choice((0, 1, 1, 2, 4, 5)),
        started_ms=random.choice((None, 1, 2, 3)),
        requests={"cpu": random.randint(0, 4), "memory": random.randint(0, 3), "pods": 1},
        terminating=terminating,
        disruption=PREEMPTION_BY_SCHEDULER if terminating else "",
        scheduling_group=random.choice(named) if random.random() < 0.5 else "",
    )
    if rules and random.random() < 0.1:
        pod = msgspec.structs.replace(pod, anti_affinity=(_term(random),))
    if random.random() < 0.05:
        pod = msgspec.structs.replace(pod, host_ports=(HostPort(80),))
    return pod


def _members(random: Random, *, rules: bool) -> list[Pod]:
    """One to five members of one or two shapes."""
    shapes = [_member(random, rules=rules) for _ in range(random.choice((1, 1, 2)))]
    made = []
    for number in range(random.randint(1, 5)):
        name = f"asking-{number}"
        made.append(
            msgspec.structs.replace(
                random.choice(shapes),
                uid=name,
                name=name,
                created_ms=random.choice((1, 2)),
                nominated_node=random.choice(("", "", "", "n0", "n1")),
            )
        )
    return made


def _somehow(random: Random, pod: Pod, nodes: list[Node]) -> Pod:
    """A member as most are, or bound already, or gated, or on its way out."""
    return msgspec.structs.replace(
        pod,
        node=random.choice(nodes).name if random.random() < 0.1 else None,
        gated=random.random() < 0.05,
        terminating=random.random() < 0.05,
    )


def _member(random: Random, *, rules: bool) -> Pod:
    member = Pod(
        uid="",
        namespace="ns",
        name="",
        labels={"app": random.choice(APPS)},
        priority=ASKING.priority,
        requests={"cpu": random.randint(0, 4), "memory": random.randint(0, 3), "pods": 1},
        scored_requests={"cpu": 2, "memory": 2} if random.random() < 0.2 else {},
        host_ports=(HostPort(80),) if random.random() < 0.1 else (),
        scheduling_group=ASKING.name,
    )
    if random.random() < 0.2:
        liked = NodeSelectorTerm((Requirement(HOST, "In", ("n1",)),))
        member = msgspec.structs.replace(member, preferred_affinity=(PreferredTerm(10, liked),))
    if not rules:
        return member
    own = (Requirement("app", "In", (random.choice(APPS),)),)
    return msgspec.structs.replace(
        member,
        affinity=(_term(random),) if random.random() < 0.15 else (),
        anti_affinity=(_term(random),) if random.random() < 0.2 else (),
        spread=(SpreadConstraint(ZONE, 1, own),) if random.random() < 0.2 else (),
    )


def _term(random: Random) -> AffinityTerm:
    return AffinityTerm(random.choice((ZONE, HOST)), (Requirement("app", "In", (random.choice(APPS),)),), ("ns",))


def _nominated(random: Random) -> Pod:
    return Pod(
        uid="nominated",
        namespace="ns",
        name="nominated",
        priority=random.choice((2, 3, 5)),
        nominated_node="n0",
        requests={"cpu": 1, "memory": 1, "pods": 1},
    )


def _budget(random: Random, number: int) -> DisruptionBudget:
    chosen = (Requirement("app", "In", tuple(random.sample(APPS, random.randint(1, 2)))),)
    return DisruptionBudget(
        namespace="ns", name=f"budget-{number}", expressions=chosen, allowed=random.choice((0, 0, 1, 2))
    )

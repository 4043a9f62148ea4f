"""Random small clusters under priority alone: full nodes, budgets, rules between pods; grown from a drawn seed."""

from random import Random

import msgspec
from hypothesis import strategies as st

from engine.model.objects import AffinityTerm, DisruptionBudget, HostPort, Node, Pod, Requirement, SpreadConstraint
from engine.model.snapshot import Snapshot
from tests.builders import NOW

ZONE, HOST = "zone", "host"
APPS = ("a", "b", "c")


def worlds(*, rules: bool = True) -> st.SearchStrategy[tuple[Snapshot, Pod]]:
    """A snapshot of one to four nodes with at most six pods each, and its ask. ``rules``: also those between pods."""
    return st.integers(0, 2**32).map(lambda seed: world(Random(seed), rules=rules))


def world(random: Random, *, rules: bool = True) -> tuple[Snapshot, Pod]:
    """One such cluster. Amounts are a few units, so that every one of them can be tried."""
    nodes, pods = [], []
    for number in range(random.randint(1, 4)):
        name = f"n{number}"
        there = [_bound(random, f"{name}-{each}", name, rules=rules) for each in range(random.randint(0, 6))]
        held = {resource: sum(one.requests.get(resource, 0) for one in there) for resource in ("cpu", "memory")}
        free = {resource: amount + random.choice((0, 0, 1, 2, 4)) for resource, amount in held.items()}
        labels = {ZONE: f"z{number % 2}", HOST: name} if random.random() < 0.9 else {HOST: name}
        nodes.append(Node(name=name, allocatable={**free, "pods": 20}, labels=labels))
        pods += there
    ask = _ask(random, rules=rules)
    if random.random() < 0.2:
        pods.append(_nominated(random))
    budgets = tuple(_budget(random, number) for number in range(random.randint(0, 3)))
    ordered = tuple(sorted([*pods, ask], key=lambda pod: (pod.namespace, pod.name)))
    snapshot = Snapshot(now_ms=NOW, nodes=tuple(nodes), pods=ordered, budgets=budgets, namespaces={"ns": {}})
    return snapshot, ask


def _bound(random: Random, name: str, node: str, *, rules: bool) -> Pod:
    app = random.choice(APPS)
    pod = Pod(
        uid=f"uid-{name}",
        namespace="ns",
        name=name,
        labels={"app": app},
        node=node,
        priority=random.choice((0, 1, 1, 2, 3, 5)),
        started_ms=random.choice((None, 1, 2, 3)),
        requests={"cpu": random.randint(0, 4), "memory": random.randint(0, 3), "pods": 1},
        terminating=random.random() < 0.05,
    )
    if rules and random.random() < 0.1:
        pod = msgspec.structs.replace(pod, anti_affinity=(_term(random),))
    if random.random() < 0.1:
        pod = msgspec.structs.replace(pod, host_ports=(HostPort(80),))
    return pod


def _ask(random: Random, *, rules: bool) -> Pod:
    ask = Pod(
        uid="uid-ask",
        namespace="ns",
        name="ask",
        labels={"app": random.choice(APPS)},
        priority=random.choice((1, 2, 3, 4)),
        never_preempts=random.random() < 0.1,
        requests={"cpu": random.randint(1, 9), "memory": random.randint(0, 5), "pods": 1},
        host_ports=(HostPort(80),) if random.random() < 0.2 else (),
    )
    if not rules:
        return ask
    own = (Requirement("app", "In", (random.choice(APPS),)),)
    return msgspec.structs.replace(
        ask,
        affinity=(_term(random),) if random.random() < 0.25 else (),
        anti_affinity=(_term(random),) if random.random() < 0.25 else (),
        spread=(SpreadConstraint(ZONE, 1, own),) if random.random() < 0.25 else (),
    )


def _nominated(random: Random) -> Pod:
    return Pod(
        uid="uid-other",
        namespace="ns",
        name="other",
        labels={"app": random.choice(APPS)},
        priority=random.choice((2, 4, 6)),
        nominated_node="n0",
        requests={"cpu": random.randint(0, 3), "memory": 0, "pods": 1},
    )


def _term(random: Random) -> AffinityTerm:
    return AffinityTerm(random.choice((ZONE, HOST)), (Requirement("app", "In", (random.choice(APPS),)),), ("ns",))


def _budget(random: Random, number: int) -> DisruptionBudget:
    apps = tuple(random.sample(APPS, random.randint(1, 2)))
    return DisruptionBudget(
        namespace="ns", name=f"b{number}", expressions=(Requirement("app", "In", apps),), allowed=random.randint(0, 2)
    )

"""Random trees and clusters for hypothesis: a few queues, nodes and pods, tight enough that guarantees bite.

Worlds are grown from a drawn seed rather than drawn value by value, because hypothesis' taste for zeros and empty lists
leaves few clusters in which anybody may preempt. A failing seed is small enough to look at.
"""

from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from engine.model.objects import HostPort, Node, Pod, Taint
from engine.model.placement_rules import Filter, Rule, RuleName
from engine.model.queue_settings import LENDING_SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import (
    WEIGHT_ONE,
    PreemptionPolicy,
    PriorityPolicy,
    Queue,
    QueueTree,
    Settings,
)
from engine.planning.forecast import ClusterChange
from tests.builders import amounts, ask, daemonset_ask, node, pod

LEAVES = ("a", "b", "t.c", "t.d", "t.u.e")
ABOVE = ("t", "t.u")
MEMORY = "memory"

_POLICIES = [PreemptionPolicy.DEFAULT] * 16 + [PreemptionPolicy.FENCE] * 2 + [PreemptionPolicy.DISABLED]


def queue_trees() -> st.SearchStrategy[QueueTree]:
    """Five leaves on three levels, each queue with or without guarantee, max, fence, priority settings."""
    return st.integers(0, 2**32).map(lambda seed: _tree(Random(seed)))


def clusters() -> st.SearchStrategy[list[Node | Pod]]:
    """One to three nodes with at most five pods each, full or all but full, and one to three asks."""
    return st.integers(0, 2**32).map(lambda seed: _cluster(Random(seed)))


def _tree(random: Random) -> QueueTree:
    queues = [Queue(path="root", preemption_policy=random.choice(list(PreemptionPolicy)))]
    for path in sorted((*LEAVES, *ABOVE)):
        steep = 3 if path in ABOVE else 1
        queues.append(
            Queue(
                path=f"root.{path}",
                guaranteed=_promise(random, (None, None, 0, 1, 3, 15, 15), steep),
                max=_promise(random, (None,) * 12 + (3, 6), steep),
                preemption_policy=random.choice(_POLICIES),
                priority_policy=PriorityPolicy.FENCE if random.random() < 0.1 else PriorityPolicy.DEFAULT,
                priority_offset=random.choice([0, 0, 0, 0, 1, -1]),
                **_rules(random),
            )
        )
    return QueueTree(queues)


def busy_world(random: Random) -> tuple[QueueTree, list[Node | Pod], list[ClusterChange]]:
    """A tree, a cluster with many asks, and every other time some pods that end and asks that arrive."""
    objects = _cluster(random)
    objects += [ask(f"y{k}", **_settings(random)) for k in range(random.randint(0, 5))]
    bound = [one.uid for one in objects if isinstance(one, Pod) and one.node is not None]
    happenings = [
        ClusterChange(
            round=random.randint(1, 5),
            ends=tuple(random.sample(bound, random.randint(0, min(2, len(bound))))),
            arrives=tuple(ask(f"z{k}{i}", **_settings(random)) for i in range(random.randint(0, 2))),
        )
        for k in range(random.choice([0, 0, 1, 2]))
    ]
    return _tree(random), objects, happenings


def growing_trees() -> st.SearchStrategy[QueueTree]:
    """The same with placement rules, and templates on some queues."""
    return st.integers(0, 2**32).map(growing_tree)


def growing_tree(seed: int) -> QueueTree:
    """One of the growing trees."""
    random = Random(seed)
    queues = [
        msgspec.structs.replace(queue, template=_template(random), parent_declared=random.random() < 0.2)
        for queue in _tree(random).queues.values()
    ]
    return QueueTree(queues, [_rule(random, 2) for _ in range(random.randint(0, 3))])


def _template(random: Random) -> Settings | None:
    if random.random() < 0.5:
        return None
    return Settings(
        guaranteed=_promise(random, (None, 0, 3), 1),
        max=_promise(random, (None, None, 6), 1),
        preemption_policy=random.choice(_POLICIES),
        delay_ms=random.choice([None, 1, 90_000]),
        priority_offset=random.choice([0, 0, -5]),
        evict_uncontrolled=random.random() < 0.2,
        **_rules(random),
    )


def _rules(random: Random) -> dict[str, Any]:
    """How a queue lends and takes; half of them say nothing of it."""
    if random.random() < 0.5:
        return {}
    return {setting.attribute: _drawn(random, setting) for setting in LENDING_SETTINGS}


def _drawn(random: Random, setting: QueueSetting) -> Any:
    if setting.kind is Kind.AMOUNTS:
        return _promise(random, (None, 0, 2), 1)
    return random.choice(
        {
            Kind.WEIGHT: [WEIGHT_ONE, 0, WEIGHT_ONE // 2, 1, 2 * WEIGHT_ONE],
            Kind.CHOICE: [None, *setting.values],
            Kind.FLAG: [None, False, True],
            Kind.INTEGER: [None, None, 0, -5, 100],
        }[setting.kind]
    )


def _rule(random: Random, deepest: int) -> Rule:
    name = random.choice(list(RuleName))
    qualified = name is RuleName.FIXED and random.random() < 0.5
    fixed = random.choice(["root.t", "root.t.new"]) if qualified else random.choice(["t", "new", "new.er"])
    named = random.choice([(), ("ann",), ("ann", "bob"), ("^a+$",)])
    return Rule(
        name=name,
        value={RuleName.FIXED: fixed, RuleName.TAG: "namespace"}.get(name, ""),
        create=random.random() < 0.7,
        filter=Filter(deny=random.random() < 0.3, users=named, groups=random.choice([(), ("dev",)])),
        parent=_rule(random, deepest - 1) if deepest and not qualified and random.random() < 0.4 else None,
    )


def _promise(random: Random, options: tuple[int | None, ...], steep: int) -> dict[str, int]:
    drawn = {"cpu": random.choice(options), MEMORY: random.choice((None,) * 5 + options)}
    return amounts({name: amount * steep for name, amount in drawn.items() if amount is not None})


def _cluster(random: Random) -> list[Node | Pod]:
    objects: list[Node | Pod] = []
    for i in range(random.randint(1, 3)):
        pods = [_bound(random, f"p{i}-{k}", f"n{i}") for k in range(random.randint(1, 5))]
        held = {name: sum(one.requests.get(name, 0) for one in pods) for name in ("cpu", MEMORY)}
        spare = int(random.random() < 0.2)
        taints = (Taint("gpu"),) if random.random() < 0.1 else ()
        room = {MEMORY: held[MEMORY] + spare}
        objects += [node(f"n{i}", held["cpu"] // 1000 + spare, resources=room, taints=taints), *pods]
    for k in range(random.randint(1, 3)):
        settings = _settings(random) | {"priority": random.choice([0, 2, 2]), "cpu": random.randint(1, 4)}
        daemon = random.random() < 0.15
        objects.append(daemonset_ask(f"x{k}", on="n0", **settings) if daemon else ask(f"x{k}", **settings))
    return objects


def _settings(random: Random) -> dict[str, Any]:
    return {
        "queue": random.choice((*LEAVES * 4, "nowhere")),
        "cpu": random.randint(0, 3),
        "resources": {MEMORY: random.choice([0, 0, 0, 1, 2])},
        "priority": random.randint(0, 2),
        "app": random.choice(["", "", "", "spark"]),
        "created_ms": random.randint(0, 3),
        "host_ports": (HostPort(80),) if random.random() < 0.1 else (),
    }


def _bound(random: Random, name: str, on: str) -> Pod:
    running = pod(name, node=on, **_settings(random))
    rare: list[dict[str, Any]] = [
        {"terminating": True},
        {"priority_class": "keep"},
        {"controller": "DaemonSet/agent"},
        *[{}] * 12,
    ]
    return msgspec.structs.replace(running, **random.choice(rare))

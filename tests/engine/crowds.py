"""Random clusters in which much is preempted: full nodes of many pods, guarantees that bite, rules between pods."""

from random import Random

import msgspec
from hypothesis import strategies as st

from engine.model.objects import AffinityTerm, HostPort, Node, Pod, Requirement, SpreadConstraint
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Reservation
from tests.builders import amounts, ask, node, pod, queue, reservation, tree

LEAVES = ("b", "t.c", "t.d", "t.u.e")
APPS = ("x", "y", "z")
ZONE = "zone"


def crowds() -> st.SearchStrategy[tuple[QueueTree, list[Node | Pod | Reservation]]]:
    """A tree with a leaf that is promised more than it uses, and what runs beside it."""
    return st.integers(0, 2**32).map(lambda seed: crowd(Random(seed)))


def crowd(random: Random) -> tuple[QueueTree, list[Node | Pod | Reservation]]:
    """One of them."""
    leaf = random.choice(("a", "t.a", "t.u.a"))
    nodes, pods = [], []
    for i in range(random.randint(1, 4)):
        there = [_running(random, f"p{i}-{k}", f"n{i}") for k in range(random.randint(2, 9))]
        held = {name: sum(one.requests.get(name, 0) for one in there) for name in ("cpu", "memory")}
        spare = random.choice((0, 0, 1))
        nodes.append(
            node(
                f"n{i}",
                f"{held['cpu'] + spare * 1000}m",
                resources={"memory": held["memory"] + spare},
                labels={ZONE: f"z{i % 2}"},
                ready=random.random() < 0.95,
            )
        )
        pods += there
    asks = [_asking(random, f"want{k}", leaf) for k in range(random.randint(1, 2))]
    kept = [reservation(one, node="n0") for one in asks[1:] if random.random() < 0.3]
    return _tree(random, leaf), [*nodes, *pods, *asks, *kept]


def _tree(random: Random, leaf: str) -> QueueTree:
    def promised(*options: int | None) -> dict[str, int] | None:
        drawn = {"cpu": random.choice(options), "memory": random.choice((None, None, *options))}
        return amounts({name: amount for name, amount in drawn.items() if amount is not None}) or None

    queues = {name: queue(promised(None, 0, 1, 2, 4)) for name in LEAVES}
    queues |= {name: queue(promised(None, None, 3, 6), max=promised(None, None, 8)) for name in ("t", "t.u")}
    capped = {"cpu": str(random.choice((12, 20)))} if random.random() < 0.3 else None
    return tree({**queues, leaf: queue({"cpu": "30", "memory": "40"}), "root": queue(max=capped)})


def _running(random: Random, name: str, on: str) -> Pod:
    running = pod(
        name,
        node=on,
        queue=random.choice(LEAVES),
        cpu=f"{random.choice((0, 500, 1000, 1000, 2000, 3000))}m",
        resources={"memory": random.choice((0, 0, 1, 2))},
        priority=random.randint(0, 2),
        app=random.choice(("", "", "spark")),
        labels={"app": random.choice(APPS)},
        created_ms=random.randint(0, 2),
        started_ms=random.choice((None, 0, 1, 2)),
        priority_class="keep" if random.random() < 0.1 else "",
        terminating=random.random() < 0.05,
    )
    if random.random() < 0.05:
        running = msgspec.structs.replace(running, anti_affinity=(_term(random),))
    return msgspec.structs.replace(running, host_ports=(HostPort(80),)) if random.random() < 0.1 else running


def _asking(random: Random, name: str, leaf: str) -> Pod:
    asking = ask(
        name,
        queue=leaf,
        cpu=random.randint(1, 6),
        resources={"memory": random.choice((0, 0, 1, 3))},
        priority=random.choice((1, 2, 2)),
        labels={"app": random.choice(APPS)},
        host_ports=(HostPort(80),) if random.random() < 0.1 else (),
    )
    rules = {
        "affinity": (_term(random),) if random.random() < 0.2 else (),
        "anti_affinity": (_term(random),) if random.random() < 0.1 else (),
        "spread": (SpreadConstraint(ZONE, 1, _app(random)),) if random.random() < 0.1 else (),
    }
    return msgspec.structs.replace(asking, **rules)


def _term(random: Random) -> AffinityTerm:
    return AffinityTerm(ZONE, _app(random), ("ns",))


def _app(random: Random) -> tuple[Requirement, ...]:
    return (Requirement("app", "In", (random.choice(APPS),)),)

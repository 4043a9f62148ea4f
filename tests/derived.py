"""Who may preempt whom, found out by asking policy ``fence`` itself in small worlds. Nothing here knows a rule."""

from collections.abc import Iterator
from itertools import product

from engine.model.decision import Outcome
from engine.model.objects import Node, Pod
from engine.model.quantities import PODS, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import policy
from tests.builders import NOW, named, snapshot

HIGH, LOW = 1_000_000_000, -1_000_000_000
DECIDE = policy("fence", "design", {})


def preempts(tree: QueueTree, asker: str, victim: str) -> bool:
    """Whether in some world an ask of the one leaf has a pod of the other evicted."""
    for world in _worlds(tree, asker, victim):
        decision = DECIDE(world, tree, named(world, "ask"))
        if decision.outcome is Outcome.PREEMPT:
            assert {gone.pod.queue for gone in decision.victims} == {victim}
            return True
    return False


def pairs(tree: QueueTree) -> dict[tuple[str, str], bool]:
    """The same for every asker and victim."""
    return {(asker, victim): preempts(tree, asker, victim) for asker, victim in product(tree.leaves, tree.leaves)}


def _worlds(tree: QueueTree, asker: str, victim: str) -> Iterator[Snapshot]:
    """Nobody uses anything but the victim's queue, which fills the only node, far beyond what anybody is guaranteed.

    Its pods hold something of everything, or are pods and nothing else; the ask wants one resource, or just to run.
    """
    units = _units(tree)
    for count, wanted, held in product((3, 2, 1), [*units, None], [units, {}]):
        yield _world(tree, asker, victim, {wanted: 1} if wanted else {}, held, count)


def _units(tree: QueueTree) -> Amounts:
    """Of each resource as much as the most that any queue is guaranteed of it."""
    found: Amounts = {}
    for queue in tree.queues.values():
        for name, amount in queue.guaranteed.items():
            found[name] = max(found.get(name, 1), amount)
    return {name: amount for name, amount in found.items() if name != PODS}


def _world(tree: QueueTree, asker: str, victim: str, wanted: Amounts, held: Amounts, count: int) -> Snapshot:
    room = {name: count * amount for name, amount in held.items()}
    node = Node(name="n1", allocatable=dict.fromkeys(wanted, 10) | room | {PODS: count})
    running = [_pod(f"v{n}", victim, held, node="n1", priority=LOW) for n in range(count)]
    return snapshot(tree, node, running, _pod("ask", asker, wanted, unschedulable_ms=0, priority=HIGH), now=NOW)


def _pod(name: str, queue: str, requests: Amounts, **settings: object) -> Pod:
    return Pod(
        uid=name,
        namespace="ns",
        name=name,
        queue_label=queue,
        requests=requests | {PODS: 1},
        controller=f"ReplicaSet/{name}",
        **settings,  # type: ignore[arg-type]
    )

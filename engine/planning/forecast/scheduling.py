"""Which nodes an ask may try: those with room, the emptiest first, as kube-scheduler goes about it by default."""

from collections.abc import Iterable, Iterator

from engine.feasibility import unsupported_rules
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, fits, subtract
from engine.model.snapshot import ClusterState, Snapshot

_MILLION = 1_000_000


def tries(seen: Snapshot, asks: Iterable[Pod], state: ClusterState) -> Iterator[tuple[str, str]]:
    """Ask (uid) and node, one ask after the other, until it is bound, which is seen in ``state``.

    Nodes that open decisions keep take nobody; asks whose rules can't be judged try none.
    """
    kept = {held.node for held in seen.reservations}
    nodes = [node for node in seen.nodes if node.name not in kept]
    free = {node.name: seen.free(node) for node in nodes}
    for ask in asks:
        if unsupported_rules(seen, ask):
            continue
        roomy = [node for node in nodes if fits(ask.requests, free[node.name])]
        for node in sorted(roomy, key=lambda node: _fullness(node, free[node.name])):
            yield ask.uid, node.name
            if state.pods[ask.uid].node is not None:
                free[node.name] = subtract(free[node.name], ask.requests)
                break


def _fullness(node: Node, free: Amounts) -> int:
    """The largest part that is taken of any resource, in millionths."""
    taken = ((most - free.get(name, 0)) * _MILLION // most for name, most in node.allocatable.items() if most > 0)
    return max(taken, default=0)

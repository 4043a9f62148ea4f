"""Chooses the nodes that a pod may try: those with enough room, the emptiest first, kube-scheduler's default."""

from collections.abc import Iterable, Iterator

from engine.feasibility import unsupported_rules
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, fits, subtract
from engine.model.snapshot import ClusterState, Snapshot

_MILLION = 1_000_000


def placement_attempts(snapshot: Snapshot, pending: Iterable[Pod], state: ClusterState) -> Iterator[tuple[str, str]]:
    """Yield pod (uid) and node, for one pod after the other, until ``state`` shows that it is bound.

    Nodes that open decisions reserve take no pods; pods whose rules can't be evaluated try no nodes.
    """
    reserved = {held.node for held in snapshot.reservations}
    nodes = [node for node in snapshot.nodes if node.name not in reserved]
    free = {node.name: snapshot.free(node) for node in nodes}
    for pod in pending:
        if unsupported_rules(snapshot, pod):
            continue
        roomy = [node for node in nodes if fits(pod.requests, free[node.name])]
        for node in sorted(roomy, key=lambda node: _fullness(node, free[node.name])):
            yield pod.uid, node.name
            if state.pods[pod.uid].node is not None:
                free[node.name] = subtract(free[node.name], pod.requests)
                break


def _fullness(node: Node, free: Amounts) -> int:
    """Return the highest utilization of any resource, in millionths."""
    used = ((most - free.get(name, 0)) * _MILLION // most for name, most in node.allocatable.items() if most > 0)
    return max(used, default=0)

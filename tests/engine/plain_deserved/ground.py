"""What there is to divide in a cluster, and what everybody asks of it: pod by pod."""

from engine.model.objects import Pod
from engine.model.quantities import Amounts, fits, subtract, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.deserved import SYSTEM, ShareIndex


def ground(snapshot: Snapshot, tree: QueueTree) -> ShareIndex:
    """What ``deserved`` divides. Pods on their way out ask nothing any more."""
    nodes = {node.name: node for node in snapshot.nodes if node.ready}
    too_large = tuple(
        pod for pod in snapshot.asks if not any(fits(pod.requests, node.allocatable) for node in nodes.values())
    )
    unfit = {pod.uid for pod in too_large}
    bound = [pod for pod in snapshot.pods if pod.node is not None]
    asking = [pod for pod in snapshot.asks if pod.uid not in unfit] + [pod for pod in bound if not pod.terminating]
    system = [pod.requests for pod in asking if pod.namespace == SYSTEM]
    foreign = [pod.requests for pod in bound if pod.node in nodes and pod.namespace != SYSTEM and not _in(tree, pod)]
    left = subtract(total(node.allocatable for node in nodes.values()), total([*system, *foreign]))
    inside = [pod for pod in asking if _in(tree, pod) and pod.namespace != SYSTEM]
    requests = _by_leaf(tree, inside)
    return ShareIndex(
        capacity={name: amount for name, amount in left.items() if amount > 0},
        requests=requests,
        asked=tree.roll_up(requests),
        used=tree.roll_up(_by_leaf(tree, [pod for pod in inside if pod.node is not None])),
        too_large=too_large,
    )


def _by_leaf(tree: QueueTree, pods: list[Pod]) -> dict[str, Amounts]:
    return {leaf: total(pod.requests for pod in pods if pod.queue == leaf) for leaf in tree.leaves}


def _in(tree: QueueTree, pod: Pod) -> bool:
    return pod.queue is not None and pod.queue in tree and tree.is_leaf(pod.queue)

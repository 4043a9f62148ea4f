"""What there is to divide in a cluster, and what everybody asks of it."""

import msgspec

from engine.queues import QueueTree
from engine.resources import Amounts, fits, subtract, total
from engine.snapshot import Pod, Snapshot

SYSTEM = "kube-system"
"""It deserves what it asks, before anybody else."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot as far as shares go."""

    capacity: Amounts
    """Of all nodes that are ready, less what the system asks and what pods outside the tree use there."""
    requests: dict[str, Amounts]
    """Leaf -> what its pods ask, running and pending together."""
    too_large: tuple[Pod, ...]
    """Pending pods that would fit no node if all were empty: they ask nothing."""


def ground(snapshot: Snapshot, tree: QueueTree) -> Ground:
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
    requests: dict[str, list[Amounts]] = {leaf: [] for leaf in tree.leaves}
    for pod in asking:
        if pod.queue in requests and pod.namespace != SYSTEM:
            requests[pod.queue].append(pod.requests)
    return Ground(
        capacity={name: amount for name, amount in left.items() if amount > 0},
        requests={leaf: total(amounts) for leaf, amounts in requests.items()},
        too_large=too_large,
    )


def _in(tree: QueueTree, pod: Pod) -> bool:
    return pod.queue is not None and pod.queue in tree and tree.is_leaf(pod.queue)

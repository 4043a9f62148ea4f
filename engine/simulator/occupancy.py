"""What the scheduler remembers of the cluster: nodes, the pods on them, and rooms that nominations speak for."""

from engine.resources import Amounts, total
from engine.snapshot import Node, Pod


class Occupancy:
    """Nodes by name, the pods that hold room on each, and the pending pods that are nominated to one."""

    def __init__(self) -> None:
        """Begin with an empty cluster."""
        self.nodes: dict[str, Node] = {}
        self._pods: dict[str, dict[str, Pod]] = {}
        self._used: dict[str, Amounts] = {}
        self._nominated: dict[str, Pod] = {}

    def place(self, pod: Pod) -> None:
        """Take note of a bound pod."""
        node = pod.node or ""
        self._pods.setdefault(node, {})[pod.uid] = pod
        self._used.pop(node, None)
        self._nominated.pop(pod.uid, None)

    def drop(self, pod: Pod) -> bool:
        """Forget a bound pod; tell whether it held room until now."""
        node = pod.node or ""
        self._used.pop(node, None)
        return self._pods.get(node, {}).pop(pod.uid, None) is not None

    def nominate(self, pod: Pod) -> None:
        """Take note of a pending pod, and of the node it is nominated to, if any."""
        if pod.nominated_node:
            self._nominated[pod.uid] = pod
        else:
            self._nominated.pop(pod.uid, None)

    def withdraw(self, pod: Pod) -> bool:
        """Forget a pending pod; tell whether a node was spoken for."""
        return self._nominated.pop(pod.uid, None) is not None

    def on(self, node: str) -> tuple[Pod, ...]:
        """Return the pods that hold room on a node."""
        return tuple(self._pods.get(node, {}).values())

    def used(self, node: str) -> Amounts:
        """Return what the pods on a node hold together."""
        if node not in self._used:
            self._used[node] = total(pod.requests for pod in self.on(node))
        return self._used[node]

    def nominated(self, node: str) -> tuple[Pod, ...]:
        """Return the pending pods nominated to a node."""
        return tuple(pod for pod in self._nominated.values() if pod.nominated_node == node)

    def ahead(self, pod: Pod, node: str) -> tuple[Pod, ...]:
        """Return the pods nominated to a node whose room `pod` may not take: those of its priority or a higher one."""
        return tuple(other for other in self.nominated(node) if other.uid != pod.uid and other.priority >= pod.priority)

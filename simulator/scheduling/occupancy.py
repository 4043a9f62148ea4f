"""What the scheduler remembers of the cluster: nodes, the pods on them, and rooms that nominations speak for."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import msgspec

from engine.formats.kubernetes.decode import decode_budget, decode_claim, decode_namespace, decode_volume
from engine.model.objects import Node, Pod, Taint
from engine.model.quantities import Amounts, total
from engine.model.snapshot import Snapshot

OTHERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "poddisruptionbudgets.policy": decode_budget,
    "namespaces": decode_namespace,
    "persistentvolumeclaims": decode_claim,
    "persistentvolumes": decode_volume,
}
"""What is remembered besides nodes and pods, and how it is read."""
_NOT_READY = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")


class Occupancy:
    """Nodes by name, the pods that hold room on each, and the pending pods that are nominated to one."""

    def __init__(self) -> None:
        """Begin with an empty cluster."""
        self.nodes: dict[str, Node] = {}
        self._pods: dict[str, dict[str, Pod]] = {}
        self._used: dict[str, Amounts] = {}
        self._nominated: dict[str, Pod] = {}
        self._others: dict[str, dict[tuple[str, str], Any]] = {key: {} for key in OTHERS}
        self._snapshot: Snapshot | None = None

    def stand(self, node: Node) -> Node:
        """Take note of a node. One that is not ready is tainted, as the controller of nodes' lives would have it."""
        if not node.ready:
            node = msgspec.structs.replace(node, taints=(*node.taints, _NOT_READY))
        self.nodes[node.name] = node
        self._snapshot = None
        return node

    def fall(self, name: str) -> None:
        """Forget a node."""
        self.nodes.pop(name, None)
        self._snapshot = None

    def place(self, pod: Pod) -> Pod | None:
        """Take note of a bound pod; what was known of it there before."""
        node = pod.node or ""
        there = self._pods.setdefault(node, {})
        before = there.get(pod.uid)
        if before != pod:
            there[pod.uid] = pod
            self._used.pop(node, None)
            self._nominated.pop(pod.uid, None)
            self._snapshot = None
        return before

    def drop(self, pod: Pod) -> bool:
        """Forget a bound pod; tell whether it held room until now."""
        node = pod.node or ""
        self._used.pop(node, None)
        self._snapshot = None
        return self._pods.get(node, {}).pop(pod.uid, None) is not None

    def nominate(self, pod: Pod) -> None:
        """Take note of a pending pod, and of the node it is nominated to, if any."""
        if not pod.nominated_node:
            self.withdraw(pod)
        elif self._nominated.get(pod.uid) != pod:
            self._nominated[pod.uid] = pod
            self._snapshot = None

    def withdraw(self, pod: Pod) -> bool:
        """Forget a pending pod; tell whether a node was spoken for."""
        if self._nominated.pop(pod.uid, None) is None:
            return False
        self._snapshot = None
        return True

    def keep(self, key: str, obj: Mapping[str, Any], *, gone: bool) -> None:
        """Take note of one of OTHERS. Raises DecodeError."""
        meta = obj["metadata"]
        place = meta.get("namespace", ""), meta["name"]
        if gone:
            self._others[key].pop(place, None)
        else:
            self._others[key][place] = OTHERS[key](obj)
        self._snapshot = None

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

    def snapshot(self, now_ms: int) -> Snapshot:
        """Freeze it, the pending pods that are nominated nowhere left out; the same as before if nothing changed."""
        if self._snapshot is None:
            self._snapshot = self._frozen(now_ms)
        return self._snapshot

    def _frozen(self, now_ms: int) -> Snapshot:
        budgets, namespaces, claims, volumes = (self._others[key] for key in OTHERS)
        pods = [pod for name in self.nodes for pod in self.on(name)] + list(self._nominated.values())
        return Snapshot(
            now_ms=now_ms,
            nodes=tuple(sorted(self.nodes.values(), key=attrgetter("name"))),
            pods=tuple(sorted(map(nameless, pods), key=attrgetter("namespace", "name"))),
            budgets=tuple(budget for _, budget in sorted(budgets.items())),
            namespaces={name: one.labels for (_, name), one in namespaces.items()},
            claims=dict(claims),
            volumes={name: one for (_, name), one in volumes.items()},
        )


def nameless(pod: Pod) -> Pod:
    """The pod by its name in place of its UID: kube-scheduler lets nobody in by the UID that our reservation names."""
    return msgspec.structs.replace(pod, uid=pod.key)

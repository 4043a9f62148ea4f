"""The scheduler's cache of the cluster: nodes, the pods on them, and nominated pods.

Source: kube-scheduler's pkg/scheduler/backend/cache, and the nominator of its pkg/scheduler/backend/queue.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import msgspec

from engine.formats.kubernetes.decode import (
    decode_budget,
    decode_claim,
    decode_namespace,
    decode_scheduling_group,
    decode_volume,
)
from engine.model.objects import Node, Pod, SchedulingGroup, Taint
from engine.model.quantities import Amounts, total
from engine.model.snapshot import Snapshot
from simulator.kinds import POD_GROUPS

OTHER_KINDS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "poddisruptionbudgets.policy": decode_budget,
    "namespaces": decode_namespace,
    "persistentvolumeclaims": decode_claim,
    "persistentvolumes": decode_volume,
    POD_GROUPS: decode_scheduling_group,
}
"""The other kinds that are cached, with their decoders."""
_NOT_READY = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")


class Occupancy:
    """Nodes by name, the pods that occupy each, and the pending pods that are nominated to a node."""

    def __init__(self) -> None:
        """Create the cache of an empty cluster."""
        self.nodes: dict[str, Node] = {}
        self._pods: dict[str, dict[str, Pod]] = {}
        self._used: dict[str, Amounts] = {}
        self._nominated: dict[str, Pod] = {}
        self._objects: dict[str, dict[tuple[str, str], Any]] = {key: {} for key in OTHER_KINDS}
        self._snapshot: Snapshot | None = None

    def put_node(self, node: Node) -> Node:
        """Add or update a node. A node that is not ready is tainted, as the node lifecycle controller does."""
        if not node.ready:
            node = msgspec.structs.replace(node, taints=(*node.taints, _NOT_READY))
        self.nodes[node.name] = node
        self._snapshot = None
        return node

    def remove_node(self, name: str) -> None:
        """Remove a node."""
        self.nodes.pop(name, None)
        self._snapshot = None

    def place(self, pod: Pod) -> Pod | None:
        """Add or update a bound pod; return its former state there."""
        node = pod.node or ""
        pods = self._pods.setdefault(node, {})
        former = pods.get(pod.uid)
        if former != pod:
            pods[pod.uid] = pod
            self._used.pop(node, None)
            self._nominated.pop(pod.uid, None)
            self._snapshot = None
        return former

    def drop(self, pod: Pod) -> bool:
        """Remove a bound pod; return whether it occupied capacity until now."""
        node = pod.node or ""
        self._used.pop(node, None)
        self._snapshot = None
        return self._pods.get(node, {}).pop(pod.uid, None) is not None

    def assume(self, pod: Pod, node: str) -> None:
        """Let a pending pod occupy a node until `forget`."""
        self.place(msgspec.structs.replace(pod, node=node))

    def forget(self, pod: Pod, node: str) -> None:
        """Let a pod be pending again that occupied a node since `assume`."""
        self.drop(msgspec.structs.replace(pod, node=node))
        self.nominate(pod)

    def nominate(self, pod: Pod) -> None:
        """Record the nomination of a pending pod, if it has one."""
        if not pod.nominated_node:
            self.withdraw(pod)
        elif self._nominated.get(pod.uid) != pod:
            self._nominated[pod.uid] = pod
            self._snapshot = None

    def withdraw(self, pod: Pod) -> bool:
        """Remove the nomination of a pending pod; return whether it had one."""
        if self._nominated.pop(pod.uid, None) is None:
            return False
        self._snapshot = None
        return True

    def put_object(self, key: str, obj: Mapping[str, Any], *, deleted: bool) -> None:
        """Store or remove an object of OTHER_KINDS. Raises DecodeError."""
        meta = obj["metadata"]
        place = meta.get("namespace", ""), meta["name"]
        if deleted:
            self._objects[key].pop(place, None)
        else:
            self._objects[key][place] = OTHER_KINDS[key](obj)
        self._snapshot = None

    def on(self, node: str) -> tuple[Pod, ...]:
        """Return the pods that occupy capacity on a node."""
        return tuple(self._pods.get(node, {}).values())

    def used(self, node: str) -> Amounts:
        """Return the total requests of the pods on a node."""
        if node not in self._used:
            self._used[node] = total(pod.requests for pod in self.on(node))
        return self._used[node]

    def group(self, place: tuple[str, str]) -> SchedulingGroup | None:
        """Return the PodGroup of a namespace and name, None if there is none."""
        group: SchedulingGroup | None = self._objects[POD_GROUPS].get(place)
        return group

    def members(self, group: SchedulingGroup) -> tuple[Pod, ...]:
        """Return the bound pods of a PodGroup."""
        place = group.namespace, group.name
        pods = (pod for pods in self._pods.values() for pod in pods.values())
        return tuple(pod for pod in pods if (pod.namespace, pod.scheduling_group) == place)

    def nominated(self, node: str) -> tuple[Pod, ...]:
        """Return the pending pods nominated to a node."""
        return tuple(pod for pod in self._nominated.values() if pod.nominated_node == node)

    def snapshot(self, now_ms: int) -> Snapshot:
        """Return a snapshot, the same object while nothing changed; pending pods without a nomination are left out."""
        if self._snapshot is None:
            self._snapshot = self._make_snapshot(now_ms)
        return self._snapshot

    def _make_snapshot(self, now_ms: int) -> Snapshot:
        budgets, namespaces, claims, volumes, groups = (self._objects[key] for key in OTHER_KINDS)
        pods = [pod for name in self.nodes for pod in self.on(name)] + list(self._nominated.values())
        return Snapshot(
            now_ms=now_ms,
            nodes=tuple(sorted(self.nodes.values(), key=attrgetter("name"))),
            pods=tuple(sorted(map(with_name_as_uid, pods), key=attrgetter("namespace", "name"))),
            budgets=tuple(budget for _, budget in sorted(budgets.items())),
            namespaces={name: namespace.labels for (_, name), namespace in namespaces.items()},
            claims=dict(claims),
            volumes={name: volume for (_, name), volume in volumes.items()},
            groups=dict(groups),
        )


def with_name_as_uid(pod: Pod) -> Pod:
    """Return the pod with its name as UID: kube-scheduler ignores the UID in our reservation's toleration."""
    return msgspec.structs.replace(pod, uid=pod.key)

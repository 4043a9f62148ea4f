"""A snapshot made from nothing, one pod at a time: what one that is carried on must be equal to."""

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any

import msgspec

from engine.model.objects import AffinityTerm, Node, Pod, Shield
from engine.model.placement import add_dynamic_queues
from engine.model.quantities import total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Protection, Snapshot
from engine.model.snapshot.queue_assignment import apply_shield, assign_queue, without_queue


def plain_snapshot(state: ClusterState, tree: QueueTree, now_ms: int, protection: Protection | None) -> Snapshot:
    """What ``state.snapshot`` gives, reservations and notices apart."""
    above = {name: one.parent_queue if tree.placement else "" for name, one in state.namespaces.items()}
    every = [
        assign_queue(pod, tree, state.classes.get(pod.priority_class), above.get(pod.namespace, ""), state.scheduler)
        for pod in state.pods.values()
        if not pod.finished
    ]
    pods = [apply_shield(pod, tree, protection) for pod in _led(every, state.scheduler)]
    pods, tree = _within(pods, tree, protection)
    pods = _unjudged(pods, state.namespaces)
    first = _originators(pods)
    pods = [msgspec.structs.replace(pod, originator=pod.uid in first) for pod in pods]
    if protection is not None and protection.min_run_ms:
        pods = [_spared(pod, now_ms - protection.min_run_ms) for pod in pods]
    nodes = tuple(sorted(state.nodes.values(), key=lambda node: node.name))
    return Snapshot(
        now_ms=now_ms,
        tree=tree,
        nodes=nodes,
        pods=tuple(_by_row(pods, nodes, now_ms)),
        budgets=tuple(budget for _, budget in sorted(state.budgets.items())),
        namespaces={name: one.labels for name, one in state.namespaces.items()},
        claims=dict(state.claims),
        volumes=dict(state.volumes),
    )


KIND_KEYS: dict[str, Callable[[Pod], Hashable]] = {
    "pod_kinds": lambda pod: (pod.namespace, id(pod.labels)),
    "anti_kinds": lambda pod: pod.anti_affinity,
    "port_kinds": lambda pod: pod.host_ports,
    "claim_kinds": lambda pod: (pod.namespace, pod.claims) if pod.claims else None,
    "queue_kinds": lambda pod: pod.queue,
    "request_kinds": lambda pod: id(pod.requests),
}
"""What the pods of a kind have in common."""


def plain_columns(snapshot: Snapshot) -> dict[str, Any]:
    """What ``columns`` of a snapshot tell, as lists."""
    place = {node.name: place for place, node in enumerate(snapshot.nodes)}
    pods = _by_row(snapshot.pods, snapshot.nodes, snapshot.now_ms)
    rows = [pod for pod in pods if pod.node in place]
    return {
        "pods": rows,
        "node": [place[pod.node or ""] for pod in rows],
        "priority": [pod.priority for pod in rows],
        "started": [snapshot.now_ms if pod.started_ms is None else pod.started_ms for pod in rows],
        "first": [sum(place[pod.node or ""] < one for pod in rows) for one in range(len(place) + 1)],
        "stray": [pod for pod in pods if pod.node is not None and pod.node not in place],
        "leaving": [row for row, pod in enumerate(rows) if pod.terminating],
        "shielded": [bool(pod.shield) for pod in rows],
        "unread": [pod.unread for pod in rows],
        "allocatable": [node.allocatable.get("cpu", 0) for node in snapshot.nodes],
        "capacity": total(node.allocatable for node in snapshot.nodes),
        "ready": [node.ready for node in snapshot.nodes],
        "cordoned": [node.unschedulable for node in snapshot.nodes],
        "resources": {name for node in snapshot.nodes for name, amount in node.allocatable.items() if amount},
        "label_keys": {key for node in snapshot.nodes for key in node.labels},
        "zones": [node.labels.get("zone") for node in snapshot.nodes],
        **{name: [key(pod) for pod in rows] for name, key in KIND_KEYS.items()},
    }


def plain_expendable_first(snapshot: Snapshot) -> list[Pod]:
    """The pods on nodes, node by node, the most expendable first."""
    rows = [pod for pod in _by_row(snapshot.pods, snapshot.nodes, snapshot.now_ms) if pod.node in _names(snapshot)]

    def ran(pod: Pod) -> int:
        return max(0, snapshot.now_ms - (snapshot.now_ms if pod.started_ms is None else pod.started_ms))

    return sorted(rows, key=lambda pod: (pod.node, *expendability(pod), ran(pod), -pod.created_ms))


def expendability(pod: Pod) -> tuple[bool, bool, int]:
    """What of a pod decides first whether it goes before another."""
    return pod.opted_out, pod.originator, pod.priority


def plain_most_on_a_node(snapshot: Snapshot, path: str, resource: str) -> int:
    """The most that the pods below a queue request on one node."""
    below = [pod for pod in snapshot.pods if pod.queue and f"{pod.queue}.".startswith(f"{path}.")]
    sums = [sum(pod.requests.get(resource, 0) for pod in below if pod.node == name) for name in _names(snapshot)]
    return max(sums, default=0)


def _names(snapshot: Snapshot) -> set[str]:
    return {node.name for node in snapshot.nodes}


def _by_row(pods: Iterable[Pod], nodes: Iterable[Node], now_ms: int) -> list[Pod]:
    """Node by node, on each by importance; those that are on none of them last, by their names."""
    place = {node.name: place for place, node in enumerate(nodes)}

    def row(pod: Pod) -> tuple[int, int, int, str, str, str]:
        name = (pod.namespace, pod.name, pod.uid)
        if pod.node not in place:
            return (len(place), 0, 0, *name)
        return (place[pod.node], -pod.priority, now_ms if pod.started_ms is None else pod.started_ms, *name)

    return sorted(pods, key=row)


def _within(pods: list[Pod], tree: QueueTree, protection: Protection | None) -> tuple[list[Pod], QueueTree]:
    if not tree.placement:
        return pods, tree
    missing = {pod.queue for pod in pods if pod.queue is not None and pod.queue not in tree}
    first = {path: min((pod.created_ms, pod.key) for pod in pods if pod.queue == path) for path in missing}
    wanted = tuple(sorted(missing, key=lambda path: (first[path], path)))
    tree = add_dynamic_queues(tree, wanted)
    refused = {path for path in wanted if path not in tree or not tree.is_leaf(path)}
    return [without_queue(pod, protection) if pod.queue in refused else pod for pod in pods], tree


def _led(pods: list[Pod], scheduler: str) -> list[Pod]:
    """To YuniKorn all pods of an application are in the queue of its first one."""
    first: dict[tuple[str, str], Pod] = {}
    for pod in sorted(pods, key=lambda pod: (pod.created_ms, pod.namespace, pod.name, pod.uid)):
        if pod.scheduler == scheduler == "yunikorn":
            first.setdefault((pod.namespace, pod.application), pod)
    leads = {key: pod.queue for key, pod in first.items()}
    return [
        msgspec.structs.replace(pod, queue=leads[pod.namespace, pod.application])
        if pod.scheduler == scheduler == "yunikorn"
        else pod
        for pod in pods
    ]


def _originators(pods: Iterable[Pod]) -> set[str]:
    first: dict[tuple[str, str], Pod] = {}
    for pod in pods:
        other = first.setdefault((pod.namespace, pod.application), pod)
        if (pod.created_ms, pod.name, pod.uid) < (other.created_ms, other.name, other.uid):
            first[pod.namespace, pod.application] = pod
    return {pod.uid for pod in first.values()}


def _spared(pod: Pod, since_ms: int) -> Pod:
    if pod.shield is Shield.NONE and pod.started_ms is not None and pod.started_ms > since_ms:
        return msgspec.structs.replace(pod, shield=Shield.JUST_STARTED)
    return pod


def _unjudged(pods: list[Pod], known: Collection[str]) -> list[Pod]:
    unknown = {pod.namespace for pod in pods}.difference(known)
    keeping = [term for pod in pods for term in pod.anti_affinity if term.namespace_selector]
    return [
        msgspec.structs.replace(pod, unread_rules=(*pod.unread_rules, "namespaceSelector"))
        if pod.node is None and unknown and _depends(pod, unknown, keeping)
        else pod
        for pod in pods
    ]


def _depends(ask: Pod, unknown: set[str], keeping: Collection[AffinityTerm]) -> bool:
    own = [term for term in (*ask.affinity, *ask.anti_affinity) if term.namespace_selector]
    if any(not unknown.issubset(term.namespaces) for term in own):
        return True
    return ask.namespace in unknown and any(ask.namespace not in term.namespaces for term in keeping)

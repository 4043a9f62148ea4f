"""Removes all names from a cluster and its tree, for a report that strangers may read: its decisions are the same.

Names become numbers in the order that they had (``0042-pod``), since ties are resolved by name, and the same name
becomes the same number everywhere, so that selectors and nodes still match. Unchanged are: times, amounts, priorities,
names of resources, of schedulers and of kinds of controllers, names of Kubernetes and of schedulers themselves
(``kube-system``, ``topology.kubernetes.io/zone``), and the structure of everything. Free text is removed.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from engine.formats.kubernetes.convert import queue_label
from engine.model.objects import (
    ANY_ADDRESS,
    EVICTION_BY_VOLCANO,
    AffinityTerm,
    Claim,
    CompositeGroup,
    DisruptionBudget,
    GroupKind,
    HostPort,
    Namespace,
    Node,
    NodeSelectorTerm,
    Pod,
    PodGroup,
    PreferredTerm,
    PriorityClass,
    Requirement,
    SchedulingGroup,
    Selector,
    SpreadConstraint,
    Taint,
    TaskGroup,
    Toleration,
    Volume,
    group_reference,
    referenced_group,
)
from engine.model.queue_tree import ROOT, Queue, QueueTree
from engine.model.snapshot import ClusterState, Safeguards, Snapshot
from engine.planning.journal import PassInputs

_SYSTEM = "kube-system"
_KEPT = frozenset({ROOT, _SYSTEM})
_KEPT_BEGINNINGS = ("system-",)
"""Prefixes of priority classes whose names are kept."""
_DOMAINS = ("kubernetes.io", "k8s.io", "x-k8s.io", "yunikorn.apache.org", "scheduler-admin.io", "volcano.sh")
_KEYS = frozenset({"queue", "applicationId"})
QUEUE_LABEL = "scheduler-admin.io/queue"
_NUMBER = re.compile(r"[+-]?[0-9]+")
_CLASS_ANNOTATIONS = ("yunikorn.apache.org/allow-preemption", "scheduler-admin.io/may-preempt")


class MaskedCluster(NamedTuple):
    """The masked cluster: without placement rules, as every pod names the queue that it was in."""

    state: ClusterState
    moment: PassInputs
    tree: QueueTree


def mask_names(state: ClusterState, moment: PassInputs, tree: QueueTree) -> MaskedCluster:
    """Return the state, the inputs and the tree without names; dynamic queues become static with the same pods."""
    snapshot = moment.snapshot(state, tree)
    collecting = _Mask(snapshot, {}, {})
    collecting.all(state, moment)
    return _Mask(snapshot, _numbered(collecting.kinds), collecting.numeric).all(state, moment)


def _numbered(kinds: Mapping[str, str]) -> dict[str, str]:
    """Return a number for each name such that the order is preserved, also relative to the names that are kept."""
    width = len(str(len(kinds)))
    ordered = enumerate(sorted(kinds), start=1)
    return {name: f"{'n' if name > _SYSTEM else ''}{at:0{width}}-{kinds[name]}" for at, name in ordered}


class _Mask:
    """Replaces names by those ``given`` for them, and records the requested names, each with its kind."""

    def __init__(self, snapshot: Snapshot, replacements: Mapping[str, str], numeric: Mapping[str, bool]) -> None:
        self.kinds: dict[str, str] = {}
        self.numeric = dict(numeric)
        """Keys of labels whose values are compared as numbers."""
        self._replacements = replacements
        self._snapshot = snapshot
        self._queues = {pod.uid: pod.queue for pod in snapshot.pods}
        self._pod_claims: dict[tuple[str, str], str] = {}
        """Claims, by namespace and name, that are named after the pod that they are created for."""

    def all(self, state: ClusterState, moment: PassInputs) -> MaskedCluster:
        tree, masked = self._tree(self._snapshot.tree), ClusterState()
        masked.namespaces = {namespace.name: namespace for namespace in map(self._namespace, state.namespaces.values())}
        masked.nodes = {node.name: node for node in map(self._node, state.nodes.values())}
        masked.classes = {
            priority_class.name: priority_class for priority_class in map(self._class, state.classes.values())
        }
        masked.pods.update((pod.uid, pod) for pod in map(self._pod, state.pods.values()))
        masked.claims = {(claim.namespace, claim.name): claim for claim in map(self._claim, state.claims.values())}
        masked.scheduling_groups = {
            (group.namespace, group.name): group for group in map(self._group, state.scheduling_groups.values())
        }
        masked.composite_groups = {
            (group.namespace, group.name): group for group in map(self._composite, state.composite_groups.values())
        }
        masked.pod_groups = {
            (group.namespace, group.name): group for group in map(self._pod_group, state.pod_groups.values())
        }
        masked.volumes = {volume.name: volume for volume in map(self._volume, state.volumes.values())}
        masked.budgets = {
            (budget.namespace, budget.name): budget for budget in map(self._budget, state.budgets.values())
        }
        return MaskedCluster(masked, self._moment(moment), tree)

    def name(self, kind: str, text: str) -> str:
        if not text or text in _KEPT or (kind == "class" and text.startswith(_KEPT_BEGINNINGS)):
            return text
        self.kinds.setdefault(text, kind)
        return self._replacements.get(text, text)

    def path(self, path: str) -> str:
        return ".".join(self.name("queue", part) for part in path.split("."))

    def key(self, key: str) -> str:
        domain, slash, _name = key.rpartition("/")
        known = slash and any(domain == suffix or domain.endswith(f".{suffix}") for suffix in _DOMAINS)
        return key if known or key in _KEYS else self.name("label", key)

    def value(self, key: str, value: str) -> str:
        if value in self._snapshot.tree:
            return self.path(value)
        return value if self.numeric.get(key) and _NUMBER.fullmatch(value) else self.name("value", value)

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        return {self.key(key): self.value(key, value) for key, value in labels.items()}

    def _requirement(self, rule: Requirement, *, fields: bool = False) -> Requirement:
        if fields:  # a node has only one field: its name
            return Requirement(rule.key, rule.operator, tuple(self.name("node", value) for value in rule.values))
        if rule.operator in ("Gt", "Lt"):
            self.numeric[rule.key] = True
        values = tuple(self.value(rule.key, value) for value in rule.values)
        return Requirement(self.key(rule.key), rule.operator, values)

    def _selector(self, rules: Selector) -> Selector:
        return None if rules is None else tuple(self._requirement(rule) for rule in rules)

    def _terms(self, terms: Iterable[NodeSelectorTerm]) -> tuple[NodeSelectorTerm, ...]:
        return tuple(
            NodeSelectorTerm(
                tuple(self._requirement(rule) for rule in term.expressions),
                tuple(self._requirement(rule, fields=True) for rule in term.fields),
            )
            for term in terms
        )

    def _affinity(self, terms: Iterable[AffinityTerm]) -> tuple[AffinityTerm, ...]:
        return tuple(
            AffinityTerm(
                topology_key=self.key(term.topology_key),
                selector=self._selector(term.selector),
                namespaces=tuple(self.name("namespace", namespace) for namespace in term.namespaces),
                namespace_selector=self._selector(term.namespace_selector),
            )
            for term in terms
        )

    def _spread(self, constraint: SpreadConstraint) -> SpreadConstraint:
        return msgspec.structs.replace(
            constraint, topology_key=self.key(constraint.topology_key), selector=self._selector(constraint.selector)
        )

    def _pod(self, pod: Pod) -> Pod:
        kind, slash, controller = pod.controller.partition("/")
        queue = self._queues.get(pod.uid)
        label = self.path(queue) if queue else ""
        labels = self.labels(pod.labels) | ({QUEUE_LABEL: label} if label else {})
        return msgspec.structs.replace(
            pod,
            uid=self.name("uid", pod.uid),
            namespace=self.name("namespace", pod.namespace),
            name=self.name("pod", pod.name),
            labels=labels,
            node=pod.node and self.name("node", pod.node),
            odd_checkpoint="odd" if pod.odd_checkpoint else "",
            priority_class=self.name("class", pod.priority_class),
            controller=f"{kind}{slash}{self.name('controller', controller)}",
            unschedulable_message="",
            disruption_message=pod.disruption_message if pod.disruption == EVICTION_BY_VOLCANO else "",
            nominated_node=self.name("node", pod.nominated_node),
            node_selector=self.labels(pod.node_selector),
            node_affinity=self._terms(pod.node_affinity),
            preferred_affinity=tuple(
                PreferredTerm(preferred.weight, *self._terms((preferred.term,))) for preferred in pod.preferred_affinity
            ),
            tolerations=tuple(self._toleration(toleration) for toleration in pod.tolerations),
            host_ports=tuple(self._port(port) for port in pod.host_ports),
            affinity=self._affinity(pod.affinity),
            anti_affinity=self._affinity(pod.anti_affinity),
            spread=tuple(self._spread(constraint) for constraint in pod.spread),
            claims=tuple(self.name("claim", claim) for claim in pod.claims),
            own_claims=tuple(self._own_claim(pod, claim) for claim in pod.own_claims),
            queue_label=queue_label(labels),
            application_label=self.name("application", pod.application_label),
            workload=self.name("workload", pod.workload),
            scheduling_group=self._reference(pod.scheduling_group),
            task_group=self.name("task-group", pod.task_group),
            task_groups=tuple(self._task_group(group) for group in pod.task_groups),
            pod_group=self.name("pod-group", pod.pod_group),
            user=self.name("user", pod.user),
            groups=tuple(self.name("group", group) for group in pod.groups),
        )

    def _port(self, port: HostPort) -> HostPort:
        return HostPort(port.port, port.protocol, port.ip if port.ip == ANY_ADDRESS else self.name("address", port.ip))

    def _own_claim(self, pod: Pod, claim: str) -> str:
        volume = self.name("volume", claim.removeprefix(f"{pod.name}-"))
        masked = self._pod_claims[pod.namespace, claim] = f"{self.name('pod', pod.name)}-{volume}"
        return masked

    def _toleration(self, toleration: Toleration) -> Toleration:
        return Toleration(
            self.key(toleration.key) if toleration.key else "",
            toleration.operator,
            self.value(toleration.key, toleration.value),
            toleration.effect,
        )

    def _node(self, node: Node) -> Node:
        return msgspec.structs.replace(
            node,
            name=self.name("node", node.name),
            uid=self.name("uid", node.uid),
            labels=self.labels(node.labels),
            taints=tuple(
                Taint(self.key(taint.key), self.value(taint.key, taint.value), taint.effect) for taint in node.taints
            ),
        )

    def _class(self, priority_class: PriorityClass) -> PriorityClass:
        return msgspec.structs.replace(
            priority_class,
            name=self.name("class", priority_class.name),
            description="",
            labels={},
            annotations={
                key: priority_class.annotations[key] for key in _CLASS_ANNOTATIONS if key in priority_class.annotations
            },
            uid=self.name("uid", priority_class.uid),
        )

    def _group(self, group: SchedulingGroup) -> SchedulingGroup:
        return msgspec.structs.replace(
            group,
            namespace=self.name("namespace", group.namespace),
            name=self.name("pod-group", group.name),
            uid=self.name("uid", group.uid),
            priority_class=self.name("class", group.priority_class),
            unschedulable_message="",
            parent=self.name("pod-group", group.parent),
            workload=self.name("workload", group.workload),
        )

    def _composite(self, group: CompositeGroup) -> CompositeGroup:
        return msgspec.structs.replace(
            group,
            namespace=self.name("namespace", group.namespace),
            name=self.name("pod-group", group.name),
            parent=self.name("pod-group", group.parent),
        )

    def _pod_group(self, group: PodGroup) -> PodGroup:
        return msgspec.structs.replace(
            group,
            namespace=self.name("namespace", group.namespace),
            name=self.name("pod-group", group.name),
            queue=self.name("queue", group.queue),
            uid=self.name("uid", group.uid),
            priority_class=self.name("class", group.priority_class),
        )

    def _reference(self, reference: str) -> str:
        kind, name = referenced_group(reference)
        return group_reference(kind, self.name("application" if kind is GroupKind.YUNIKORN else "pod-group", name))

    def _task_group(self, group: TaskGroup) -> TaskGroup:
        return TaskGroup(self.name("task-group", group.name), group.min_member)

    def _namespace(self, namespace: Namespace) -> Namespace:
        return Namespace(name=self.name("namespace", namespace.name), labels=self.labels(namespace.labels))

    def _volume(self, volume: Volume) -> Volume:
        return Volume(
            name=self.name("volume", volume.name),
            node_affinity=self._terms(volume.node_affinity),
            zones=tuple(self._requirement(zone) for zone in volume.zones),
        )

    def _claim(self, claim: Claim) -> Claim:
        return msgspec.structs.replace(
            claim,
            namespace=self.name("namespace", claim.namespace),
            name=self._pod_claims.get((claim.namespace, claim.name)) or self.name("claim", claim.name),
            volume=self.name("volume", claim.volume),
            owner=self.name("uid", claim.owner),
        )

    def _budget(self, budget: DisruptionBudget) -> DisruptionBudget:
        return msgspec.structs.replace(
            budget,
            namespace=self.name("namespace", budget.namespace),
            name=self.name("budget", budget.name),
            expressions=tuple(self._requirement(rule) if rule.key else rule for rule in budget.expressions),
            disrupted=tuple(sorted(self.name("pod", name) for name in budget.disrupted)),
        )

    def _moment(self, moment: PassInputs) -> PassInputs:
        return PassInputs(
            now_ms=moment.now_ms,
            scheduler=moment.scheduler,
            group_scheduling=moment.group_scheduling,
            protection=msgspec.structs.replace(
                moment.protection,
                namespaces=frozenset(self.name("namespace", namespace) for namespace in moment.protection.namespaces),
            ),
            reservations=tuple(
                msgspec.structs.replace(
                    reservation,
                    ask_uid=self.name("uid", reservation.ask_uid),
                    node=self.name("node", reservation.node),
                    queue=self.path(reservation.queue),
                )
                for reservation in moment.reservations
            ),
            going=frozenset(self.name("uid", uid) for uid in moment.going),
            quotas={self.name("namespace", namespace): most for namespace, most in moment.quotas.items()},
            notices={self.path(queue): notified_ms for queue, notified_ms in moment.notices.items()},
            safeguards=self._safeguards(moment.safeguards),
            holds={self.name("uid", uid): hold for uid, hold in moment.holds.items()},
        )

    def _safeguards(self, safeguards: Safeguards | None) -> Safeguards | None:
        return (
            None
            if safeguards is None
            else Safeguards(
                paused=tuple(map(self.path, safeguards.paused)),
                queues=tuple(map(self.path, safeguards.queues)),
                namespaces=tuple(self.name("namespace", namespace) for namespace in safeguards.namespaces),
            )
        )

    def _tree(self, tree: QueueTree) -> QueueTree:
        return QueueTree(self._queue(tree[path]) for path in tree.walk())

    def _queue(self, queue: Queue) -> Queue:
        return msgspec.structs.replace(
            queue,
            path=self.path(queue.path),
            namespaces=tuple(self.name("namespace", namespace) for namespace in queue.namespaces),
            former_paths=(),  # each pod names the queue that it was in
            dynamic=False,
        )

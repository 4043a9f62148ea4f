"""Evaluates whether a pod can run on a node from the objects alone, one node at a time.

This is the slow way: every pod that counts is looked at again for every question. It shares nothing with
``node_feasibility`` except the meaning of selectors and tolerations; the audit and the tests compare the two.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from engine.feasibility.checks import NodeRefusal
from engine.feasibility.node_rules import RESERVED_TAINT_KEY, ZONES
from engine.feasibility.selectors import (
    UNSCHEDULABLE_TAINT,
    first_untolerated,
    selects,
    term_matches,
    term_selects,
    tolerated,
    wants_node,
)
from engine.model.decision import NodeReason
from engine.model.objects import ANY_ADDRESS, AffinityTerm, Node, Pod, Requirement, SpreadConstraint, Volume
from engine.model.quantities import PODS
from engine.model.snapshot import Snapshot


def refusal(
    snapshot: Snapshot,
    pod: Pod,
    node: Node,
    departed: Collection[str] = (),
    added_pods: Iterable[Pod] = (),
    *,
    nominated: bool = True,
    miscounting: bool = False,
    everywhere: bool = False,
) -> NodeRefusal | None:
    """Return the first reason why ``pod`` can't run on ``node`` once its pods ``departed`` (uids) have left, or None.

    ``added_pods``: pods that were bound since, on any node. ``nominated``: whether room is left for pods nominated to
    the node. ``miscounting``: see ``node_feasibility``. ``everywhere``: whether pods of other nodes have left as well.

    Source: kube-scheduler's filters in their order, with and without the pods nominated to the node.
    """
    others = _nominated_pods(snapshot, pod, node) if nominated else []
    left, added = frozenset(departed), tuple(added_pods)
    for nominated_pods in ([others] if others else []) + [[]]:
        view = _View(snapshot, pod, node, left, added, nominated_pods, miscounting=miscounting, everywhere=everywhere)
        if (reason := next(view.refusals(), None)) is not None:
            return reason
    return None


def _nominated_pods(snapshot: Snapshot, preemptor: Pod, node: Node) -> list[Pod]:
    return [
        pod
        for pod in snapshot.nominated
        if (pod.nominated_node, pod.scheduler) == (node.name, preemptor.scheduler)
        and pod.priority >= preemptor.priority
        and pod.uid != preemptor.uid
        and not (pod.scheduling_group and _group(pod) == _group(preemptor))
    ]


def _group(pod: Pod) -> tuple[str, str]:
    return pod.namespace, pod.scheduling_group


class _View:
    """The cluster without some pods of one node, and with other pods added."""

    def __init__(
        self,
        snapshot: Snapshot,
        pending: Pod,
        node: Node,
        departed: frozenset[str],
        arrived: tuple[Pod, ...],
        added: list[Pod],
        *,
        miscounting: bool,
        everywhere: bool,
    ) -> None:
        self.snapshot, self.pod, self.node, self.added, self.miscounting = snapshot, pending, node, added, miscounting
        self.arrived = [pod for pod in arrived if pod.node in snapshot.pods_by_node]
        self.gone = departed if everywhere else frozenset[str]()
        present = [*snapshot.pods_by_node[node.name], *(pod for pod in self.arrived if pod.node == node.name)]
        self.departed = [pod for pod in present if pod.uid in departed and pod.uid not in self.gone]
        self.departed_uids = {pod.uid for pod in self.departed} | self.gone
        self.on_node = [*(pod for pod in present if pod.uid not in self.departed_uids), *added]

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.snapshot.nodes}

    @cached_property
    def before(self) -> list[Pod]:
        bound = (pod for pods in self.snapshot.pods_by_node.values() for pod in pods if pod.uid not in self.gone)
        return [*bound, *self.arrived]

    @cached_property
    def staying(self) -> list[tuple[Pod, Node]]:
        return [(pod, self.nodes[pod.node or ""]) for pod in self.before if pod.uid not in self.departed_uids]

    @cached_property
    def everywhere(self) -> list[tuple[Pod, Node]]:
        return [*self.staying, *((pod, self.node) for pod in self.added)]

    def refusals(self) -> Iterator[NodeRefusal]:
        yield from self._unread()
        yield from self._node_state()
        yield from self._node_selection()
        yield from self._ports()
        yield from self._resources()
        yield from self._volumes()
        yield from self._spread()
        yield from self._affinity()

    def _unread(self) -> Iterator[NodeRefusal]:
        if any(pod.unread for pod in self.on_node):
            yield NodeRefusal(NodeReason.UNREAD)
        for name in (*self.pod.claims, *self.pod.own_claims):
            if self._volume(name) is None or (name in self.pod.own_claims and not self._owns(name)):
                yield NodeRefusal(NodeReason.UNBOUND_CLAIM, name)

    def _node_state(self) -> Iterator[NodeRefusal]:
        pod, node = self.pod, self.node
        if node.unread:
            yield NodeRefusal(NodeReason.UNREAD)
        if node.unschedulable and not tolerated(UNSCHEDULABLE_TAINT, pod.tolerations):
            yield NodeRefusal(NodeReason.UNSCHEDULABLE)
        taint = first_untolerated(
            pod.tolerations,
            [
                taint_of_node
                for taint_of_node in node.taints
                if not self._is_own_reservation(taint_of_node.key, taint_of_node.value)
            ],
        )
        if taint is not None:
            reason = NodeReason.RESERVED if taint.key == RESERVED_TAINT_KEY else NodeReason.TAINT
            yield NodeRefusal(reason, f"{taint.key}:{taint.effect}")

    def _is_own_reservation(self, key: str, value: str) -> bool:
        return (key, value) == (RESERVED_TAINT_KEY, self.pod.uid)

    def _node_selection(self) -> Iterator[NodeRefusal]:
        pod, node = self.pod, self.node
        for key, value in sorted(pod.node_selector.items()):
            if node.labels.get(key) != value:
                yield NodeRefusal(NodeReason.SELECTOR, f"{key}={value}")
        if pod.node_affinity and not any(term_matches(term, node) for term in pod.node_affinity):
            yield NodeRefusal(NodeReason.AFFINITY)

    def _ports(self) -> Iterator[NodeRefusal]:
        for requested in self.pod.host_ports:
            for used in (port for pod in self.on_node for port in pod.host_ports):
                meet = requested.ip == used.ip or ANY_ADDRESS in (requested.ip, used.ip)
                if meet and (requested.port, requested.protocol) == (used.port, used.protocol):
                    yield NodeRefusal(
                        NodeReason.HOST_PORT, ", ".join(str(host_port.port) for host_port in self.pod.host_ports)
                    )

    def _resources(self) -> Iterator[NodeRefusal]:
        node = self.node
        requests = sorted((name != PODS, name, amount) for name, amount in self.pod.requests.items() if amount > 0)
        for counted, name, amount in requests:
            if counted and amount > node.allocatable.get(name, 0):
                yield NodeRefusal(NodeReason.TOO_SMALL, name)
        for _, name, amount in requests:
            held = sum([pod.requests.get(name, 0) for pod in self.on_node])
            if held + amount > node.allocatable.get(name, 0):
                yield NodeRefusal(NodeReason.INSUFFICIENT, name)

    def _volume(self, claim: str) -> Volume | None:
        claim_object = self.snapshot.claims.get((self.pod.namespace, claim))
        return None if claim_object is None else self.snapshot.volumes.get(claim_object.volume)

    def _owns(self, claim: str) -> bool:
        return self.snapshot.claims[self.pod.namespace, claim].owner == self.pod.uid

    def _volumes(self) -> Iterator[NodeRefusal]:
        yield from self._claims_in_use()
        names = tuple(dict.fromkeys((*self.pod.claims, *self.pod.own_claims)))
        for name in names:
            volume = self._volume(name)
            terms = volume.node_affinity if volume else ()
            if terms and not any(term_matches(term, self.node) for term in terms):
                yield NodeRefusal(NodeReason.VOLUME, name)
        in_any = any(key in self.node.labels for key in ZONES)
        for name in names:
            volume = self._volume(name)
            for rule in volume.zones if volume and in_any else ():
                if not self._in_zone(rule):
                    yield NodeRefusal(NodeReason.VOLUME_ZONE, name)

    def _in_zone(self, rule: Requirement) -> bool:
        named = self.node.labels.get(rule.key)
        return (self.node.labels.get(ZONES[rule.key]) if named is None else named) in rule.values

    def _claims_in_use(self) -> Iterator[NodeRefusal]:
        claims, pending = self.snapshot.claims, self.pod
        exclusive = [name for name in pending.claims if (pending.namespace, name) in claims]
        exclusive = [name for name in exclusive if claims[pending.namespace, name].exclusive]
        if not exclusive:
            return
        used = {
            name
            for pod in self.before
            if pod.namespace == pending.namespace
            for name in pod.claims
            if name in exclusive
        }
        if not used:
            return
        users = len(used)
        for times, pods in ((-1, self.departed), (1, self.added)):
            for pod in pods:
                if pod.namespace == pending.namespace or self.miscounting:
                    users += times * sum(name in exclusive for name in pod.claims)
        if users > 0:
            yield NodeRefusal(NodeReason.CLAIM_IN_USE, ", ".join(sorted(used)))

    def _spread(self) -> Iterator[NodeRefusal]:
        keys = [constraint.topology_key for constraint in self.pod.spread]
        for constraint in self.pod.spread:
            topology = self.node.labels.get(constraint.topology_key)
            if topology is None:
                yield NodeRefusal(NodeReason.SPREAD_KEY, constraint.topology_key)
                return
            counts = self._counts(constraint, keys)
            least = min(counts.values(), default=counts[topology])
            if len(counts) < constraint.min_domains:
                least = 0
            counts_itself = selects(constraint.selector, self.pod.labels)
            if counts.get(topology, 0) + counts_itself - least > constraint.max_skew:
                yield NodeRefusal(NodeReason.SPREAD, constraint.topology_key)

    def _counts(self, constraint: SpreadConstraint, keys: Collection[str]) -> Counter[str]:
        """Return the number of pods that count, by topology, over the nodes that count."""
        key, counts = constraint.topology_key, Counter[str]()
        counted = {name for name, node in self.nodes.items() if self._counts_on(constraint, node, keys)}
        counts.update({self.nodes[name].labels[key]: 0 for name in counted})
        for pod, where in self.staying:
            if where.name in counted and self._counts_pod(constraint, pod) and not pod.terminating:
                counts[where.labels[key]] += constraint.selector != ()
        if self.node.name in counted:
            topology = self.node.labels[key]
            counts[topology] += sum(self._counts_pod(constraint, pod) for pod in self.added)
            if self.miscounting:
                twice = [pod for pod in self.departed if pod.terminating or constraint.selector == ()]
                counts[topology] -= sum(self._counts_pod(constraint, pod) for pod in twice)
        return counts

    def _counts_on(self, constraint: SpreadConstraint, node: Node, keys: Collection[str]) -> bool:
        if not all(key in node.labels for key in keys):
            return False
        if constraint.honor_affinity and not wants_node(self.pod, node):
            return False
        taints = [taint for taint in node.taints if not self._is_own_reservation(taint.key, taint.value)]
        return not constraint.honor_taints or first_untolerated(self.pod.tolerations, taints) is None

    def _counts_pod(self, constraint: SpreadConstraint, pod: Pod) -> bool:
        return pod.namespace == self.pod.namespace and selects(constraint.selector, pod.labels)

    def _affinity(self) -> Iterator[NodeRefusal]:
        if self.pod.affinity:
            yield from self._pod_affinity()
        keys = [term.topology_key for term in self.pod.anti_affinity]
        for term in sorted(self.pod.anti_affinity, key=lambda term: keys.index(term.topology_key)):
            selected = (where for pod, where in self.everywhere if self._is_selected(term, pod))
            if any(self._same(term.topology_key, where) for where in selected):
                yield NodeRefusal(NodeReason.ANTI_AFFINITY, term.topology_key)
        yield from self._repelled()

    def _repelled(self) -> Iterator[NodeRefusal]:
        repelling = [pod for pod in (*self.snapshot.keeping_apart, *self.arrived) if pod.anti_affinity]
        bound = [(pod, self.nodes[pod.node or ""]) for pod in repelling]
        at_all = self.pod.affinity or self.pod.anti_affinity
        if not at_all and not any(self._repelling_keys(pod, where) for pod, where in bound):
            return  # kube-scheduler then ignores nominated pods as well
        staying = [(pod, where) for pod, where in bound if pod.uid not in self.departed_uids]
        coming = [(pod, self.node) for pod in self.added]
        for pod, where in sorted([*staying, *coming], key=lambda pair: pair[0].key):
            for key in sorted(self._repelling_keys(pod, where)):
                if self._same(key, where):
                    yield NodeRefusal(NodeReason.KEPT_OUT, key)

    def _pod_affinity(self) -> Iterator[NodeRefusal]:
        terms = self.pod.affinity
        for term in terms:
            if term.topology_key not in self.node.labels:
                yield NodeRefusal(NodeReason.POD_AFFINITY, term.topology_key)
        selected = [where for pod, where in self.everywhere if all(self._is_selected(term, pod) for term in terms)]
        counted = [where for where in selected if any(term.topology_key in where.labels for term in terms)]
        if not counted and all(self._is_selected(term, self.pod) for term in terms):
            return  # the pod is the first of its kind
        for term in terms:
            if not any(self._same(term.topology_key, where) for where in selected):
                yield NodeRefusal(NodeReason.POD_AFFINITY, term.topology_key)

    def _same(self, key: str, where: Node) -> bool:
        """Return whether another node is in the same topology."""
        return key in where.labels and self.node.labels.get(key) == where.labels[key]

    def _repelling_keys(self, pod: Pod, where: Node) -> set[str]:
        """Return the topology keys, of those that its node has, with which a pod keeps the pending pod away."""
        pending, about = self.pod, self.snapshot.namespaces.get(self.pod.namespace, {})
        terms = (term for term in pod.anti_affinity if term.topology_key in where.labels)
        return {term.topology_key for term in terms if term_selects(term, pending.namespace, pending.labels, about)}

    def _is_selected(self, term: AffinityTerm, pod: Pod) -> bool:
        about = self.snapshot.namespaces.get(pod.namespace, {})
        return term_selects(term, pod.namespace, pod.labels, about) or term_selects(term, pod.namespace, pod.labels, {})

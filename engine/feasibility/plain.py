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
    ask: Pod,
    node: Node,
    gone: Collection[str] = (),
    come: Iterable[Pod] = (),
    *,
    nominated: bool = True,
    miscounting: bool = False,
) -> NodeRefusal | None:
    """Return the first reason why ``ask`` can't run on ``node`` once its pods ``gone`` (uids) have left, or None.

    ``come``: pods that were bound since, on any node. ``nominated``: whether room is left for pods nominated to the
    node. ``miscounting``: see ``node_feasibility``. Source: kube-scheduler's filters in their order, with and without
    the pods nominated to the node.
    """
    others = _made_way_for(snapshot, ask, node) if nominated else []
    for added in ([others] if others else []) + [[]]:
        view = _View(snapshot, ask, node, frozenset(gone), tuple(come), added, miscounting)
        if (found := next(view.refusals(), None)) is not None:
            return found
    return None


def _made_way_for(snapshot: Snapshot, ask: Pod, node: Node) -> list[Pod]:
    return [
        pod
        for pod in snapshot.nominated
        if (pod.nominated_node, pod.scheduler) == (node.name, ask.scheduler)
        and pod.priority >= ask.priority
        and pod.uid != ask.uid
    ]


class _View:
    """The cluster without some pods of one node, and with other pods added."""

    def __init__(
        self,
        snapshot: Snapshot,
        ask: Pod,
        node: Node,
        gone: frozenset[str],
        come: tuple[Pod, ...],
        added: list[Pod],
        miscounting: bool,
    ) -> None:
        self.snapshot, self.ask, self.node, self.added, self.miscounting = snapshot, ask, node, added, miscounting
        self.come = [pod for pod in come if pod.node in snapshot.pods_by_node]
        here = [*snapshot.pods_by_node[node.name], *(pod for pod in self.come if pod.node == node.name)]
        self.gone = [pod for pod in here if pod.uid in gone]
        self.left = {pod.uid for pod in self.gone}
        self.here = [*(pod for pod in here if pod.uid not in self.left), *added]

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return {one.name: one for one in self.snapshot.nodes}

    @cached_property
    def before(self) -> list[Pod]:
        return [*(pod for pods in self.snapshot.pods_by_node.values() for pod in pods), *self.come]

    @cached_property
    def staying(self) -> list[tuple[Pod, Node]]:
        return [(pod, self.nodes[pod.node or ""]) for pod in self.before if pod.uid not in self.left]

    @cached_property
    def everywhere(self) -> list[tuple[Pod, Node]]:
        return [*self.staying, *((pod, self.node) for pod in self.added)]

    def refusals(self) -> Iterator[NodeRefusal]:
        yield from self._unread()
        yield from self._node_state()
        yield from self._wanted()
        yield from self._ports()
        yield from self._resources()
        yield from self._volumes()
        yield from self._spread()
        yield from self._affinity()

    def _unread(self) -> Iterator[NodeRefusal]:
        if any(pod.unread for pod in self.here):
            yield NodeRefusal(NodeReason.UNREAD)
        for name in (*self.ask.claims, *self.ask.own_claims):
            if self._volume(name) is None or (name in self.ask.own_claims and not self._owns(name)):
                yield NodeRefusal(NodeReason.UNBOUND_CLAIM, name)

    def _node_state(self) -> Iterator[NodeRefusal]:
        ask, node = self.ask, self.node
        if node.unread:
            yield NodeRefusal(NodeReason.UNREAD)
        if node.unschedulable and not tolerated(UNSCHEDULABLE_TAINT, ask.tolerations):
            yield NodeRefusal(NodeReason.UNSCHEDULABLE)
        taint = first_untolerated(ask.tolerations, [one for one in node.taints if not self._own(one.key, one.value)])
        if taint is not None:
            reason = NodeReason.RESERVED if taint.key == RESERVED_TAINT_KEY else NodeReason.TAINT
            yield NodeRefusal(reason, f"{taint.key}:{taint.effect}")

    def _own(self, key: str, value: str) -> bool:
        return (key, value) == (RESERVED_TAINT_KEY, self.ask.uid)

    def _wanted(self) -> Iterator[NodeRefusal]:
        ask, node = self.ask, self.node
        for key, value in sorted(ask.node_selector.items()):
            if node.labels.get(key) != value:
                yield NodeRefusal(NodeReason.SELECTOR, f"{key}={value}")
        if ask.node_affinity and not any(term_matches(term, node) for term in ask.node_affinity):
            yield NodeRefusal(NodeReason.AFFINITY)

    def _ports(self) -> Iterator[NodeRefusal]:
        for wanted in self.ask.host_ports:
            for taken in (port for pod in self.here for port in pod.host_ports):
                meet = wanted.ip == taken.ip or ANY_ADDRESS in (wanted.ip, taken.ip)
                if meet and (wanted.port, wanted.protocol) == (taken.port, taken.protocol):
                    yield NodeRefusal(NodeReason.HOST_PORT, ", ".join(str(one.port) for one in self.ask.host_ports))

    def _resources(self) -> Iterator[NodeRefusal]:
        node = self.node
        wanted = sorted((name != PODS, name, amount) for name, amount in self.ask.requests.items() if amount > 0)
        for counted, name, amount in wanted:
            if counted and amount > node.allocatable.get(name, 0):
                yield NodeRefusal(NodeReason.TOO_SMALL, name)
        for _, name, amount in wanted:
            held = sum([pod.requests.get(name, 0) for pod in self.here])
            if held + amount > node.allocatable.get(name, 0):
                yield NodeRefusal(NodeReason.INSUFFICIENT, name)

    def _volume(self, claim: str) -> Volume | None:
        found = self.snapshot.claims.get((self.ask.namespace, claim))
        return None if found is None else self.snapshot.volumes.get(found.volume)

    def _owns(self, claim: str) -> bool:
        return self.snapshot.claims[self.ask.namespace, claim].owner == self.ask.uid

    def _volumes(self) -> Iterator[NodeRefusal]:
        yield from self._claims_in_use()
        names = tuple(dict.fromkeys((*self.ask.claims, *self.ask.own_claims)))
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
        claims, ask = self.snapshot.claims, self.ask
        own = [name for name in ask.claims if (ask.namespace, name) in claims]
        own = [name for name in own if claims[ask.namespace, name].exclusive]
        if not own:
            return
        used = {name for pod in self.before if pod.namespace == ask.namespace for name in pod.claims if name in own}
        if not used:
            return
        left = len(used)
        for times, pods in ((-1, self.gone), (1, self.added)):
            for pod in pods:
                if pod.namespace == ask.namespace or self.miscounting:
                    left += times * sum(name in own for name in pod.claims)
        if left > 0:
            yield NodeRefusal(NodeReason.CLAIM_IN_USE, ", ".join(sorted(used)))

    def _spread(self) -> Iterator[NodeRefusal]:
        keys = [constraint.topology_key for constraint in self.ask.spread]
        for constraint in self.ask.spread:
            here = self.node.labels.get(constraint.topology_key)
            if here is None:
                yield NodeRefusal(NodeReason.SPREAD_KEY, constraint.topology_key)
                return
            counts = self._counts(constraint, keys)
            least = min(counts.values(), default=counts[here])
            if len(counts) < constraint.min_domains:
                least = 0
            own = selects(constraint.selector, self.ask.labels)
            if counts.get(here, 0) + own - least > constraint.max_skew:
                yield NodeRefusal(NodeReason.SPREAD, constraint.topology_key)

    def _counts(self, constraint: SpreadConstraint, keys: Collection[str]) -> Counter[str]:
        """Return the number of pods that count, by topology, over the nodes that count."""
        key, counts = constraint.topology_key, Counter[str]()
        counted = {name for name, one in self.nodes.items() if self._counts_on(constraint, one, keys)}
        counts.update({self.nodes[name].labels[key]: 0 for name in counted})
        for pod, where in self.staying:
            if where.name in counted and self._meant(constraint, pod) and not pod.terminating:
                counts[where.labels[key]] += constraint.selector != ()
        if self.node.name in counted:
            here = self.node.labels[key]
            counts[here] += sum(self._meant(constraint, pod) for pod in self.added)
            if self.miscounting:
                twice = [pod for pod in self.gone if pod.terminating or constraint.selector == ()]
                counts[here] -= sum(self._meant(constraint, pod) for pod in twice)
        return counts

    def _counts_on(self, constraint: SpreadConstraint, node: Node, keys: Collection[str]) -> bool:
        if not all(key in node.labels for key in keys):
            return False
        if constraint.honor_affinity and not wants_node(self.ask, node):
            return False
        taints = [one for one in node.taints if not self._own(one.key, one.value)]
        return not constraint.honor_taints or first_untolerated(self.ask.tolerations, taints) is None

    def _meant(self, constraint: SpreadConstraint, pod: Pod) -> bool:
        return pod.namespace == self.ask.namespace and selects(constraint.selector, pod.labels)

    def _affinity(self) -> Iterator[NodeRefusal]:
        if self.ask.affinity:
            yield from self._near()
        keys = [term.topology_key for term in self.ask.anti_affinity]
        for term in sorted(self.ask.anti_affinity, key=lambda term: keys.index(term.topology_key)):
            meant = (where for pod, where in self.everywhere if self._is_meant(term, pod))
            if any(self._same(term.topology_key, where) for where in meant):
                yield NodeRefusal(NodeReason.ANTI_AFFINITY, term.topology_key)
        yield from self._kept_out()

    def _kept_out(self) -> Iterator[NodeRefusal]:
        keeping = [pod for pod in (*self.snapshot.keeping_apart, *self.come) if pod.anti_affinity]
        bound = [(pod, self.nodes[pod.node or ""]) for pod in keeping]
        at_all = self.ask.affinity or self.ask.anti_affinity
        if not at_all and not any(self._keep_out(pod, where) for pod, where in bound):
            return  # kube-scheduler then ignores nominated pods as well
        staying = [(pod, where) for pod, where in bound if pod.uid not in self.left]
        coming = [(pod, self.node) for pod in self.added]
        for pod, where in sorted([*staying, *coming], key=lambda one: one[0].key):
            for key in sorted(self._keep_out(pod, where)):
                if self._same(key, where):
                    yield NodeRefusal(NodeReason.KEPT_OUT, key)

    def _near(self) -> Iterator[NodeRefusal]:
        terms = self.ask.affinity
        for term in terms:
            if term.topology_key not in self.node.labels:
                yield NodeRefusal(NodeReason.POD_AFFINITY, term.topology_key)
        meant = [where for pod, where in self.everywhere if all(self._is_meant(term, pod) for term in terms)]
        counted = [where for where in meant if any(term.topology_key in where.labels for term in terms)]
        if not counted and all(self._is_meant(term, self.ask) for term in terms):
            return  # the pod is the first of its kind
        for term in terms:
            if not any(self._same(term.topology_key, where) for where in meant):
                yield NodeRefusal(NodeReason.POD_AFFINITY, term.topology_key)

    def _same(self, key: str, where: Node) -> bool:
        """Return whether another node is in the same topology."""
        return key in where.labels and self.node.labels.get(key) == where.labels[key]

    def _keep_out(self, pod: Pod, where: Node) -> set[str]:
        """Return the topology keys, of those that its node has, with which a pod keeps the pending pod away."""
        ask, about = self.ask, self.snapshot.namespaces.get(self.ask.namespace, {})
        terms = (term for term in pod.anti_affinity if term.topology_key in where.labels)
        return {term.topology_key for term in terms if term_selects(term, ask.namespace, ask.labels, about)}

    def _is_meant(self, term: AffinityTerm, pod: Pod) -> bool:
        about = self.snapshot.namespaces.get(pod.namespace, {})
        return term_selects(term, pod.namespace, pod.labels, about) or term_selects(term, pod.namespace, pod.labels, {})

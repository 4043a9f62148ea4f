"""Calculate what queues use and deserve under policy ``deserved``, independently of that policy, for the audit."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec
import numpy as np

from engine.audit.audit_state import AuditState
from engine.audit.bound_usage import Kind, held
from engine.audit.shares.deserved_amounts import SETTLED, DeservedAmounts
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Columns, Flags
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, fits, subtract, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot

SYSTEM = "kube-system"
"""The namespace that deserves all that it requests, before any queue does."""
_NOTHING: Amounts = {}


class QueueAmounts:
    """What each queue uses and deserves before one decision."""

    def __init__(self, ledger: AuditState, *pods: Pod, alone: bool) -> None:
        """Initialize the amounts from the audit state.

        ``pods``: those that the decision is about. ``alone``: whether each resource is divided by itself.
        """
        self._ledger, self._pods, self._alone = ledger, pods, alone
        tree = ledger.tree
        self._base = ledger.snapshot.once("queue amounts", tree, lambda: _base(ledger.snapshot, tree))
        self.capacity = self._base.capacity

    def used(self, path: str, resource: str) -> int:
        """Return a queue's usage: without terminating pods, with what is reserved for pods that it is not about."""
        system = self._base.system.get(path, _NOTHING)
        return self._ledger.settled(path, resource, *self._pods) - system.get(resource, 0)

    def wrong(self, path: str, reported: Mapping[str, int]) -> str:
        """Return the first resource whose deserved amount in ``reported`` is wrong beyond rounding, or an empty string.

        Rounding may give each queue above, and each leaf below, a unit more or less. Amounts in bytes are so large that
        floating point is slightly off.
        """
        ledger, alone = self._ledger, self._alone
        sharing = ledger.once(("sharing", alone), lambda: _Sharing(self._base, ledger, alone=alone))
        sharing.follow(ledger)
        expected, roundings = sharing.of(path), len(ledger.tree.lineage(path)) - 1 + sharing.leaves(path)
        tolerances = {name: roundings * unit + SETTLED * self.capacity[name] for name, unit in sharing.units.items()}
        return next((name for name in tolerances if abs(reported.get(name, 0) - expected[name]) > tolerances[name]), "")


class _Sharing:
    """What each queue requests and deserves, updated from decision to decision as victims stop requesting."""

    def __init__(self, base: "_Base", ledger: AuditState, *, alone: bool) -> None:
        self._base, self._alone, self._followed = base, alone, len(ledger.leaving_queues)
        self._tree, self._leaves = ledger.tree, dict[str, int]()
        requests = {leaf: self._requests(ledger, leaf) for leaf in ledger.tree.leaves}
        self._shares = DeservedAmounts(ledger.tree, requests, base.capacity, alone=alone)
        self._turn = {leaf: turn for turn, leaf in enumerate(requests)}
        self._spans = np.array([self._span(requested) for requested in requests.values()], np.float64)
        self.units = self._largest_spans()
        """Resource -> by how much rounding up one unit of another resource may change it, at most."""

    def follow(self, ledger: AuditState) -> None:
        """Update the requests of queues that lost pods since the last call."""
        new, self._followed = ledger.leaving_queues[self._followed :], len(ledger.leaving_queues)
        for leaf in sorted(self._turn.keys() & set(new)):
            requested, turn = self._requests(ledger, leaf), self._turn[leaf]
            self._shares.change(leaf, requested)
            before, now = self._spans[turn].tolist(), self._span(requested)
            if before != now:
                self._spans[turn] = now
                both = zip(before, now, self.units.values(), strict=True)
                if any(was == unit or span > unit for was, span, unit in both):
                    self.units = self._largest_spans()

    def of(self, path: str) -> dict[str, float]:
        """Return what a queue deserves, by resource."""
        return self._shares.of(path)

    def leaves(self, path: str) -> int:
        """Return the number of leaves below a queue, a leaf itself included."""
        if path not in self._leaves:
            self._leaves[path] = sum(map(self._tree.is_leaf, self._tree.walk(path)))
        return self._leaves[path]

    def _largest_spans(self) -> dict[str, float]:
        most = self._spans.max(axis=0, initial=1.0)
        return dict(zip(self._base.capacity, most.tolist(), strict=True))

    def _requests(self, ledger: AuditState, leaf: str) -> Amounts:
        """Return what the leaf's pods request, running and pending."""
        system, waiting = self._base.system.get(leaf, _NOTHING), self._base.waiting.get(leaf, _NOTHING)
        return {
            name: ledger.victim_usage(leaf, name) - system.get(name, 0) + waiting.get(name, 0)
            for name in self._base.capacity
        }

    def _span(self, requested: Amounts) -> list[float]:
        """Return, by resource, how many units are requested per unit of the resource that is requested least."""
        if self._alone:
            return [1.0] * len(requested)
        least = min((amount for amount in requested.values() if amount > 0), default=1)
        return [amount / least for amount in requested.values()]


class _Base(msgspec.Struct, frozen=True, kw_only=True):
    """The amounts that no decision of a pass changes. Queues without such amounts are left out."""

    capacity: Amounts
    waiting: dict[str, Amounts]
    """Leaf -> what its pending pods request, without those that fit on no empty node."""
    system: dict[str, Amounts]
    """Path -> what pods of the system's namespace hold there, which counts for no queue."""


def _base(snapshot: Snapshot, tree: QueueTree) -> _Base:
    nodes = [node for node in snapshot.nodes if node.ready]
    pending = _not_too_large(snapshot.asks, nodes)
    waiting = [(pod.queue, pod.requests, 1) for pod in pending if pod.namespace != SYSTEM]
    system, foreign = list(_system_pods(snapshot)), _foreign_pods(snapshot, tree)
    pending_system = [(pod.queue, pod.requests, 1) for pod in pending if pod.namespace == SYSTEM]
    not_shared = _total((*system, *pending_system, *foreign))
    available = subtract(total(node.allocatable for node in nodes), not_shared)
    return _Base(
        capacity={name: amount for name, amount in available.items() if amount > 0},
        waiting=_by_queue(tree, waiting),
        system=_by_queue(tree, system, above=True),
    )


def _not_too_large(pending: Iterable[Pod], nodes: Iterable[Node]) -> list[Pod]:
    node_sizes = list({tuple(sorted(node.allocatable.items())): node.allocatable for node in nodes}.values())
    return [pod for pod in pending if any(fits(pod.requests, size) for size in node_sizes)]


def _system_pods(snapshot: Snapshot) -> Iterator[Kind]:
    """Yield the kinds of running pods of the system's namespace, wherever they are."""
    columns = snapshot.columns
    rows = np.flatnonzero(_of_system(columns) & ~columns.terminating)
    yield from held(columns, rows)
    for pod in columns.stray:
        if pod.namespace == SYSTEM and not pod.terminating:
            yield pod.queue, pod.requests, 1


def _foreign_pods(snapshot: Snapshot, tree: QueueTree) -> Iterator[Kind]:
    """Yield the kinds of other pods on ready nodes that are in no leaf of the tree."""
    columns, leaves = snapshot.columns, frozenset(tree.leaves)
    in_no_leaf = columns.queue_kinds.flags(lambda pod: pod.queue not in leaves)
    return held(columns, np.flatnonzero(in_no_leaf & ~_of_system(columns) & ~columns.not_ready[columns.node]))


def _of_system(columns: Columns) -> Flags:
    return columns.kinds(pod_fields.namespace).flags(lambda pod: pod.namespace == SYSTEM)


def _total(kinds: Iterable[Kind]) -> Amounts:
    summed: Amounts = {}
    for _, requests, count in kinds:
        for name, amount in requests.items():
            summed[name] = summed.get(name, 0) + count * amount
    return summed


def _by_queue(tree: QueueTree, kinds: Iterable[Kind], *, above: bool = False) -> dict[str, Amounts]:
    """Return what pods of each leaf request; ``above``: also summed up the tree."""
    by_queue: dict[str, list[Kind]] = {}
    for kind in kinds:
        queue = kind[0]
        if queue is not None and queue in tree and tree.is_leaf(queue):
            for path in tree.lineage(queue) if above else (queue,):
                by_queue.setdefault(path, []).append(kind)
    return {path: _total(each) for path, each in by_queue.items()}

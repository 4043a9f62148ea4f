"""Columns of the bound pods under a queue tree, limited to facts that do not depend on which pods are terminating."""

from collections.abc import Callable
from functools import cached_property
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.offsets import run_starts
from engine.model.columns import pod_fields
from engine.model.columns.distinct import ItemGroups
from engine.model.columns.node_columns import SAFE, Columns, Flags, Numbers, Rows
from engine.model.objects import Pod
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, QueueTree
from engine.model.snapshot import Snapshot

_ALIKE = attrgetter("namespace", "application", "priority", "opted_out", "originator", "daemonset", "shield")
LIMITLESS = 2**62
"""More than any sum of amounts on a node that is stored in 64 bits."""


class PodIndex:
    """The bound pods of a snapshot, indexed by queue and by kind.

    Queues are numbered in the tree's order. The number after the last, ``nobody``, means no queue. Pods of one kind are
    equal in everything that decides whether they may be victims.
    """

    def __init__(self, columns: Columns, tree: QueueTree) -> None:
        self.columns, self.tree = columns, tree
        self.paths = tuple(tree.walk())
        self.number = {path: number for number, path in enumerate(self.paths)}
        self.nobody = len(self.paths)
        lineages = [[self.number[path] for path in reversed(tree.lineage(path))] for path in self.paths]
        self.depth = np.array([*map(len, lineages), 1], np.int64) - 1
        self.ancestors = np.full((int(self.depth.max()) + 1, self.nobody + 1), self.nobody, np.intp)
        """Depth -> queue -> its ancestor (or itself) at that depth, ``nobody`` if the queue is less deep."""
        for number, lineage in enumerate(lineages):
            self.ancestors[: len(lineage), number] = lineage
        self.kinds: ItemGroups = columns.once("kinds", "fence", lambda: _kinds(columns))
        one = self.kinds.each
        self.counts: Rows = np.bincount(self.kinds.of, minlength=len(one))
        """Kind -> the number of pods of that kind."""
        self.queue: Rows = np.array([self.queue_of(pod.queue) for pod in one], np.intp)
        """Kind -> the number of the queue of its pods."""
        self.priority: Numbers = np.array([pod.priority for pod in one], np.int64)
        self.daemonset: Flags = self._flags(lambda pod: pod.daemonset)
        self.shielded: Flags = self._flags(lambda pod: bool(pod.shield))
        self.opted_out: Flags = self._flags(lambda pod: pod.opted_out)
        self.applications: dict[tuple[str, str], int] = {}
        """Namespace and name of an application -> its number."""
        self.application: Rows = np.array(
            [self.applications.setdefault((pod.namespace, pod.application), len(self.applications)) for pod in one],
            np.intp,
        )
        """Kind -> the number of the application of its pods."""
        self.row_queue: Rows = self.queue[self.kinds.of] if one else np.zeros(0, np.intp)
        self._amounts: dict[str, Numbers] = {}

    def queue_of(self, path: str | None) -> int:
        """Return the number of a queue, ``nobody`` if the tree does not contain it."""
        return self.number.get(path or "", self.nobody)

    def _flags(self, of_kind: Callable[[Pod], bool]) -> Flags:
        return np.fromiter(map(of_kind, self.kinds.each), np.bool_, len(self.kinds.each))

    def below(self, path: str) -> Flags:
        """Return for each queue (by number) whether it is the given queue or lies in its subtree."""
        number = self.number[path]
        return np.asarray(self.ancestors[self.depth[number]] == number, np.bool_)

    def amounts(self, resource: str) -> Numbers:
        """Return for each kind how much of a resource one of its pods requests."""
        if resource not in self._amounts:
            found = [pod.requests.get(resource, 0) for pod in self.kinds.each]
            stray = sum(abs(pod.requests.get(resource, 0)) for pod in self.columns.stray)
            every = stray + sum(abs(amount) * int(count) for amount, count in zip(found, self.counts, strict=True))
            self._amounts[resource] = np.array(found, np.int64 if every <= SAFE else object)
        return self._amounts[resource]

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Return the resources that at least one bound pod requests, sorted."""
        pods = (*self.kinds.each, *self.columns.stray)
        return tuple(sorted({resource for pod in pods for resource in pod.requests}))

    def rolled_up(self, queues: Rows, amounts: Numbers) -> Numbers:
        """Return for each queue (by number) the sum of the amounts in its subtree. ``queues``: the queue of each."""
        sums = np.zeros(self.nobody + 1, amounts.dtype)
        for level in self.ancestors:
            np.add.at(sums, level[queues], amounts)
        sums[self.nobody] = 0
        return sums

    @cached_property
    def bound(self) -> dict[str, Numbers]:
        """Return for each resource, by queue number, the total requests of the bound pods in the queue's subtree."""
        stray = np.array([self.queue_of(pod.queue) for pod in self.columns.stray], np.intp)
        found = {}
        for resource in self.resources:
            amounts = self.amounts(resource)
            also = np.array([pod.requests.get(resource, 0) for pod in self.columns.stray], amounts.dtype)
            of_kinds = self.rolled_up(self.queue, amounts * self.counts)
            found[resource] = of_kinds + self.rolled_up(stray, also) if len(stray) else of_kinds
        return found

    @cached_property
    def promised(self) -> dict[str, Numbers]:
        """Return for each resource that any queue guarantees, by queue number, the guarantee; -1 if there is none."""
        names = {resource for queue in self.tree.queues.values() for resource in queue.guaranteed}
        found = {}
        for resource in sorted(names):
            amounts = [self.tree[path].guaranteed.get(resource, -1) for path in self.paths]
            found[resource] = np.array([*amounts, -1], np.int64 if max(amounts) <= SAFE else object)
        return found

    def limitless(self, numbers: Numbers) -> Any:
        """Return a number greater than any sum of these numbers. It depends on the type of the array."""
        return inf if numbers.dtype == object else LIMITLESS

    @cached_property
    def densest(self) -> dict[str, Numbers]:
        """Return for each guaranteed resource, by queue number, the most that the queue's pods hold on one node."""
        return {resource: self._densest(resource) for resource in self.promised}

    def _densest(self, resource: str) -> Numbers:
        amounts = self.amounts(resource)[self.kinds.of] if len(self.kinds.of) else np.zeros(0, np.int64)
        densest = np.zeros(self.nobody + 1, amounts.dtype)
        for level in self.ancestors:
            queue = level[self.row_queue]
            groups = self.columns.node * (self.nobody + 1) + queue
            order = np.argsort(groups, kind="stable")
            first = np.flatnonzero(run_starts(groups[order]))
            if len(first):
                np.maximum.at(densest, queue[order][first], np.add.reduceat(amounts[order], first))
        return densest

    @cached_property
    def above(self) -> Rows:
        """Return for each queue (by number) its parent, ``nobody`` for the root."""
        numbers = np.arange(self.nobody + 1)
        above: Rows = np.where(self.depth > 0, self.ancestors[self.depth - 1, numbers], self.nobody)
        return above

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Return for each queue (by number) its weight as a float, which may be rounded; at least 1."""
        return np.array([*(max(self.tree[path].weight, 1) for path in self.paths), 1], np.float64)

    @cached_property
    def disabled(self) -> Flags:
        """Return for each queue (by number) whether it, or a queue above it, disables preemption.

        Disabling preemption on the root has no effect.
        """
        off = np.zeros(self.nobody + 1, np.bool_)
        for path, number in self.number.items():
            off[number] = path != self.tree.root and self.tree[path].preemption_policy is PreemptionPolicy.DISABLED
        return np.asarray(off[self.ancestors].any(axis=0), np.bool_)

    @cached_property
    def priorities_narrowed(self) -> bool:
        """Return whether any queue has priority settings."""
        queues = self.tree.queues.values()
        return any(queue.priority_offset or queue.priority_policy is PriorityPolicy.FENCE for queue in queues)

    @cached_property
    def order(self) -> "CandidateOrder":
        """Return the order of bound pods by how expendable they are."""
        return CandidateOrder(self)

    def distance(self, leaf: str) -> Numbers:
        """Return for each queue (by number) its distance from a leaf in steps through the tree."""
        own = self.number.get(leaf, 0)
        lineage = self.ancestors[: self.depth[own] + 1]
        shared = (lineage == lineage[:, [own]]).sum(axis=0)
        shared[self.nobody] = 1
        steps: Numbers = self.depth[own] + self.depth - 2 * (shared - 1)
        return steps


class CandidateOrder:
    """The bound pods node by node, most expendable first, without regard to the distance between queues."""

    def __init__(self, pod_index: PodIndex) -> None:
        columns = pod_index.columns
        self.opted_out: Flags = pod_index.opted_out[pod_index.kinds.of]
        self.originator: Flags = pod_index.kinds.flags(lambda pod: pod.originator)
        self.created: Numbers = columns.numbers(pod_fields.created)
        self.lost: Numbers = np.maximum(0, columns.now_ms - columns.started)
        """Row -> how long the pod has run, in milliseconds: the work that its eviction would lose."""
        by = (
            -self.created,
            self.lost,
            columns.priority,
            self.originator,
            self.opted_out,
            columns.node,
        )
        self.rows: Rows = np.lexsort(by)  # stable: pods that are equal in all of it stay in the order of their names
        self.kind: Rows = pod_index.kinds.of[self.rows]
        """Position in this order -> the kind of the pod there."""
        changes = np.zeros(len(self.rows), np.bool_)
        for keys in by[2:]:
            changes |= np.diff(keys[self.rows], prepend=keys[self.rows[:1]]) != 0
        self.stretch: Numbers = np.empty(len(self.rows), np.int64)
        """Row -> the number of its run of pods that differ only in distance, lost work and age.

        The pods of a run are on the same node, and equal in opt-out, originator and priority.
        """
        self.stretch[self.rows] = np.cumsum(changes)


def _kinds(columns: Columns) -> ItemGroups:
    return ItemGroups.joined(columns.pods, columns.kinds(_ALIKE), columns.queue_kinds, columns.request_kinds)


def pod_index_of(snapshot: Snapshot, tree: QueueTree) -> PodIndex:
    """Return the pod index of a snapshot under a tree. It is built once, and all decisions of a pass share it."""
    return snapshot.once("fence", tree, lambda: PodIndex(snapshot.columns, tree))

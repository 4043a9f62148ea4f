"""Columns of the bound pods under a queue tree, limited to facts that do not depend on which pods are terminating."""

from collections.abc import Hashable
from functools import cached_property
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns import pod_fields
from engine.model.columns.distinct import ItemGroups
from engine.model.columns.group_codes import GroupCodes
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.model.columns.pod_fields import Key
from engine.model.columns.queue_numbers import queue_numbers_of
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot

_ALIKE = attrgetter("namespace", "application", "priority", "opted_out", "originator", "daemonset", "shield", "queue")
LIMITLESS = 2**62
"""More than any sum of amounts on a node that is stored in 64 bits."""


class PodIndex:
    """The bound pods of a snapshot, indexed by queue and by kind.

    Queues are numbered as in ``QueueNumbers``. Pods of one kind are equal in everything that decides whether they may
    be victims.
    """

    def __init__(self, columns: Columns, tree: QueueTree) -> None:
        self.columns, self.tree = columns, tree
        queues = self.queues = queue_numbers_of(tree)
        self.paths, self.number, self.nobody = queues.paths, queues.number, queues.nobody
        self.depth, self.ancestors = queues.depth, queues.ancestors
        kinds = self.kinds = columns.kinds(_kind)
        self.counts: Rows = kinds.times
        """Kind -> the number of pods of that kind."""
        by_queue = kinds.grouped(pod_fields.queue)
        self.queue: Rows = np.array([self.queue_of(pod.queue) for pod in by_queue.each], np.intp)[by_queue.of]
        """Kind -> the number of the queue of its pods."""
        by_priority = kinds.grouped(pod_fields.priority)
        self.priority: Numbers = np.array([pod.priority for pod in by_priority.each], np.int64)[by_priority.of]
        self.daemonset: Flags = _flags(kinds, pod_fields.daemonset)
        self.shielded: Flags = _flags(kinds, pod_fields.shielded)
        self.opted_out: Flags = _flags(kinds, pod_fields.opted_out)
        self.originator: Flags = _flags(kinds, pod_fields.originator)
        by_application = kinds.grouped(pod_fields.application)
        self._applications = by_application.numbers
        self._running = np.bincount(by_application.of, self.counts, len(by_application.each)) > 0
        self.application: Rows = by_application.of
        """Kind -> the number of the application of its pods."""
        self.row_queue: Rows = self.queue[kinds.of]
        self._amounts: dict[str, Numbers] = {}
        self._densest: dict[str, _Densest] = {}

    def queue_of(self, path: str | None) -> int:
        """Return the number of a queue, ``nobody`` if the tree does not contain it."""
        return self.number.get(path or "", self.nobody)

    def application_of(self, pod: Pod) -> int:
        """Return the number of a pod's application, -1 if no bound pod belongs to it."""
        number = self._applications.get((pod.namespace, pod.application), -1)
        return number if number >= 0 and self._running[number] else -1

    def amounts(self, resource: str) -> Numbers:
        """Return for each kind how much of a resource one of its pods requests."""
        if resource not in self._amounts:
            alike, times = self._requests
            found = [pod.requests.get(resource, 0) for pod in alike.each]
            stray = sum(abs(pod.requests.get(resource, 0)) for pod in self.columns.stray)
            every = stray + sum(abs(amount) * max(count, 1) for amount, count in zip(found, times, strict=True))
            self._amounts[resource] = np.array(found, np.int64 if every <= SAFE else object)[alike.of]
        return self._amounts[resource]

    @cached_property
    def _requests(self) -> tuple[GroupCodes, list[int]]:
        """Return the kinds grouped by what their pods request, and the number of pods of each group."""
        alike = self.kinds.grouped(pod_fields.requests)
        times = np.zeros(len(alike.each), np.intp)
        np.add.at(times, alike.of, self.counts)
        return alike, times.tolist()

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Return the resources that at least one bound pod requests, sorted."""
        alike, times = self._requests
        pods = (*(pod for pod, count in zip(alike.each, times, strict=True) if count), *self.columns.stray)
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

    def limitless(self, numbers: Numbers) -> Any:
        """Return a number greater than any sum of these numbers. It depends on the type of the array."""
        return inf if numbers.dtype == object else LIMITLESS

    def exceeds_on_a_node(self, resource: str, amounts: Numbers) -> Flags:
        """Return for each queue (by number) whether its pods on some node hold more of a resource than an amount.

        ``amounts``: one for each queue. What pods hold on nodes is calculated for the queues alone whose amount is
        below a simple bound of it.
        """
        kept = self._densest.get(resource)
        if kept is None:
            kept = self._densest[resource] = _Densest(self._bound_on_a_node(resource))
        unknown = np.asarray(amounts < kept.most, np.bool_) & ~kept.exact
        if unknown.any():
            kept.most[unknown] = self._most_on_a_node(resource, unknown)[unknown]
            kept.exact |= unknown
        return np.asarray(amounts < kept.most, np.bool_)

    def _bound_on_a_node(self, resource: str) -> Numbers:
        """Return for each queue (by number) at least what its pods hold of a resource on one node."""
        amounts = self.amounts(resource)
        held = self.rolled_up(self.queue, amounts * self.counts)
        largest, on_a_node = np.zeros_like(held), int(np.diff(self.columns.first).max(initial=0))
        for level in self.ancestors:
            np.maximum.at(largest, level[self.queue], amounts)
        if on_a_node * int(largest.max(initial=0)) > SAFE:
            return held
        bound: Numbers = np.minimum(held, on_a_node * largest)
        return bound

    def _most_on_a_node(self, resource: str, queues: Flags) -> Numbers:
        """Return for some queues (by number) the most that their pods hold of a resource on one node."""
        within: Flags = np.asarray(queues[self.ancestors].any(axis=0), np.bool_)
        rows = np.flatnonzero(within[self.row_queue])
        held, node, queue = self.amounts(resource)[self.kinds.of[rows]], self.columns.node[rows], self.row_queue[rows]
        most = np.zeros(self.nobody + 1, held.dtype)
        # Queues are numbered parents first, so that this order is one by each queue above, too.
        order = np.argsort(node * (self.nobody + 1) + queue, kind="stable")
        held, node, queue = held[order], node[order], queue[order]
        for level in self.ancestors:
            above = level[queue]
            first = np.flatnonzero(run_starts(node * (self.nobody + 1) + above))
            if len(first):
                np.maximum.at(most, above[first], np.add.reduceat(held, first))
        return most

    @cached_property
    def order(self) -> "CandidateOrder":
        """Return the order of bound pods by how expendable they are."""
        return CandidateOrder(self)


class CandidateOrder:
    """The bound pods node by node, most expendable first, without regard to the distance between queues."""

    def __init__(self, pod_index: PodIndex) -> None:
        columns = pod_index.columns
        self.opted_out: Flags = columns.numbers(pod_fields.opted_out, np.bool_)
        self.originator: Flags = columns.numbers(pod_fields.originator, np.bool_)
        self.created: Numbers = columns.numbers(pod_fields.created)
        self.lost: Numbers = np.maximum(0, columns.now_ms - columns.started)
        """Row -> how long the pod has run, in milliseconds: the work that its eviction would lose."""
        order = columns.expendable_first
        self.rows: Rows = order.rows
        self.kind: Rows = pod_index.kinds.of[self.rows]
        """Position in this order -> the kind of the pod there."""
        self.stretch: Numbers = np.empty(len(self.rows), np.int64)
        """Row -> the number of its run of pods that differ only in distance, lost work and age.

        The pods of a run are on the same node, and equal in opt-out, originator and priority.
        """
        self.stretch[self.rows] = np.cumsum(order.begins)


class _Densest:
    """For each queue, by number, at least what its pods hold of a resource on one node, and where that is exact."""

    def __init__(self, most: Numbers) -> None:
        self.most, self.exact = most, np.zeros(len(most), np.bool_)


def _kind(pod: Pod) -> Hashable:
    return _ALIKE(pod), id(pod.requests)


def _flags(kinds: ItemGroups, of_pod: Key) -> Flags:
    """Return for each kind a flag of its pods."""
    groups = kinds.grouped(of_pod)
    return np.array([bool(of_pod(pod)) for pod in groups.each], np.bool_)[groups.of]


def pod_index_of(snapshot: Snapshot, tree: QueueTree) -> PodIndex:
    """Return the pod index of a snapshot under a tree. It is built once, and all decisions of a pass share it."""
    return snapshot.once("fence", tree, lambda: PodIndex(snapshot.columns, tree))

"""Columns of the bound pods under a queue tree, as YuniKorn sees them, independent of which pods are terminating."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import DTypeLike

from engine.model.collections.offsets import runs_of_equals
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import PriorityPolicy, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn.quirks.table import Quirks

ORIGINATOR, OPTED_OUT = 2**33, 2**34
"""Penalties for a victim that outweigh any number of other victims: an originator, and a pod that opted out."""


UNLIMITED = 2**62
"""More than can ever be left of a guarantee. It means that there is no guarantee."""


class PodTable:
    """The bound pods by row, and the leaves by number in the tree's order. The last number is for pods of no leaf."""

    def __init__(self, columns: Columns, tree: QueueTree, *, own_annotation: bool) -> None:
        self.columns, self.leaves, self._tree = columns, tree.leaves, tree
        self._kept: dict[tuple[str, ...], Numbers] = {}
        self.number = {path: number for number, path in enumerate(self.leaves)}
        self.kinds = columns.kinds(_own_kind if own_annotation else _kind)
        one = self.kinds.each
        nowhere = len(self.leaves)
        leaf = np.array([self.number.get(pod.queue or "", nowhere) for pod in one], np.intp)
        self.leaf: Rows = leaf[self.kinds.of] if one else leaf
        """Row -> the number of the pod's leaf."""
        self.required: Flags = self.kinds.flags(lambda pod: pod.required_node is not None)
        """Row -> whether the pod requires one particular node."""
        self.daemonset: Flags = self.kinds.flags(lambda pod: pod.daemonset)
        """Row -> whether a DaemonSet created the pod."""
        self.applications: dict[tuple[str, str], int] = {}
        """Namespace and name of an application -> its number."""
        codes = [self.applications.setdefault((pod.namespace, pod.application), len(self.applications)) for pod in one]
        self.application: Rows = np.array(codes, np.intp)[self.kinds.of] if one else leaf
        """Row -> the number of the pod's application."""
        self.leaf_of_kind: Rows = leaf
        """Kind -> the number of the leaf of its pods."""
        self.opted_out: Flags = self.kinds.flags(lambda pod: opted_out(pod, own_annotation=own_annotation))
        self.dear: Numbers = self.kinds.numbers(lambda pod: ORIGINATOR if pod.originator else 0)
        self.dear = self.dear + np.where(self.opted_out, OPTED_OUT, 0)

    @cached_property
    def order(self) -> Rows:
        """Return all rows in the order in which YuniKorn prefers victims.

        Pods that did not opt out come first, then pods that are not the originator of their application, then the
        newest. Those that are equal in all of it come in the order of their names.

        Source: scoreAllocation and sortVictimsForPreemption of yunikorn-core (preemption.go).
        """
        return self._sorted()

    @cached_property
    def order_on_nodes(self) -> Rows:
        """Return all rows node by node, each node's rows in the order in which YuniKorn prefers victims."""
        return self._sorted(self.columns.node)

    def _sorted(self, *first: Numbers) -> Rows:
        by = (-(self.columns.numbers(pod_fields.created) // 1000), self.dear, *first)
        rows: Rows = np.lexsort(by)
        pods = self.columns.pods
        for start, end in runs_of_equals(*(numbers[rows] for numbers in by)):
            equals = rows[start:end].tolist()
            rows[start:end] = sorted(equals, key=lambda row: pod_fields.sort_key(pods[row]))
        return rows

    @cached_property
    def allocated(self) -> dict[str, Amounts]:
        """Return for each queue (by path) what its bound pods hold, including terminating pods."""
        of_kinds = (
            (pod.queue, {name: amount * count for name, amount in pod.requests.items()})
            for pod, count in zip(self.kinds.each, self.kinds.times.tolist(), strict=True)
            if count
        )
        stray = ((pod.queue, pod.requests) for pod in self.columns.stray)
        return self._tree.usage((leaf, held) for leaf, held in chain(of_kinds, stray) if leaf in self.number)

    @cached_property
    def guaranteed(self) -> tuple[str, ...]:
        """Return the resources that any queue guarantees, sorted."""
        return tuple(sorted({name for queue in self._tree.queues.values() for name in queue.guaranteed}))

    @cached_property
    def disabled(self) -> Flags:
        """Return for each leaf whether it, or a queue above it, disables preemption."""
        return np.array([*(self._tree.disabled_by(leaf) is not None for leaf in self.leaves), False], np.bool_)

    @cached_property
    def priorities_set(self) -> bool:
        """Return whether any queue has priority settings."""
        queues = self._tree.queues.values()
        return any(queue.priority_offset or queue.priority_policy is PriorityPolicy.FENCE for queue in queues)

    @cached_property
    def queue(self) -> dict[str, int]:
        """Return the number of each queue (by path), in the tree's order."""
        return {path: number for number, path in enumerate(self._tree.walk())}

    @cached_property
    def depth(self) -> Rows:
        """Return for each queue (by number) its depth. The root has depth 0."""
        return np.array([len(self._tree.lineage(path)) - 1 for path in self.queue], np.intp)

    @cached_property
    def ancestors(self) -> Rows:
        """Return for each depth and leaf the leaf's ancestor (or itself) at that depth, -1 if the leaf is less deep."""
        found = np.full((int(self.depth.max()) + 1, len(self.leaves) + 1), -1, np.intp)
        for number, leaf in enumerate(self.leaves):
            for depth, path in enumerate(reversed(self._tree.lineage(leaf))):
                found[depth, number] = self.queue[path]
        return found

    @cached_property
    def counting(self) -> dict[str, tuple[str, ...]]:
        """Return for each queue (by path) the queues with guarantees from it upwards.

        These are the guarantees that count for it, unless the preemptor's own guarantee cuts some of them off.
        """
        return {
            path: tuple(above for above in self._tree.lineage(path) if self._tree[above].guaranteed)
            for path in self._tree.walk()
        }

    @cached_property
    def base_levels(self) -> list[Rows]:
        """Return ``levels_of`` the guarantees that count if the preemptor's own guarantee cuts none of them off."""
        return self.levels_of([self.counting[leaf] for leaf in self.leaves])

    def levels_of(self, counting: Sequence[Sequence[str]]) -> list[Rows]:
        """Return arrays of queue numbers by leaf: the first queue that counts for each leaf, the second, and so on.

        -1 means that the leaf has no more queues. ``counting``: for each leaf, the queues that count.
        """
        found = []
        for level in range(max(map(len, counting), default=0)):
            numbers = [self.queue[paths[level]] if level < len(paths) else -1 for paths in counting]
            found.append(np.array([*numbers, -1], np.intp))
        return found

    @cached_property
    def left(self) -> Numbers:
        """Return for each queue and guaranteed resource what is left of the guarantee, UNLIMITED if it has none.

        Terminating pods count as usage.
        """
        found = [
            [
                self._tree[path].guaranteed[name] - self.allocated[path].get(name, 0)
                if name in self._tree[path].guaranteed
                else UNLIMITED
                for name in self.guaranteed
            ]
            for path in self.queue
        ]
        safe = all(abs(amount) <= SAFE or amount == UNLIMITED for row in found for amount in row)
        return np.array(found, np.int64 if safe else object).reshape(len(self.queue), len(self.guaranteed))

    @cached_property
    def queue_of_leaf(self) -> Rows:
        """Return for each leaf its number among all queues, -1 for pods of no leaf."""
        return np.array([*(self.queue[path] for path in self.leaves), -1], np.intp)

    @cached_property
    def unlimited(self) -> Flags:
        """Return for each leaf whether no guarantee counts for it, if the preemptor's own guarantee cuts none off."""
        return np.array([*(not self.counting[leaf] for leaf in self.leaves), True], np.bool_)

    def requests(self, names: Sequence[str]) -> Numbers:
        """Return for each kind of pod what it requests of these resources, a column for each.

        The pods' amounts must fit into 64 bits. A kind without pods may have larger ones; they are limited.
        """
        return self._of_kinds(
            "requests", names, np.int64, lambda pod: [min(pod.requests.get(name, 0), SAFE) for name in names]
        )

    def requesting(self, names: Sequence[str]) -> Flags:
        """Return for each kind of pod whether its requests name these resources, a column for each."""
        return self._of_kinds("naming", names, np.bool_, lambda pod: [name in pod.requests for name in names])

    def _of_kinds(
        self, what: str, names: Sequence[str], dtype: DTypeLike, of: Callable[[Pod], Sequence[int]]
    ) -> Numbers:
        made = self._kept.get((what, *names))
        if made is None:
            each = self.kinds.each
            made = self._kept[what, *names] = np.array(list(map(of, each)), dtype).reshape(len(each), len(names))
        return made

    def leaving(self, snapshot: Snapshot) -> list[Pod]:
        """Return the terminating bound pods that are in a leaf."""
        columns = snapshot.columns
        rows = np.flatnonzero(columns.terminating & (self.leaf < len(self.leaves))).tolist()
        stray = [pod for pod in columns.stray if pod.terminating and pod.queue in self.number]
        return [*(columns.pods[row] for row in rows), *stray]


def opted_out(pod: Pod, *, own_annotation: bool) -> bool:
    """Return whether a pod opted out of preemption.

    ``own_annotation``: whether the pod's own annotation takes precedence over that of its PriorityClass.
    """
    return pod.opted_out if pod.own_opt_out is None or not own_annotation else pod.own_opt_out


def table_of(snapshot: Snapshot, tree: QueueTree, quirks: Quirks) -> PodTable:
    """Return the pod table of a snapshot under a tree. It is built once, and all decisions of a pass share it."""
    columns, own_annotation = snapshot.columns, quirks.own_annotation
    key = (tree, own_annotation)
    return snapshot.once("yunikorn", key, lambda: PodTable(columns, tree, own_annotation=own_annotation))


def _own_kind(pod: Pod) -> tuple[object, ...]:
    return _kind(pod, own_annotation=True)


def _kind(pod: Pod, *, own_annotation: bool = False) -> tuple[object, ...]:
    """Return the key of a pod's kind. Pods of one kind are equal in everything that the table stores."""
    unwilling = opted_out(pod, own_annotation=own_annotation)
    alike = (pod.queue, pod.namespace, pod.application, pod.originator, unwilling)
    return (*alike, pod.daemonset, pod.required_node is not None, *pod.requests.items())

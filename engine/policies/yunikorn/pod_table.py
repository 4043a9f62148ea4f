"""Bound pods under a queue tree as YuniKorn looks at them, column by column: what holds whoever is on the way out."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.node_columns import SAFE, Columns, Flags, Numbers, Rows
from engine.model.objects import Pod
from engine.model.quantities import Amounts, add
from engine.model.queue_tree import PriorityPolicy, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn.quirks import Quirks

ORIGINATOR, OPTED_OUT = 2**33, 2**34
"""What a victim is worse for than any number of others."""


UNLIMITED = 2**62
"""More than is ever left of a guarantee: there is none."""


class PodTable:
    """Leaves by number, in the tree's order; the last number stands for pods of no leaf. Rows are those of columns."""

    def __init__(self, columns: Columns, tree: QueueTree, *, own_annotation: bool) -> None:
        self.columns, self.leaves, self._tree = columns, tree.leaves, tree
        self.number = {path: number for number, path in enumerate(self.leaves)}
        self.kinds = columns.kinds(_own_kind if own_annotation else _kind)
        one = self.kinds.each
        nowhere = len(self.leaves)
        leaf = np.array([self.number.get(pod.queue or "", nowhere) for pod in one], np.intp)
        self.leaf: Rows = leaf[self.kinds.of] if one else leaf
        """Row -> the number of the pod's leaf."""
        self.required: Flags = self.kinds.flags(lambda pod: pod.required_node is not None)
        """Row -> whether the pod is for one node."""
        self.daemonset: Flags = self.kinds.flags(lambda pod: pod.daemonset)
        """Row -> whether a DaemonSet made it."""
        self.applications: dict[tuple[str, str], int] = {}
        """By namespace and name."""
        codes = [self.applications.setdefault((pod.namespace, pod.application), len(self.applications)) for pod in one]
        self.application: Rows = np.array(codes, np.intp)[self.kinds.of] if one else leaf
        """Row -> the number of the pod's application."""
        self.opted_out: Flags = self.kinds.flags(lambda pod: opted_out(pod, own_annotation=own_annotation))
        self.dear: Numbers = self.kinds.numbers(lambda pod: ORIGINATOR if pod.originator else 0)
        self.dear = self.dear + np.where(self.opted_out, OPTED_OUT, 0)

    @cached_property
    def order(self) -> Rows:
        """All rows, those first that would rather be taken: not opted out, not first of their application, newest."""
        created = self.columns.numbers(pod_fields.created) // 1000
        return np.lexsort((self.columns.told, -created, self.dear)).astype(np.intp)

    @cached_property
    def order_on_nodes(self) -> Rows:
        """The rows node by node, each node's in that order."""
        return self.order[np.argsort(self.columns.node[self.order], kind="stable")]

    @cached_property
    def allocated(self) -> dict[str, Amounts]:
        """Queue -> what its bound pods hold, those on their way out included."""
        by_leaf: dict[str, Amounts] = {}
        for pod, times in zip(self.kinds.each, np.bincount(self.kinds.of).tolist(), strict=True):
            held = by_leaf.setdefault(pod.queue or "", {})
            for name, amount in pod.requests.items():
                held[name] = held.get(name, 0) + amount * times
        for pod in self.columns.stray:
            by_leaf[pod.queue or ""] = add(by_leaf.get(pod.queue or "", {}), pod.requests)
        return self._tree.roll_up({path: held for path, held in by_leaf.items() if path in self.number})

    @cached_property
    def guaranteed(self) -> tuple[str, ...]:
        """The resources that are guaranteed anywhere."""
        return tuple(sorted({name for queue in self._tree.queues.values() for name in queue.guaranteed}))

    @cached_property
    def disabled(self) -> Flags:
        """Leaf -> whether preemption is turned off there or above."""
        return np.array([*(self._tree.disabled_by(leaf) is not None for leaf in self.leaves), False], np.bool_)

    @cached_property
    def priorities_set(self) -> bool:
        """Whether some queue has priority settings."""
        queues = self._tree.queues.values()
        return any(queue.priority_offset or queue.priority_policy is PriorityPolicy.FENCE for queue in queues)

    @cached_property
    def queue(self) -> dict[str, int]:
        """Every queue by number, in the tree's order."""
        return {path: number for number, path in enumerate(self._tree.walk())}

    @cached_property
    def depth(self) -> Rows:
        """Queue -> how deep it lies, the root at 0."""
        return np.array([len(self._tree.lineage(path)) - 1 for path in self.queue], np.intp)

    @cached_property
    def line(self) -> Rows:
        """Depth, leaf -> the queue of that depth in which the leaf lies, or which it is; -1 where it is less deep."""
        found = np.full((int(self.depth.max()) + 1, len(self.leaves) + 1), -1, np.intp)
        for number, leaf in enumerate(self.leaves):
            for depth, path in enumerate(reversed(self._tree.lineage(leaf))):
                found[depth, number] = self.queue[path]
        return found

    @cached_property
    def counting(self) -> dict[str, tuple[str, ...]]:
        """Queue -> the queues with guarantees from it upwards, as they count where the asker cuts nothing off."""
        return {
            path: tuple(above for above in self._tree.lineage(path) if self._tree[above].guaranteed)
            for path in self._tree.walk()
        }

    @cached_property
    def base_lines(self) -> list[Rows]:
        """``lines_of`` all that count where the asker cuts nothing off."""
        return self.lines_of([self.counting[leaf] for leaf in self.leaves])

    def lines_of(self, counting: Sequence[Sequence[str]]) -> list[Rows]:
        """Of the queues that count for each leaf, the first by leaf, the second and so on; -1 where there is none."""
        found = []
        for level in range(max(map(len, counting), default=0)):
            numbers = [self.queue[paths[level]] if level < len(paths) else -1 for paths in counting]
            found.append(np.array([*numbers, -1], np.intp))
        return found

    @cached_property
    def left(self) -> Numbers:
        """Queue -> of each resource guaranteed anywhere, what is left of its guarantee; much where it has none.

        Pods on their way out count as used.
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
        safe = all(abs(one) <= SAFE or one == UNLIMITED for row in found for one in row)
        return np.array(found, np.int64 if safe else object).reshape(len(self.queue), len(self.guaranteed))

    def requesting(self, resource: str) -> Flags:
        """Row -> whether the pod names a resource among its requests."""
        made: Flags = self.columns.once("naming", (self._tree, resource), lambda: self._naming(resource))
        return made

    def _naming(self, resource: str) -> Flags:
        return self.kinds.flags(lambda pod: resource in pod.requests)

    def leaving(self, snapshot: Snapshot) -> list[Pod]:
        """The bound pods of leaves that are on their way out."""
        columns = snapshot.columns
        rows = np.flatnonzero(columns.terminating & (self.leaf < len(self.leaves))).tolist()
        stray = [pod for pod in columns.stray if pod.terminating and pod.queue in self.number]
        return [*(columns.pods[row] for row in rows), *stray]


def opted_out(pod: Pod, *, own_annotation: bool) -> bool:
    """Whether a pod would rather not be taken; ``own_annotation``: whether its own word counts before its class's."""
    return pod.opted_out if pod.own_opt_out is None or not own_annotation else pod.own_opt_out


def table_of(snapshot: Snapshot, tree: QueueTree, quirks: Quirks) -> PodTable:
    """The snapshot's table under a tree, worked out once: all decisions of a pass share it."""
    columns, own_annotation = snapshot.columns, quirks.own_annotation
    key = (tree, own_annotation)
    return snapshot.once("yunikorn", key, lambda: PodTable(columns, tree, own_annotation=own_annotation))


def _own_kind(pod: Pod) -> tuple[object, ...]:
    return _kind(pod, own_annotation=True)


def _kind(pod: Pod, *, own_annotation: bool = False) -> tuple[object, ...]:
    """Pods of one kind differ in nothing that this table tells."""
    unwilling = opted_out(pod, own_annotation=own_annotation)
    alike = (pod.queue, pod.namespace, pod.application, pod.originator, unwilling)
    return (*alike, pod.daemonset, pod.required_node is not None, *pod.requests.items())

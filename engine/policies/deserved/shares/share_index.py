"""Calculates what a cluster has to divide, and what every queue requests of it.

Source: the proposal of k8s-arbitrator: kube-system always deserves what it requests, and the others share the rest.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from engine.model.columns.distinct import ItemGroups
from engine.model.columns.node_columns import Columns
from engine.model.objects import Pod
from engine.model.quantities import Amounts, fits, subtract, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.deserved.shares.amounts_by_path import AmountsByPath


class ShareIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The amounts in a snapshot that shares are calculated from."""

    capacity: Amounts
    """The capacity of all ready nodes that is divided.

    It excludes what system pods request, and what pods outside the tree use on these nodes.
    """
    requests: Mapping[str, Amounts]
    """Leaf -> what its running and pending pods request together."""
    asked: Mapping[str, Amounts]
    """Queue -> what all pods below it request, running and pending together."""
    used: Mapping[str, Amounts]
    """Queue -> what all running pods below it request."""
    too_large: tuple[Pod, ...]
    """Pending pods that would fit on no node even if all were empty; their requests do not count."""


def share_index_of(snapshot: Snapshot, tree: QueueTree) -> ShareIndex:
    """Return the amounts that ``deserved`` divides. Requests of terminating pods do not count."""
    bound: _BoundSums = snapshot.once("deserved", tree, lambda: _BoundSums(snapshot.columns, tree))
    moment = bound.at(snapshot)
    left = subtract(bound.capacity, moment.sums.system)
    return ShareIndex(
        capacity={name: amount for name, amount in left.items() if amount > 0},
        requests=moment.sums.requests,
        asked=moment.sums.asked,
        used=moment.sums.used,
        too_large=moment.too_large,
    )


class _Sums(NamedTuple):
    """What pods request together, summed up the tree."""

    requests: AmountsByPath
    """Leaf -> what its pods request."""
    asked: AmountsByPath
    used: AmountsByPath
    system: Amounts

    @classmethod
    def nothing(cls, tree: QueueTree) -> "_Sums":
        """Return the sums of no pods."""
        leaves, queues = (AmountsByPath({path: {} for path in paths}) for paths in (tree.leaves, tree.queues))
        return cls(leaves, queues, queues, {})

    def counting(self, tree: QueueTree, counts: Iterable[tuple[Pod, int]]) -> "_Sums":
        """Return the sums once pods are counted, each a number of times; one outside the tree counts for no queue."""
        requests, asked, used, system = dict[str, Amounts](), dict[str, Amounts](), dict[str, Amounts](), self.system
        for pod, times in counts:
            if pod.namespace == SYSTEM:
                system = _add_times(system, pod.requests, times)
                continue
            leaf = _leaf(tree, pod)
            for path in tree.lineage(leaf) if leaf is not None else ():
                asked[path] = _add_times(asked.get(path, self.asked[path]), pod.requests, times)
                if pod.node is not None:
                    used[path] = _add_times(used.get(path, self.used[path]), pod.requests, times)
            if leaf is not None:
                requests[leaf] = asked[leaf]
        return _Sums(
            self.requests.with_changes(requests), self.asked.with_changes(asked), self.used.with_changes(used), system
        )


class _SnapshotSums(NamedTuple):
    columns: Columns
    asks: tuple[Pod, ...]
    too_large: tuple[Pod, ...]
    sums: _Sums


class _BoundSums:
    """What all pods on nodes request, including terminating ones, and the capacity of ready nodes."""

    def __init__(self, columns: Columns, tree: QueueTree) -> None:
        kinds = ItemGroups.joined(columns.pods, columns.queue_kinds, columns.request_kinds, _in_system(columns))
        counts = np.bincount(kinds.of, minlength=len(kinds.each)).tolist()
        ready_counts = np.bincount(kinds.of[~columns.not_ready[columns.node]], minlength=len(kinds.each)).tolist()
        self.tree = tree
        self.sums = _Sums.nothing(tree).counting(tree, zip(kinds.each, counts, strict=True))
        foreign: list[Amounts] = []
        for pod, on_ready in zip(kinds.each, ready_counts, strict=True):
            if pod.namespace != SYSTEM and _leaf(tree, pod) is None:
                foreign.append({name: on_ready * amount for name, amount in pod.requests.items()})
        ready = [node.allocatable for node in columns.nodes if node.ready]
        self.capacity = subtract(total(ready), total(foreign))
        """The capacity of ready nodes, less what pods outside the tree use."""
        self.rooms = list({frozenset(room.items()): room for room in ready}.values())
        """The distinct allocatable amounts of ready nodes."""
        self.latest: _SnapshotSums | None = None

    def at(self, snapshot: Snapshot) -> _SnapshotSums:
        """Return the sums of a snapshot, updated incrementally from those of the previous call."""
        latest, columns = self.latest, snapshot.columns
        gone = None
        if latest and latest.asks is snapshot.asks and latest.columns.stray is columns.stray:
            gone = columns.since(latest.columns)
        if latest is None or gone is None:
            latest, gone = self._first(snapshot), columns.leaving
        sums = latest.sums.counting(self.tree, ((columns.pods[row], -1) for row in gone.tolist()))
        self.latest = found = _SnapshotSums(columns, snapshot.asks, latest.too_large, sums)
        return found

    def _first(self, snapshot: Snapshot) -> _SnapshotSums:
        """Return the sums of a snapshot as if no pod on a node were terminating."""
        too_large = tuple(pod for pod in snapshot.asks if not self.fits_somewhere(pod))
        unfit = {pod.uid for pod in too_large}
        pods = (*snapshot.asks, *snapshot.columns.stray)
        counted = ((pod, 1) for pod in pods if pod.uid not in unfit and not pod.terminating)
        sums = self.sums.counting(self.tree, counted)
        return _SnapshotSums(snapshot.columns, snapshot.asks, too_large, sums)

    def fits_somewhere(self, pod: Pod) -> bool:
        """Return whether some ready node would hold a pod if it were empty."""
        return any(fits(pod.requests, room) for room in self.rooms)


def _leaf(tree: QueueTree, pod: Pod) -> str | None:
    return pod.queue if pod.queue is not None and pod.queue in tree and tree.is_leaf(pod.queue) else None


def _add_times(amounts: Amounts, requests: Amounts, times: int) -> Amounts:
    sums = dict(amounts)
    for name, amount in requests.items():
        sums[name] = sums.get(name, 0) + times * amount
    return {name: amount for name, amount in sums.items() if amount}


def _is_system_pod(pod: Pod) -> bool:
    return pod.namespace == SYSTEM


def _in_system(columns: Columns) -> ItemGroups:
    return columns.kinds(_is_system_pod)

"""Groups the pods of a snapshot into workloads, which are admitted and preempted as a whole.

Source of what a workload is: Kueue's documentation, tasks/run. A Job, a StatefulSet or an object of any other such kind
is one workload, and so is a group of pods. Each pod of a Deployment is a workload of its own.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from engine.model.objects import Pod
from engine.model.quantities import PODS, total
from engine.model.queue_tree import QueueTree
from engine.model.quota import Flavor, PodSet, QuotaCluster, Workload
from engine.model.quota.tree_reading import FLAVOR, DerivedQuota, QuotaReading, derive_quota
from engine.model.snapshot import Reservation, Snapshot

GROUP_LABELS = ("kueue.x-k8s.io/pod-group-name", "scheduling.x-k8s.io/pod-group", "volcano.sh/job-name")
_ALONE = frozenset({"ReplicaSet", "ReplicationController", "DaemonSet", "Node"})
"""Kinds of controllers whose pods do not depend on each other."""

Group = tuple[str, str, str]
"""Queue, namespace, and the name that the pods have in common; for a pod that stands alone, its own uid."""


def group_of(pod: Pod) -> Group:
    """Return the group of a pod; pods of one group are one workload.

    A label that names an application does not group pods whose controller's pods are independent of each other.
    """
    labels = (pod.labels[name] for name in GROUP_LABELS if pod.labels.get(name))
    named = pod.workload or next(labels, "")
    alone = pod.controller.partition("/")[0] in _ALONE
    together = "" if alone else pod.application_label or pod.controller
    return pod.queue or "", pod.namespace, named or together or pod.uid


class GroupedWorkloads:
    """The quota of a tree and the workloads that hold it, as the decisions of a pass have left it.

    Terminating pods are left out, as what they hold is being freed. What is reserved for pending pods counts as held.
    """

    def __init__(self, grounds: "_PassConstants", snapshot: Snapshot) -> None:
        self.formed, self.snapshot, self._grounds = grounds.formed, snapshot, grounds
        columns = snapshot.columns
        going = [columns.pods[row] for row in columns.leaving.tolist()]
        self._gone = {pod.uid for pod in (*going, *(pod for pod in columns.stray if pod.terminating))}
        self._touched = {grounds.group[uid] for uid in self._gone if uid in grounds.group}

    @property
    def leaves_soon(self) -> bool:
        """Return whether any pod that holds quota is terminating."""
        return bool(self._touched)

    @property
    def all(self) -> QuotaCluster:
        """Return all workloads with their terminating pods, and without what is reserved for pending pods."""
        return self._grounds.cluster

    @cached_property
    def gone(self) -> tuple[Workload, ...]:
        """Return the workloads that have terminating pods, as they are before these leave."""
        return tuple(self._grounds.held[group] for group in sorted(self._touched))

    @cached_property
    def left(self) -> tuple[Workload, ...]:
        """Return the workloads that have terminating pods, as they are once these have left, unless they are empty."""
        staying = ((group, self.pods_of(group)) for group in sorted(self._touched))
        return tuple(_workload(self.formed, group, pods) for group, pods in staying if pods)

    @cached_property
    def kept(self) -> tuple[Workload, ...]:
        """Return what is reserved for pending pods, as workloads that nothing may preempt."""
        return tuple(_kept(self.formed, one) for one in self.snapshot.reservations if self._waits(one))

    @cached_property
    def cluster(self) -> QuotaCluster:
        """Return the workloads that hold quota once the terminating pods have left."""
        going = {one.uid for one in self.gone}
        held = (one for one in self.all.workloads if one.uid not in going)
        return _cluster(self.formed, (*held, *self.left, *self.kept), self.snapshot.now_ms)

    @cached_property
    def with_leaving(self) -> QuotaCluster:
        """Return the workloads that hold quota while the terminating pods are still there."""
        return _cluster(self.formed, (*self.all.workloads, *self.kept), self.snapshot.now_ms)

    def _waits(self, held: Reservation) -> bool:
        ask = self.snapshot.pod(held.ask_uid)
        return held.queue in self.formed.queues and (ask is None or ask.node is None)

    def pods_of(self, group: Group) -> tuple[Pod, ...]:
        """Return the bound pods of a group that are not terminating."""
        return tuple(pod for pod in self._grounds.bound.get(group, ()) if pod.uid not in self._gone)

    def pods(self, one: Workload) -> tuple[Pod, ...]:
        """Return the bound pods of a workload that are not terminating; a reservation has none."""
        group = self._grounds.by_uid.get(one.uid)
        return () if group is None else self.pods_of(group)

    def asking(self, ask: Pod) -> tuple[Pod, ...]:
        """Return the pending pods of a pod's workload, the given pod included, in the order of consideration."""
        others = (one for one in self._grounds.asking.get(group_of(ask), ()) if one.uid != ask.uid)
        return tuple(sorted((ask, *others), key=lambda one: one.turn))

    def waiting(self, pods: Sequence[Pod]) -> Workload:
        """Return the workload of pending pods, with what they request together."""
        return _workload(self.formed, group_of(pods[0]), pods, asks=True)


class _PassConstants:
    """What remains the same for all of a pass."""

    def __init__(self, tree: QueueTree, reading: QuotaReading, snapshot: Snapshot) -> None:
        self.formed = derive_quota(tree, reading)
        self.bound = _by_group(self.formed, (pod for pod in snapshot.pods if pod.node is not None))
        self.asking = _by_group(self.formed, snapshot.asks)
        self.held = {group: _workload(self.formed, group, pods) for group, pods in self.bound.items()}
        self.group = {pod.uid: group for group, pods in self.bound.items() for pod in pods}
        self.by_uid = {one.uid: group for group, one in self.held.items()}
        self.cluster = _cluster(self.formed, tuple(self.held.values()), snapshot.now_ms)


def group_workloads(snapshot: Snapshot, tree: QueueTree, reading: QuotaReading) -> GroupedWorkloads:
    """Return the workloads of a snapshot under a tree; most of it is computed once for a pass."""
    grounds: _PassConstants = snapshot.once("quota", (tree, reading), lambda: _PassConstants(tree, reading, snapshot))
    kept = snapshot.__dict__.setdefault("quota", {})  # freed with the snapshot, like the values that it caches itself
    found: GroupedWorkloads | None = kept.get(grounds)
    if found is None:
        found = kept[grounds] = GroupedWorkloads(grounds, snapshot)
    return found


def _cluster(formed_tree: DerivedQuota, workloads: tuple[Workload, ...], now_ms: int) -> QuotaCluster:
    return QuotaCluster(
        flavors={FLAVOR: Flavor(name=FLAVOR)},
        queues=formed_tree.queues,
        cohorts=formed_tree.cohorts,
        workloads=workloads,
        now_ms=now_ms,
    )


def _by_group(formed_tree: DerivedQuota, pods: Iterable[Pod]) -> dict[Group, tuple[Pod, ...]]:
    found: dict[Group, list[Pod]] = {}
    for pod in pods:
        if pod.queue in formed_tree.queues:
            found.setdefault(group_of(pod), []).append(pod)
    return {group: tuple(each) for group, each in found.items()}


def _workload(formed_tree: DerivedQuota, group: Group, pods: Sequence[Pod], *, asks: bool = False) -> Workload:
    """Return the workload of some pods.

    Its priority is the highest of its pods', because whoever preempts one of them preempts all.
    """
    queue, namespace, by = group
    alone = len(pods) == 1 and by == pods[0].uid
    started = [pod.started_ms for pod in pods if pod.started_ms is not None]
    return Workload(
        uid=by if alone else "/".join(group),
        namespace=namespace,
        name=pods[0].name if alone else by.rpartition("/")[2],
        queue=queue,
        priority=max(pod.priority for pod in pods),
        created_ms=min(pod.created_ms for pod in pods),
        reserved_ms=min(started, default=None),
        holds=not asks,
        spared=queue in formed_tree.disabled or any(pod.shield or pod.unread for pod in pods),
        usage={} if asks else formed_tree.counted(total(pod.requests for pod in pods)),
        pod_sets=_pod_sets(formed_tree, pods) if asks else (),
    )


def _pod_sets(formed_tree: DerivedQuota, pods: Iterable[Pod]) -> tuple[PodSet, ...]:
    """Return pod sets, each of which has pods with equal requests."""
    counts: dict[tuple[tuple[str, int], ...], int] = {}
    for pod in pods:
        of = {name: amount for name, amount in pod.requests.items() if name in formed_tree.resources and name != PODS}
        key = tuple(sorted(of.items()))
        counts[key] = counts.get(key, 0) + 1
    return tuple(
        PodSet(name=str(number), count=count, requests=dict(requests))
        for number, (requests, count) in enumerate(sorted(counts.items()))
    )


def _kept(formed_tree: DerivedQuota, held: Reservation) -> Workload:
    """Return the workload of a reservation, which nothing may preempt."""
    return Workload(
        uid=f"kept for {held.ask_uid}",
        namespace="",
        name="",
        queue=held.queue,
        holds=True,
        spared=True,
        usage=formed_tree.counted(held.requests),
    )

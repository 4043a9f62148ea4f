"""The pods of a snapshot gathered into workloads: what is admitted, and preempted, as a whole.

Source of what is one: Kueue's documentation, tasks/run. A Job, a StatefulSet and every other kind of its own is one
workload, a group of pods likewise; of a Deployment each pod is one for itself.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from engine.model.objects import Pod
from engine.model.quantities import PODS, total
from engine.model.queue_tree import QueueTree
from engine.model.quota import Flavor, PodSet, QuotaCluster, Workload
from engine.model.quota.tree_reading import FLAVOR, Formed, QuotaReading, formed
from engine.model.snapshot import Reservation, Snapshot

GROUP_LABELS = ("kueue.x-k8s.io/pod-group-name", "scheduling.x-k8s.io/pod-group", "volcano.sh/job-name")
_ALONE = frozenset({"ReplicaSet", "ReplicationController", "DaemonSet", "Node"})
"""Kinds of controllers whose pods do not depend on each other."""

Group = tuple[str, str, str]
"""Queue, namespace, and what the pods are together by; a pod that stands alone by its own uid."""


def group_of(pod: Pod) -> Group:
    """Pods of one group are one workload. What a label calls an application says nothing of pods that stand alone."""
    labels = (pod.labels[name] for name in GROUP_LABELS if pod.labels.get(name))
    named = pod.workload or next(labels, "")
    alone = pod.controller.partition("/")[0] in _ALONE
    together = "" if alone else pod.application_label or pod.controller
    return pod.queue or "", pod.namespace, named or together or pod.uid


class Gathered:
    """The quota of a tree and who holds it, as the decisions of a pass have left it.

    Pods on their way out are gone: what they hold is coming free. What is kept for asks is held.
    """

    def __init__(self, grounds: "_Grounds", snapshot: Snapshot) -> None:
        self.formed, self.snapshot, self._grounds = grounds.formed, snapshot, grounds
        columns = snapshot.columns
        going = [columns.pods[row] for row in columns.leaving.tolist()]
        self._gone = {pod.uid for pod in (*going, *(pod for pod in columns.stray if pod.terminating))}
        self._touched = {grounds.group[uid] for uid in self._gone if uid in grounds.group}

    @property
    def leaves_soon(self) -> bool:
        """Whether anybody who holds quota is on the way out."""
        return bool(self._touched)

    @property
    def all(self) -> QuotaCluster:
        """Who holds what while they are still there, and nothing is kept for anybody."""
        return self._grounds.cluster

    @cached_property
    def gone(self) -> tuple[Workload, ...]:
        """Those of them that go, wholly or in part."""
        return tuple(self._grounds.held[group] for group in sorted(self._touched))

    @cached_property
    def left(self) -> tuple[Workload, ...]:
        """What stays of these."""
        staying = ((group, self.pods_of(group)) for group in sorted(self._touched))
        return tuple(_workload(self.formed, group, pods) for group, pods in staying if pods)

    @cached_property
    def kept(self) -> tuple[Workload, ...]:
        """What is kept for asks: nobody may take it."""
        return tuple(_kept(self.formed, one) for one in self.snapshot.reservations if self._waits(one))

    @cached_property
    def cluster(self) -> QuotaCluster:
        """Who holds what once they are gone."""
        going = {one.uid for one in self.gone}
        held = (one for one in self.all.workloads if one.uid not in going)
        return _cluster(self.formed, (*held, *self.left, *self.kept), self.snapshot.now_ms)

    @cached_property
    def with_leaving(self) -> QuotaCluster:
        """Who holds what while they are still there."""
        return _cluster(self.formed, (*self.all.workloads, *self.kept), self.snapshot.now_ms)

    def _waits(self, held: Reservation) -> bool:
        ask = self.snapshot.pod(held.ask_uid)
        return held.queue in self.formed.queues and (ask is None or ask.node is None)

    def pods_of(self, group: Group) -> tuple[Pod, ...]:
        """Those of a workload that hold something and stay."""
        return tuple(pod for pod in self._grounds.bound.get(group, ()) if pod.uid not in self._gone)

    def pods(self, one: Workload) -> tuple[Pod, ...]:
        """The same of one that the cluster has; what is kept for asks has none."""
        group = self._grounds.by_uid.get(one.uid)
        return () if group is None else self.pods_of(group)

    def asking(self, ask: Pod) -> tuple[Pod, ...]:
        """The pods of an ask's workload that wait, itself as it is given, in their turn."""
        others = (one for one in self._grounds.asking.get(group_of(ask), ()) if one.uid != ask.uid)
        return tuple(sorted((ask, *others), key=lambda one: one.turn))

    def waiting(self, pods: Sequence[Pod]) -> Workload:
        """What they ask for together."""
        return _workload(self.formed, group_of(pods[0]), pods, asks=True)


class _Grounds:
    """What holds for all of a pass."""

    def __init__(self, tree: QueueTree, reading: QuotaReading, snapshot: Snapshot) -> None:
        self.formed = formed(tree, reading)
        self.bound = _by_group(self.formed, (pod for pod in snapshot.pods if pod.node is not None))
        self.asking = _by_group(self.formed, snapshot.asks)
        self.held = {group: _workload(self.formed, group, pods) for group, pods in self.bound.items()}
        self.group = {pod.uid: group for group, pods in self.bound.items() for pod in pods}
        self.by_uid = {one.uid: group for group, one in self.held.items()}
        self.cluster = _cluster(self.formed, tuple(self.held.values()), snapshot.now_ms)


def gathered(snapshot: Snapshot, tree: QueueTree, reading: QuotaReading) -> Gathered:
    """The workloads of a snapshot under a tree; most of it is worked out once for a pass."""
    grounds: _Grounds = snapshot.once("quota", (tree, reading), lambda: _Grounds(tree, reading, snapshot))
    kept = snapshot.__dict__.setdefault("quota", {})  # goes with the snapshot, as what it works out itself
    found: Gathered | None = kept.get(grounds)
    if found is None:
        found = kept[grounds] = Gathered(grounds, snapshot)
    return found


def _cluster(formed_tree: Formed, workloads: tuple[Workload, ...], now_ms: int) -> QuotaCluster:
    return QuotaCluster(
        flavors={FLAVOR: Flavor(name=FLAVOR)},
        queues=formed_tree.queues,
        cohorts=formed_tree.cohorts,
        workloads=workloads,
        now_ms=now_ms,
    )


def _by_group(formed_tree: Formed, pods: Iterable[Pod]) -> dict[Group, tuple[Pod, ...]]:
    found: dict[Group, list[Pod]] = {}
    for pod in pods:
        if pod.queue in formed_tree.queues:
            found.setdefault(group_of(pod), []).append(pod)
    return {group: tuple(each) for group, each in found.items()}


def _workload(formed_tree: Formed, group: Group, pods: Sequence[Pod], *, asks: bool = False) -> Workload:
    """Its priority is the highest of its pods': whoever takes one of them takes all."""
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


def _pod_sets(formed_tree: Formed, pods: Iterable[Pod]) -> tuple[PodSet, ...]:
    """Equal pods together."""
    counts: dict[tuple[tuple[str, int], ...], int] = {}
    for pod in pods:
        of = {name: amount for name, amount in pod.requests.items() if name in formed_tree.resources and name != PODS}
        key = tuple(sorted(of.items()))
        counts[key] = counts.get(key, 0) + 1
    return tuple(
        PodSet(name=str(number), count=count, requests=dict(requests))
        for number, (requests, count) in enumerate(sorted(counts.items()))
    )


def _kept(formed_tree: Formed, held: Reservation) -> Workload:
    """Room that a decision keeps."""
    return Workload(
        uid=f"kept for {held.ask_uid}",
        namespace="",
        name="",
        queue=held.queue,
        holds=True,
        spared=True,
        usage=formed_tree.counted(held.requests),
    )

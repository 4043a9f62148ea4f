"""The state of a cluster's objects, which is updated change by change."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from engine.model.collections.tracked_mapping import TrackedMapping
from engine.model.columns.pod_fields import sort_key
from engine.model.objects.kubernetes import (
    YUNIKORN_SCHEDULER,
    Claim,
    ClassQuota,
    DisruptionBudget,
    Namespace,
    Node,
    Pod,
    Preempted,
    PriorityClass,
    Volume,
)
from engine.model.objects.kueue import (
    ClusterQueue,
    Cohort,
    Flavor,
    KueueSettings,
    LocalQueue,
    QuotaCluster,
    Workload,
    quota_cluster,
)
from engine.model.objects.pod_groups import CompositeGroup, GroupScheduling, SchedulingGroup
from engine.model.objects.volcano import (
    PodGroup,
    VolcanoCluster,
    VolcanoQueue,
    VolcanoSettings,
    volcano_cluster,
    volcano_pod,
)
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot.gangs import waited_for, with_composites
from engine.model.snapshot.incremental import PlacementInputs, PodFreezer
from engine.model.snapshot.queue_assignment import Protection, application_of, assign_queue, queue_of
from engine.model.snapshot.snapshot import Reservation, Snapshot

if TYPE_CHECKING:
    from engine.model.objects.arbitrator import Allocation, Consumer

Kept = TypeVar("Kept")

DEPARTED_KEPT = 2_000
"""How many deleted pods are remembered, so that a recent eviction can be explained with the pod's data."""


CHANGES_KEPT = 20_000
"""How many changes are remembered, to reconstruct the cluster as it was a moment ago."""


class ObjectChange(NamedTuple):
    """A change of one object. None as ``before`` or ``after`` means that the object did not or does not exist."""

    column: Callable[["ClusterState"], MutableMapping[Any, Any]]
    key: Hashable
    before: Any
    after: Any


class ClusterState:
    """A cluster's objects, updated change by change; ``snapshot`` freezes them. Not thread-safe: its owner locks it."""

    group_scheduling = GroupScheduling()
    """Whether kube-scheduler schedules PodGroups as a whole."""
    scheduler = ""
    """Whose rules assign pods to queues: YUNIKORN_SCHEDULER, KUEUE, or empty; see queue_assignment.is_foreign."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: TrackedMapping[Pod] = TrackedMapping()
        """Pods by uid."""
        self.classes: dict[str, PriorityClass] = {}
        self.budgets: dict[tuple[str, str], DisruptionBudget] = {}
        self.quotas: dict[tuple[str, str], ClassQuota] = {}
        """ResourceQuotas by namespace and name."""
        self.namespaces: dict[str, Namespace] = {}
        self.claims: dict[tuple[str, str], Claim] = {}
        self.volumes: dict[str, Volume] = {}
        self.preempted: dict[str, Preempted] = {}
        """Preemption Events by their own uid. The API server deletes Events after an hour."""
        self.yunikorn: dict[str, Preempted] = {}
        """Preemptions that YuniKorn's Events report, by the Events' uid."""
        self.yunikorn_records: dict[str, Preempted] = {}
        """Preemptions that YuniKorn's own API reports, by the victims' uid, oldest first."""
        self.volcano: dict[str, Preempted] = {}
        """Preemptions that Volcano's Events report, by the Events' uid."""
        self.workloads: dict[str, Workload] = {}
        """Kueue's Workloads by uid."""
        self.flavors: dict[str, Flavor] = {}
        self.cluster_queues: dict[str, ClusterQueue] = {}
        self.cohorts: dict[str, Cohort] = {}
        self.local_queues: dict[tuple[str, str], LocalQueue] = {}
        """LocalQueues by namespace and name."""
        self.sharing: dict[str, KueueSettings] = {}
        """Kueue's preemption settings by the name of their ConfigMap; empty: unknown."""
        self.volcano_queues: dict[str, VolcanoQueue] = {}
        self.pod_groups: dict[tuple[str, str], PodGroup] = {}
        """Volcano's PodGroups by namespace and name."""
        self.volcano_settings: dict[str, VolcanoSettings] = {}
        """The settings of Volcano's scheduler by the name of their ConfigMap; empty: unknown."""
        self.consumers: dict[tuple[str, str], Consumer] = {}
        """kube-arbitrator's Consumers by namespace and name."""
        self.allocations: dict[tuple[str, str], Allocation] = {}
        """kube-arbitrator's Allocations by namespace and name."""
        self.scheduling_groups: dict[tuple[str, str], SchedulingGroup] = {}
        """PodGroups of scheduling.k8s.io by namespace and name."""
        self.composite_groups: dict[tuple[str, str], CompositeGroup] = {}
        """CompositePodGroups of scheduling.k8s.io by namespace and name."""
        self.departed: dict[str, Pod] = {}
        """The most recently deleted pods in their last state, by uid, oldest first."""
        self.departed_workloads: dict[str, Workload] = {}
        """The most recently deleted Workloads that were preempted; a plain pod's Workload is deleted with the pod."""
        self.changes: deque[ObjectChange] = deque(maxlen=CHANGES_KEPT)
        """The most recent changes in the order in which they came, without gaps."""
        self._freezing = PodFreezer()
        self._led: tuple[object, dict[QueueTree, dict[tuple[str, str], str | None]]] = (None, {})
        """A step of ``pods``, and what ``_leading`` found at that step."""

    def copy(self) -> "ClusterState":
        """Return an independent copy of the state. It shares the objects themselves, which never change."""
        copy = ClusterState()
        for column, kept in vars(self).items():
            setattr(copy, column, kept.copy() if isinstance(kept, dict | deque | TrackedMapping) else kept)
        return copy

    def past(self) -> "ClusterState":
        """Return a copy to rewind. It caches frozen pods separately, as this state's cache is for the next pass."""
        past = self.copy()
        past._freezing = PodFreezer()  # noqa: SLF001 - an instance of this class
        return past

    def rewind(self, place: int) -> None:
        """Undo all ``changes`` from an index on."""
        while len(self.changes) > place:
            change = self.changes.pop()
            column = change.column(self)
            if change.before is None:
                column.pop(change.key, None)
            else:
                column[change.key] = change.before

    def remember_deleted(self, deleted: Pod | Workload) -> None:
        """Remember a pod or Workload that was just deleted; a Workload that was not preempted is ignored."""
        if isinstance(deleted, Pod):
            _keep(self.departed, deleted.uid, deleted)
        elif deleted.preempted is not None:
            _keep(self.departed_workloads, deleted.uid, deleted)

    def remember_preempted(self, report: Preempted) -> None:
        """Remember YuniKorn's first report about a pod that it preempted."""
        _keep(self.yunikorn_records, report.uid, self.yunikorn_records.get(report.uid, report))

    def known_pod(self, uid: str) -> Pod | None:
        """Return a pod by its uid, even if it was just deleted; None if it is unknown."""
        return self.pods.get(uid) or self.departed.get(uid)

    def placed(self, uid: str, tree: QueueTree) -> Pod | None:
        """Return a pod with its queue and application, even if it was just deleted; None if it is unknown."""
        pod = self.known_pod(uid)
        if pod is None:
            return None
        found = assign_queue(pod, tree, self.classes.get(pod.priority_class), self._parent_queue(pod), self.scheduler)
        return msgspec.structs.replace(found, queue=self.queue_of(pod, tree)) if self.scheduler else found

    def queue_of(self, pod: Pod, tree: QueueTree) -> str | None:
        """Return the leaf that a pod runs in, or None."""
        own = queue_of(pod, tree, self._parent_queue(pod), self.scheduler)
        if self.scheduler != YUNIKORN_SCHEDULER or pod.scheduler != self.scheduler:
            return own
        return self._leading(tree).get((pod.namespace, application_of(pod, self.scheduler)), own)

    def _leading(self, tree: QueueTree) -> dict[tuple[str, str], str | None]:
        """Return the leaf of each application's first pod, by namespace and name; see ``queue_assignment.led``."""
        step = self.pods.step
        if self._led[0] is not step:
            self._led = (step, {})
        if tree in self._led[1]:
            return self._led[1][tree]
        first: dict[tuple[str, str], Pod] = {}
        for pod in self.pods.values():
            if pod.scheduler == self.scheduler and not pod.finished:
                key = (pod.namespace, application_of(pod, self.scheduler))
                other = first.get(key)
                if other is None or (pod.created_ms, sort_key(pod)) < (other.created_ms, sort_key(other)):
                    first[key] = pod
        found = {key: queue_of(pod, tree, self._parent_queue(pod), self.scheduler) for key, pod in first.items()}
        self._led[1][tree] = found
        return found

    def _parent_queue(self, pod: Pod) -> str:
        namespace = self.namespaces.get(pod.namespace)
        return "" if namespace is None else namespace.parent_queue

    @property
    def namespace_labels(self) -> dict[str, dict[str, str]]:
        """Return the labels of the known namespaces, by name."""
        return {name: one.labels for name, one in self.namespaces.items()}

    def snapshot(
        self,
        tree: QueueTree,
        *,
        now_ms: int,
        protection: Protection | None = None,
        reservations: Iterable[Reservation] = (),
        notices: Mapping[str, int] | None = None,
        quotas: Mapping[str, Amounts] | None = None,
    ) -> Snapshot:
        """Freeze the state: every pod with its queue, application, originator mark and, given a protection, its shield.

        ``quotas``: namespace -> the most that a leaf of its own may have; the leaf's max is no more than that.

        The tree of the snapshot is the given tree, extended by the dynamic queues of its pods.
        """
        rules = PlacementInputs.of(tree, protection, self.scheduler, self.classes, self.namespaces)
        roster, tree = self._freezing.of(self.pods, self.nodes, rules, self.namespaces, now_ms)
        tree = self._freezing.narrowed(tree, self.namespaces, quotas) if quotas else tree
        groups = with_composites(self.scheduling_groups, self.composite_groups)
        return Snapshot.of_roster(
            roster,
            self._freezing.fields_of(tuple([self.nodes[name] for name in roster.place]), roster.place),
            now_ms=now_ms,
            tree=tree,
            budgets=tuple(budget for _, budget in sorted(self.budgets.items())),
            reservations=tuple(sorted(reservations, key=lambda held: held.ask_uid)),
            namespaces=self.namespace_labels,
            claims=dict(self.claims),
            volumes=dict(self.volumes),
            groups=groups | waited_for(roster, self.pod_groups, self.classes),
            notices=dict(notices or {}),
        )

    def volcano_session(self) -> VolcanoCluster | None:
        """Return what Volcano decides on; None if there is no Volcano, or its settings are unknown."""
        settings = next(iter(self.volcano_settings.values()), None)
        if settings is None or not self.volcano_queues:
            return None
        return volcano_cluster(
            settings,
            self.volcano_queues.values(),
            self.pod_groups.values(),
            map(volcano_pod, self.pods.values()),
            self.nodes.values(),
            self.classes,
            self.budgets.values(),
        )

    def quota(self, *, now_ms: int) -> QuotaCluster:
        """Return Kueue's quota, and the workloads that hold it or wait; without Kueue it has no queues."""
        return quota_cluster(
            self.flavors.values(),
            self.cluster_queues.values(),
            self.cohorts.values(),
            self.local_queues.values(),
            self.workloads.values(),
            now_ms=now_ms,
            namespaces=self.namespace_labels or None,
        )


def _keep(kept: dict[str, Kept], uid: str, one: Kept) -> None:
    """Store an entry, and delete the oldest entry if there are too many."""
    kept[uid] = one
    if len(kept) > DEPARTED_KEPT:
        del kept[next(iter(kept))]

"""A cluster's objects, kept by deltas."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from engine.model.collections.tracked_mapping import Followed
from engine.model.columns.pod_fields import in_turn
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
from engine.model.snapshot.incremental import Freezing, PlacementInputs
from engine.model.snapshot.queue_assignment import Protection, application_of, placed, queue_of
from engine.model.snapshot.snapshot import Reservation, Snapshot

if TYPE_CHECKING:
    from engine.model.objects.arbitrator import Allocation, Consumer

Kept = TypeVar("Kept")

DEPARTED_KEPT = 2_000
"""Pods that are remembered after they have gone: what was evicted a moment ago is explained with its numbers."""


CHANGES_KEPT = 20_000
"""Changes that are remembered, to see the cluster as it was a moment ago."""


class ObjectChange(NamedTuple):
    """What happened to one object; None: it was not there before, or is gone."""

    column: Callable[["ClusterState"], dict[Any, Any]]
    key: Hashable
    before: Any
    after: Any


class ClusterState:
    """A cluster's objects, kept by deltas; ``snapshot`` freezes them. Not safe for threads: its owner locks."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = Followed()
        """By uid."""
        self.classes: dict[str, PriorityClass] = {}
        self.budgets: dict[tuple[str, str], DisruptionBudget] = {}
        self.quotas: dict[tuple[str, str], ClassQuota] = {}
        """By namespace and name."""
        self.namespaces: dict[str, Namespace] = {}
        self.claims: dict[tuple[str, str], Claim] = {}
        self.volumes: dict[str, Volume] = {}
        self.preempted: dict[str, Preempted] = {}
        """Events, by their own uid; the API server forgets them after an hour."""
        self.yunikorn: dict[str, Preempted] = {}
        """The same of YuniKorn's."""
        self.yunikorn_records: dict[str, Preempted] = {}
        """The same by what it was asked for itself, by the victims' uids, oldest first."""
        self.volcano: dict[str, Preempted] = {}
        """The same as ``preempted`` of Volcano's."""
        self.workloads: dict[str, Workload] = {}
        """Kueue's, by uid."""
        self.flavors: dict[str, Flavor] = {}
        self.cluster_queues: dict[str, ClusterQueue] = {}
        self.cohorts: dict[str, Cohort] = {}
        self.local_queues: dict[tuple[str, str], LocalQueue] = {}
        """By namespace and name."""
        self.sharing: dict[str, KueueSettings] = {}
        """How Kueue is set to preempt, by the name of its ConfigMap; empty: not known."""
        self.volcano_queues: dict[str, VolcanoQueue] = {}
        self.pod_groups: dict[tuple[str, str], PodGroup] = {}
        """Volcano's, by namespace and name."""
        self.volcano_settings: dict[str, VolcanoSettings] = {}
        """How Volcano's scheduler is set, by the name of its ConfigMap; empty: not known."""
        self.consumers: dict[tuple[str, str], Consumer] = {}
        """kube-arbitrator's, by namespace and name."""
        self.allocations: dict[tuple[str, str], Allocation] = {}
        """The same."""
        self.departed: dict[str, Pod] = {}
        """The pods that left last, as they were, by uid, oldest first."""
        self.departed_workloads: dict[str, Workload] = {}
        """The same of Workloads that were preempted: that of a plain pod goes with it."""
        self.changes: deque[ObjectChange] = deque(maxlen=CHANGES_KEPT)
        """What happened last, in the order in which it came; nothing is missing in between."""
        self.scheduler = ""
        """By whose rules pods are in queues: YUNIKORN_SCHEDULER, KUEUE, or nobody's; see placing.is_foreign."""
        self._freezing = Freezing()
        self._led: tuple[object, dict[QueueTree, dict[tuple[str, str], str | None]]] = (None, {})
        """A step of the pods, and what ``_leading`` found then."""

    def copy(self) -> "ClusterState":
        """The same objects (they never change), kept apart from what happens to this one from now on."""
        copy = ClusterState()
        for column, kept in vars(self).items():
            setattr(copy, column, kept.copy() if isinstance(kept, dict | deque) else kept)
        return copy

    def past(self) -> "ClusterState":
        """A copy to be rewound. It remembers pods apart: what this one remembers is for the next pass."""
        past = self.copy()
        past._freezing = Freezing()  # noqa: SLF001 - of its own kind
        return past

    def rewind(self, place: int) -> None:
        """Undo all ``changes`` from a place on."""
        while len(self.changes) > place:
            change = self.changes.pop()
            column = change.column(self)
            if change.before is None:
                column.pop(change.key, None)
            else:
                column[change.key] = change.before

    def depart(self, gone: Pod | Workload) -> None:
        """Remember a pod that has just left ``pods``, or a Workload; one that was not preempted is of no interest."""
        if isinstance(gone, Pod):
            _keep(self.departed, gone.uid, gone)
        elif gone.preempted is not None:
            _keep(self.departed_workloads, gone.uid, gone)

    def hear(self, told: Preempted) -> None:
        """Remember what YuniKorn says of a pod that it preempted."""
        _keep(self.yunikorn_records, told.uid, self.yunikorn_records.get(told.uid, told))

    def placed(self, uid: str, tree: QueueTree) -> Pod | None:
        """A pod with its queue and application, also when it has just left; None when it is not known."""
        pod = self.pods.get(uid) or self.departed.get(uid)
        if pod is None:
            return None
        found = placed(pod, tree, self.classes.get(pod.priority_class), self._parent_queue(pod), self.scheduler)
        return msgspec.structs.replace(found, queue=self.queue_of(pod, tree)) if self.scheduler else found

    def queue_of(self, pod: Pod, tree: QueueTree) -> str | None:
        """The leaf that a pod runs in."""
        own = queue_of(pod, tree, self._parent_queue(pod), self.scheduler)
        if self.scheduler != YUNIKORN_SCHEDULER or pod.scheduler != self.scheduler:
            return own
        return self._leading(tree).get((pod.namespace, application_of(pod, self.scheduler)), own)

    def _leading(self, tree: QueueTree) -> dict[tuple[str, str], str | None]:
        """Application, by namespace and name -> the leaf of its first pod; see placing.led."""
        step = self.pods.step if isinstance(self.pods, Followed) else object()
        if self._led[0] is not step:
            self._led = (step, {})
        if tree in self._led[1]:
            return self._led[1][tree]
        first: dict[tuple[str, str], Pod] = {}
        for pod in self.pods.values():
            if pod.scheduler == self.scheduler and not pod.finished:
                key = (pod.namespace, application_of(pod, self.scheduler))
                other = first.get(key)
                if other is None or (pod.created_ms, in_turn(pod)) < (other.created_ms, in_turn(other)):
                    first[key] = pod
        found = {key: queue_of(pod, tree, self._parent_queue(pod), self.scheduler) for key, pod in first.items()}
        self._led[1][tree] = found
        return found

    def _parent_queue(self, pod: Pod) -> str:
        namespace = self.namespaces.get(pod.namespace)
        return "" if namespace is None else namespace.parent_queue

    @property
    def namespace_labels(self) -> dict[str, dict[str, str]]:
        """Name -> labels of the namespaces that are known."""
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
        """Freeze: every pod with its queue, application, originator mark and, given a protection, its shield.

        ``quotas``: namespace -> the most that a leaf of its own may have; its max is no more than that.

        All that is asked of the snapshot is asked under its own tree: this one, with the dynamic queues of its pods.
        """
        rules = PlacementInputs.of(tree, protection, self.scheduler, self.classes, self.namespaces)
        roster, tree = self._freezing.of(self.pods, rules, self.namespaces, now_ms)
        tree = self._freezing.narrowed(tree, self.namespaces, quotas) if quotas else tree
        return Snapshot.of_roster(
            roster,
            now_ms=now_ms,
            tree=tree,
            nodes=tuple(sorted(self.nodes.values(), key=attrgetter("name"))),
            budgets=tuple(budget for _, budget in sorted(self.budgets.items())),
            reservations=tuple(sorted(reservations, key=lambda held: held.ask_uid)),
            namespaces=self.namespace_labels,
            claims=dict(self.claims),
            volumes=dict(self.volumes),
            notices=dict(notices or {}),
        )

    def volcano_session(self) -> VolcanoCluster | None:
        """What Volcano decides by; None where there is no Volcano, or how it is set is not known."""
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
        """Kueue's quota, and the workloads that hold it or wait; no queues where there is no Kueue."""
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
    """Of what is remembered the oldest goes first."""
    kept[uid] = one
    if len(kept) > DEPARTED_KEPT:
        del kept[next(iter(kept))]

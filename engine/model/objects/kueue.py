"""Kueue's objects as the policies read them: flavors, ClusterQueues, Cohorts and Workloads.

Source of the names and rules: Kueue's API, kueue.x-k8s.io/v1beta2.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

import msgspec

from engine.model.objects.constraints import NodeSelectorTerm, Selector, Taint, Toleration
from engine.model.objects.kubernetes import Preempted
from engine.model.quantities import Amounts
from engine.model.queue_tree import Take

FlavorResource = tuple[str, str]
"""A flavor's name and a resource: what an amount of quota is for."""
Quantities = Mapping[FlavorResource, int]
"""Amounts by flavor and resource, in the resources' integer units (engine.model.quantities)."""


class Flavor(msgspec.Struct, frozen=True, kw_only=True):
    """A ResourceFlavor: a kind of nodes that quota is for."""

    name: str
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    """Tolerations that pods admitted to the flavor get, so that they tolerate its taints."""


class FlavorQuota(msgspec.Struct, frozen=True):
    """The quota of one resource in one flavor. A limit of None means that there is no limit."""

    nominal: int
    borrowing: int | None = None
    lending: int | None = None


class ResourceGroup(msgspec.Struct, frozen=True):
    """Resources that come from one flavor together, and the flavors in the order in which they are tried."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


class BorrowWithinCohort(msgspec.Struct, frozen=True):
    """Whether a queue may preempt in other queues while it borrows, and up to which priority.

    Without a threshold it may preempt any lower priority.
    """

    allowed: bool = False
    threshold: int | None = None


class Preemption(msgspec.Struct, frozen=True, kw_only=True):
    """Which workloads a queue's workloads may preempt."""

    within: Take = Take.NEVER
    reclaim: Take = Take.NEVER
    borrow: BorrowWithinCohort = BorrowWithinCohort()


class Fungibility(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the next flavor is tried before borrowing or preempting, and which of the two is preferred."""

    next_before_borrowing: bool = False
    next_before_preempting: bool = True
    preemption_over_borrowing: bool = False


class Cohort(msgspec.Struct, frozen=True, kw_only=True):
    """Queues and cohorts that lend each other quota. A cohort that is only named by others has no quota of its own."""

    name: str
    called: str = ""
    """Its name in our queue tree, if its annotation gives one."""
    parent: str = ""
    quotas: Mapping[FlavorResource, FlavorQuota] = {}
    weight: Fraction = Fraction(1)


class ClusterQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A ClusterQueue, which has quota of its own."""

    name: str
    called: str = ""
    """Its name in our queue tree, if its annotation gives one."""
    cohort: str = ""
    quotas: Mapping[FlavorResource, FlavorQuota] = {}
    groups: tuple[ResourceGroup, ...] = ()
    preemption: Preemption = Preemption()
    fungibility: Fungibility = Fungibility()
    weight: Fraction = Fraction(1)
    active: bool = True
    """Whether its workloads are decided and may be preempted. What an inactive queue uses counts all the same."""
    namespaces: Selector = ()
    """The labels of the namespaces whose workloads are admitted; None: no namespace."""

    def group_of(self, resource: str) -> ResourceGroup | None:
        """Return the resource group that covers a resource, or None."""
        return next((group for group in self.groups if resource in group.resources), None)


class PodSet(msgspec.Struct, frozen=True, kw_only=True):
    """Identical pods of a workload."""

    name: str
    count: int
    least: int | None = None
    """The smallest number of pods that the workload can run with; None: no fewer than ``count``."""
    requests: Amounts
    """The requests of one pod, without the pod itself."""
    group: str = ""
    """Pod sets of one group get the same flavors."""
    node_selector: Mapping[str, str] = {}
    node_affinity: tuple[NodeSelectorTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class LocalQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A LocalQueue, which workloads of a namespace name, and the ClusterQueue that it leads to."""

    namespace: str
    name: str
    queue: str
    held: bool = False
    """Whether the LocalQueue admits nothing more."""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that are admitted as a whole, or wait for admission."""

    uid: str
    namespace: str
    name: str
    owners: tuple[str, ...] = ()
    """``Kind/name`` of the objects that the workload was created for: a Job, or the pods themselves."""
    queue: str = ""
    """The ClusterQueue whose quota it holds or waits for; empty: unknown."""
    local_queue: str = ""
    """The LocalQueue of its namespace that it names."""
    priority: int = 0
    created_ms: int = 0
    requeued_ms: int | None = None
    """When it was evicted, if that gives it a new position: for checks that failed, or pods that did not get ready."""
    waits_ms: int | None = None
    """Since when Kueue says that it waits for quota; None: Kueue has not tried it yet, or it holds quota."""
    waits_why: str = ""
    """Why it waits, in Kueue's own words."""
    waits_until_ms: int | None = None
    """Until when it is not tried again after its eviction."""
    requeued: bool = True
    """Whether it is tried again at all in its present state."""
    gated: bool = False
    """Whether it may preempt nothing for now, because a gate of its preemption is closed."""
    replaces: str = ""
    """``namespace/name`` of the workload that it replaces, as a larger or smaller slice of the same job."""
    evicted: bool = False
    """Whether it is being evicted already."""
    spared: bool = False
    """Whether nothing may preempt it; Kueue itself has no such workloads."""
    reserved_ms: int | None = None
    """Since when it holds quota; None: since now, or not at all."""
    holds: bool = False
    """Whether it holds quota; otherwise it waits, unless it is done."""
    done: bool = False
    """Whether it is finished or deactivated, so that it neither holds quota nor waits."""
    usage: Quantities = {}
    """The quota that it holds."""
    pod_sets: tuple[PodSet, ...] = ()
    preempted: Preempted | None = None
    """Kueue's report if it preempted the workload and has not admitted it again; about the whole, not about one pod."""

    @property
    def owner(self) -> str:
        """Return the ``Kind/name`` by which the workload's pods name their owner; of several owners, the first."""
        return self.owners[0] if self.owners else ""

    @property
    def key(self) -> str:
        """Return the workload's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def turn_ms(self) -> int:
        """Return the time by which the workload is ordered in its queue."""
        return self.created_ms if self.requeued_ms is None else self.requeued_ms


Made = TypeVar("Made")


class QuotaCluster(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The quota of a cluster at one moment: flavors, queues, cohorts and workloads."""

    flavors: Mapping[str, Flavor]
    queues: Mapping[str, ClusterQueue]
    cohorts: Mapping[str, Cohort]
    workloads: tuple[Workload, ...]
    now_ms: int
    held: frozenset[tuple[str, str]] = frozenset()
    """The LocalQueues (namespace and name) that admit nothing more."""
    namespaces: Mapping[str, Mapping[str, str]] | None = None
    """Namespace name -> labels; None: unknown."""

    def holding(self) -> dict[str, tuple[Workload, ...]]:
        """Return the workloads that hold quota of each queue, by queue name."""
        found: dict[str, list[Workload]] = {name: [] for name in self.queues}
        for one in self.workloads:
            if one.holds and one.queue in found:
                found[one.queue].append(one)
        return {name: tuple(held) for name, held in found.items()}

    def once(self, what: str, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returns, calling it once for each ``what``.

        The result must not refer to the cluster, or both would never be freed.
        """
        made: Made | None = self.__dict__.get(what)
        if made is None:
            made = self.__dict__[what] = make()
        return made


class KueueSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The preemption settings of a cluster's Kueue."""

    name: str
    """The name of the ConfigMap that has the settings."""
    fair: bool = False
    strategies: tuple[str, ...] = ()
    """The strategies of fair sharing, in Kueue's own words; empty: Kueue's defaults."""


def quota_cluster(
    flavors: Iterable[Flavor],
    queues: Iterable[ClusterQueue],
    cohorts: Iterable[Cohort],
    local_queues: Iterable[LocalQueue],
    workloads: Iterable[Workload],
    *,
    now_ms: int,
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
) -> QuotaCluster:
    """Return a QuotaCluster of objects that were read one by one.

    Nothing is decided for a queue that names an unknown flavor. Workloads that are done are left out.
    """
    known, local_queues = {one.name: one for one in flavors}, tuple(local_queues)
    leads = {(one.namespace, one.name): one.queue for one in local_queues}
    return QuotaCluster(
        flavors=known,
        queues={one.name: _of_known(one, known) for one in queues},
        cohorts={one.name: one for one in cohorts},
        workloads=tuple(_with_queue(one, leads) for one in workloads if not one.done),
        now_ms=now_ms,
        held=frozenset((one.namespace, one.name) for one in local_queues if one.held),
        namespaces=namespaces,
    )


def _of_known(queue: ClusterQueue, flavors: Mapping[str, Flavor]) -> ClusterQueue:
    named = {name for group in queue.groups for name in group.flavors}
    return queue if named <= flavors.keys() else msgspec.structs.replace(queue, active=False)


def _with_queue(one: Workload, leads: Mapping[tuple[str, str], str]) -> Workload:
    """Return the workload with the queue that it waits for, which its LocalQueue determines."""
    if one.queue:
        return one
    return msgspec.structs.replace(one, queue=leads.get((one.namespace, one.local_queue), ""))

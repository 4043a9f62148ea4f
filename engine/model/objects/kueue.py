"""What quota is given to, and what holds it: flavors, ClusterQueues, Cohorts and Workloads, as the policies read them.

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
"""A flavor's name and a resource: what an amount of quota is of."""
Quantities = Mapping[FlavorResource, int]
"""Amounts in the resources' integer units (engine.model.quantities)."""


class Flavor(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of nodes that quota is of: a ResourceFlavor."""

    name: str
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    """What its pods are given, and so tolerate."""


class FlavorQuota(msgspec.Struct, frozen=True):
    """Of one resource in one flavor. A limit of None is none."""

    nominal: int
    borrowing: int | None = None
    lending: int | None = None


class ResourceGroup(msgspec.Struct, frozen=True):
    """Resources that come from one flavor together, and the flavors in the order in which they are tried."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


class BorrowWithinCohort(msgspec.Struct, frozen=True):
    """Whether a queue may take from others while it borrows, and up to which priority; None: any lower one."""

    allowed: bool = False
    threshold: int | None = None


class Preemption(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a queue's workloads may preempt."""

    within: Take = Take.NEVER
    reclaim: Take = Take.NEVER
    borrow: BorrowWithinCohort = BorrowWithinCohort()


class Fungibility(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the next flavor is tried before borrowing or preempting in this one, and which of both is preferred."""

    next_before_borrowing: bool = False
    next_before_preempting: bool = True
    preemption_over_borrowing: bool = False


class Cohort(msgspec.Struct, frozen=True, kw_only=True):
    """Queues and cohorts that lend each other quota. One that is only named by others has none of its own."""

    name: str
    called: str = ""
    """What it is called in our tree, where its annotation says so."""
    parent: str = ""
    quotas: Mapping[FlavorResource, FlavorQuota] = {}
    weight: Fraction = Fraction(1)


class ClusterQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue with quota of its own."""

    name: str
    called: str = ""
    """What it is called in our tree, where its annotation says so."""
    cohort: str = ""
    quotas: Mapping[FlavorResource, FlavorQuota] = {}
    groups: tuple[ResourceGroup, ...] = ()
    preemption: Preemption = Preemption()
    fungibility: Fungibility = Fungibility()
    weight: Fraction = Fraction(1)
    active: bool = True
    """Whether it is decided for, and its workloads may be taken. What one that is held uses counts all the same."""
    namespaces: Selector = ()
    """By their labels, of which namespaces workloads are admitted; None: of none."""

    def group_of(self, resource: str) -> ResourceGroup | None:
        """The group that covers a resource."""
        return next((group for group in self.groups if resource in group.resources), None)


class PodSet(msgspec.Struct, frozen=True, kw_only=True):
    """Equal pods of a workload."""

    name: str
    count: int
    least: int | None = None
    """With how many it could do; None: with no fewer."""
    requests: Amounts
    """Of one pod, without the pod itself."""
    group: str = ""
    """Sets of one group get the same flavors."""
    node_selector: Mapping[str, str] = {}
    node_affinity: tuple[NodeSelectorTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class LocalQueue(msgspec.Struct, frozen=True, kw_only=True):
    """What workloads of a namespace name, and the queue that it leads to."""

    namespace: str
    name: str
    queue: str
    held: bool = False
    """Whether nothing more is admitted by it."""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that are admitted as a whole, or wait for it."""

    uid: str
    namespace: str
    name: str
    owners: tuple[str, ...] = ()
    """``Kind/name`` of what it is made for: a Job, or pods themselves."""
    queue: str = ""
    """The ClusterQueue that it holds quota of, or waits for; empty: not known."""
    local_queue: str = ""
    """The LocalQueue of its namespace that it names."""
    priority: int = 0
    created_ms: int = 0
    requeued_ms: int | None = None
    """When it was evicted, where that gives it a new turn: for checks that failed, or pods that did not get ready."""
    waits_ms: int | None = None
    """Since when Kueue says that it waits for quota; None: it has not tried it yet, or it holds some."""
    waits_why: str = ""
    """Why, in Kueue's own words."""
    waits_until_ms: int | None = None
    """Until when it is not tried again, after it was evicted."""
    requeued: bool = True
    """Whether it is tried again at all, as things are."""
    gated: bool = False
    """Whether it may preempt nobody for now: a gate of its preemption is closed."""
    replaces: str = ""
    """``namespace/name`` of the workload in whose place it comes, as a larger or smaller slice of the same job."""
    evicted: bool = False
    """Whether it is on its way out already."""
    spared: bool = False
    """Whether nobody may preempt it; Kueue says so of none."""
    reserved_ms: int | None = None
    """Since when it holds quota; None: since now, or not at all."""
    holds: bool = False
    """Whether it holds quota; else it waits, unless it is done."""
    done: bool = False
    """Whether it is finished, or switched off: it neither holds anything nor waits."""
    usage: Quantities = {}
    """What it holds."""
    pod_sets: tuple[PodSet, ...] = ()
    preempted: Preempted | None = None
    """What Kueue says where it preempted it and has not admitted it again; of the whole, not of one of its pods."""

    @property
    def owner(self) -> str:
        """``Kind/name`` of what it is made for, as its pods are called by; of several pods the first."""
        return self.owners[0] if self.owners else ""

    @property
    def key(self) -> str:
        """As people call it: ``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def turn_ms(self) -> int:
        """Its time in the order of its queue."""
        return self.created_ms if self.requeued_ms is None else self.requeued_ms


Made = TypeVar("Made")


class QuotaCluster(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A cluster at one moment, as far as quota goes."""

    flavors: Mapping[str, Flavor]
    queues: Mapping[str, ClusterQueue]
    cohorts: Mapping[str, Cohort]
    workloads: tuple[Workload, ...]
    now_ms: int
    held: frozenset[tuple[str, str]] = frozenset()
    """The LocalQueues (namespace and name) by which nothing more is admitted."""
    namespaces: Mapping[str, Mapping[str, str]] | None = None
    """Name -> labels; None: not known."""

    def holding(self) -> dict[str, tuple[Workload, ...]]:
        """Queue -> the workloads that hold quota of it."""
        found: dict[str, list[Workload]] = {name: [] for name in self.queues}
        for one in self.workloads:
            if one.holds and one.queue in found:
                found[one.queue].append(one)
        return {name: tuple(held) for name, held in found.items()}

    def once(self, what: str, make: Callable[[], Made]) -> Made:
        """What ``make`` makes, made once. It must not hold the cluster: nobody would ever let go of it."""
        made: Made | None = self.__dict__.get(what)
        if made is None:
            made = self.__dict__[what] = make()
        return made


class KueueSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a cluster's Kueue is set to preempt."""

    name: str
    """Of the ConfigMap that says so."""
    fair: bool = False
    strategies: tuple[str, ...] = ()
    """Of fair sharing, in its own words; empty: those that it uses unless told otherwise."""


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
    """What was read one by one, put together: nothing is decided for a queue that names a flavor that is not there."""
    known, local_queues = {one.name: one for one in flavors}, tuple(local_queues)
    leads = {(one.namespace, one.name): one.queue for one in local_queues}
    return QuotaCluster(
        flavors=known,
        queues={one.name: _of_known(one, known) for one in queues},
        cohorts={one.name: one for one in cohorts},
        workloads=tuple(_led(one, leads) for one in workloads if not one.done),
        now_ms=now_ms,
        held=frozenset((one.namespace, one.name) for one in local_queues if one.held),
        namespaces=namespaces,
    )


def _of_known(queue: ClusterQueue, flavors: Mapping[str, Flavor]) -> ClusterQueue:
    named = {name for group in queue.groups for name in group.flavors}
    return queue if named <= flavors.keys() else msgspec.structs.replace(queue, active=False)


def _led(one: Workload, leads: Mapping[tuple[str, str], str]) -> Workload:
    """The same with the queue that it waits for."""
    if one.queue:
        return one
    return msgspec.structs.replace(one, queue=leads.get((one.namespace, one.local_queue), ""))

"""Volcano's objects and settings: its Queues, PodGroups and pods, and how its scheduler is configured.

Source of the names and rules: Volcano's API, scheduling.volcano.sh/v1beta1, and its scheduler's configuration.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum

import msgspec

from engine.model.objects.kubernetes import DisruptionBudget, Node, Pod, PriorityClass
from engine.model.quantities import Amounts, add, total


class SharePlugin(StrEnum):
    """The plugin of Volcano that determines the shares of queues."""

    PROPORTION = "proportion"
    CAPACITY = "capacity"


class VolcanoQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A Queue as its spec defines it. A resource that is missing in ``capability`` is not limited."""

    name: str
    parent: str = ""
    weight: int = 1
    priority: int = 0
    capability: Amounts = {}
    guarantee: Amounts = {}
    deserved: Amounts = {}
    reclaimable: bool = True
    """Whether other queues may reclaim from it."""
    open: bool = True
    created_ms: int = 0


class PodGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A PodGroup, which Volcano calls a job: pods that start together, or at least ``min_member`` of them."""

    namespace: str
    name: str
    queue: str
    uid: str = ""
    min_member: int = 0
    min_task_members: int = 0
    """The sum of ``minTaskMember``: how many pods of each of its tasks must run together."""
    succeeded: int = 0
    """How many of its pods have succeeded; they count as members that run."""
    priority_class: str = ""
    priority: int = 0
    """The priority of its class; known only within a VolcanoCluster."""
    created_ms: int = 0
    enqueued: bool = True
    """Whether its phase is not Pending, so that it may get what it requests."""
    unread_rules: tuple[str, ...] = ()
    """Fields of its spec that are not evaluated where it is read as a gang."""

    @property
    def key(self) -> str:
        """Return the PodGroup's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class VolcanoSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the configuration of Volcano's scheduler that is read."""

    name: str = ""
    """The name of the ConfigMap that has the configuration."""
    plugin: SharePlugin
    hierarchical: bool = False
    """Whether the queues are a tree, which only the plugin ``capacity`` supports."""
    ancestor_levels: int = 0
    """How many queues above a queue also count when pods are reclaimed from it."""
    tiers: tuple[tuple[str, ...], ...] = ()
    """The plugins by name, tier by tier. If a tier has an answer, the next tiers are not consulted."""


class Task(Enum):
    """The state of a pod in Volcano's terms."""

    PENDING = "pending"
    BOUND = "bound"
    """Bound to a node, but not running there yet."""
    RUNNING = "running"
    RELEASING = "releasing"
    """The pod is terminating."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PIPELINED = "pipelined"
    """The pod gets capacity of a node that other pods still hold."""


class VolcanoPod(msgspec.Struct, frozen=True, kw_only=True):
    """A pod with its state in Volcano's terms."""

    pod: Pod
    group: str = ""
    """The key of its PodGroup; empty if it has none that is in a queue."""
    task: Task = Task.PENDING
    preemptable: bool = True


class VolcanoCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A session of Volcano's scheduler, with the data that shares and reclaiming depend on."""

    settings: VolcanoSettings
    queues: dict[str, VolcanoQueue]
    groups: dict[str, PodGroup] = {}
    """PodGroups by key; only those that are in one of the queues."""
    pods: tuple[VolcanoPod, ...] = ()
    """The pods, sorted by key."""
    nodes: dict[str, Amounts] = {}
    """Node name -> what the node can hold, for ready nodes."""
    budgets: tuple[DisruptionBudget, ...] = ()
    total: Amounts
    """The sum over all ready nodes, whichever pods use them."""
    requests: dict[str, Amounts]
    """Queue -> what its pods request, running and pending together; a queue without a PodGroup is missing."""
    allocated: dict[str, Amounts]
    """Queue -> the part of these requests that its bound and running pods hold."""


_ASKING = frozenset({Task.PENDING, Task.BOUND, Task.RUNNING})


def volcano_pod(pod: Pod) -> VolcanoPod:
    """Return a pod with its Volcano state, derived without its phase.

    A pod that has started counts as running, and a finished pod as succeeded.
    """
    if pod.finished:
        task = Task.SUCCEEDED
    elif pod.terminating:
        task = Task.RELEASING
    elif pod.node is None:
        task = Task.PENDING
    else:
        task = Task.BOUND if pod.started_ms is None else Task.RUNNING
    group = f"{pod.namespace}/{pod.pod_group}" if pod.pod_group else ""
    return VolcanoPod(pod=pod, group=group, task=task, preemptable=not pod.kept_by_volcano)


def volcano_cluster(
    settings: VolcanoSettings,
    queues: Iterable[VolcanoQueue],
    groups: Iterable[PodGroup],
    pods: Iterable[VolcanoPod],
    nodes: Iterable[Node],
    classes: Mapping[str, PriorityClass],
    budgets: Iterable[DisruptionBudget] = (),
) -> VolcanoCluster:
    """Return a VolcanoCluster of objects that were read one by one.

    The pods of a PodGroup that is missing, or in no queue, do not count.
    """
    named = {queue.name: queue for queue in queues}
    known = {one.key: _with_priority(one, classes) for one in groups if one.queue in named}
    requests: dict[str, Amounts] = {group.queue: {} for group in known.values()}
    allocated: dict[str, Amounts] = {group.queue: {} for group in known.values()}
    every = sorted(pods, key=lambda one: (one.pod.key, one.pod.uid))
    for one in every:
        group = known.get(one.group)
        if group is None or one.task not in _ASKING:
            continue
        requests[group.queue] = add(requests[group.queue], one.pod.requests)
        if one.task is not Task.PENDING:
            allocated[group.queue] = add(allocated[group.queue], one.pod.requests)
    ready = {node.name: node.allocatable for node in nodes if node.ready}
    return VolcanoCluster(
        settings=settings,
        queues=named,
        groups=known,
        pods=tuple(one if one.group in known else msgspec.structs.replace(one, group="") for one in every),
        nodes=ready,
        budgets=tuple(budgets),
        total=total(ready.values()),
        requests=requests,
        allocated=allocated,
    )


def _with_priority(group: PodGroup, classes: Mapping[str, PriorityClass]) -> PodGroup:
    found = classes.get(group.priority_class)
    return msgspec.structs.replace(group, priority=found.value) if found else group

"""What Volcano divides a cluster by: its Queues, PodGroups and pods, and how it is configured.

Source of the names and rules: Volcano's API, scheduling.volcano.sh/v1beta1, and its scheduler's configuration.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum

import msgspec

from engine.model.objects.kubernetes import DisruptionBudget, Node, Pod, PriorityClass
from engine.model.quantities import Amounts, add, total


class SharePlugin(StrEnum):
    """By which plugin of Volcano's queues get their shares."""

    PROPORTION = "proportion"
    CAPACITY = "capacity"


class VolcanoQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A Queue as its spec has it; a resource that is missing in ``capability`` is not limited."""

    name: str
    parent: str = ""
    weight: int = 1
    priority: int = 0
    capability: Amounts = {}
    guarantee: Amounts = {}
    deserved: Amounts = {}
    reclaimable: bool = True
    """Whether others may take from it."""
    open: bool = True
    created_ms: int = 0


class PodGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What Volcano calls a job: pods that start together, or at least ``min_member`` of them."""

    namespace: str
    name: str
    queue: str
    min_member: int = 0
    priority_class: str = ""
    priority: int = 0
    """That of its class; known only within a VolcanoCluster."""
    created_ms: int = 0
    enqueued: bool = True
    """Its phase is not Pending: it may have what it asks for."""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class VolcanoSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the configuration of Volcano's scheduler says, as far as it is read."""

    name: str = ""
    """Of the ConfigMap that has it."""
    plugin: SharePlugin
    hierarchical: bool = False
    """Whether the queues are a tree; only the plugin ``capacity`` can have it so."""
    ancestor_levels: int = 0
    """So many queues above one count as well when it is taken from."""
    tiers: tuple[tuple[str, ...], ...] = ()
    """The plugins, by name; where the first tier has an answer the next ones are not asked."""


class Task(Enum):
    """How a pod stands."""

    PENDING = "pending"
    BOUND = "bound"
    """To a node, on which it does not run yet."""
    RUNNING = "running"
    RELEASING = "releasing"
    """On its way out."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PIPELINED = "pipelined"
    """It gets room on a node that others still have."""


class VolcanoPod(msgspec.Struct, frozen=True, kw_only=True):
    """A pod as Volcano has it."""

    pod: Pod
    group: str = ""
    """The key of its PodGroup; empty where it has none that is in a queue."""
    task: Task = Task.PENDING
    preemptable: bool = True


class VolcanoCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A session of Volcano's scheduler, as far as shares go and taking back what is used beyond them."""

    settings: VolcanoSettings
    queues: dict[str, VolcanoQueue]
    groups: dict[str, PodGroup] = {}
    """By key, those that are in one of the queues."""
    pods: tuple[VolcanoPod, ...] = ()
    """In order of their keys."""
    nodes: dict[str, Amounts] = {}
    """What each holds that is ready."""
    budgets: tuple[DisruptionBudget, ...] = ()
    total: Amounts
    """Of all nodes that are ready, whoever uses them."""
    requests: dict[str, Amounts]
    """Queue -> what its pods ask, running and pending together; a queue without a PodGroup is missing."""
    allocated: dict[str, Amounts]
    """Queue -> what its pods hold of that."""


_ASKING = frozenset({Task.PENDING, Task.BOUND, Task.RUNNING})


def volcano_pod(pod: Pod) -> VolcanoPod:
    """A pod whose phase nobody knows: it runs since it has begun to, and did not fail where it is finished."""
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
    """What was read one by one, put together: of a PodGroup that is not there, or in no queue, nothing counts."""
    named = {queue.name: queue for queue in queues}
    known = {one.key: _prioritised(one, classes) for one in groups if one.queue in named}
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


def _prioritised(group: PodGroup, classes: Mapping[str, PriorityClass]) -> PodGroup:
    found = classes.get(group.priority_class)
    return msgspec.structs.replace(group, priority=found.value) if found else group

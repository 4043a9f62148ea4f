"""Tracks a session of Volcano's scheduler: the state of its pods, and free capacity, while it tries evictions.

Source: Volcano's pkg/scheduler/framework, session.go and statement.go, and pkg/scheduler/api, node_info.go.
"""

from collections import Counter, defaultdict

from engine.model.objects import PodGroup, Task, VolcanoCluster, VolcanoPod
from engine.policies.volcano.amounts import Fine, is_empty, to_fine
from engine.policies.volcano.queue_shares import share, shares

_READY = frozenset({Task.BOUND, Task.RUNNING, Task.SUCCEEDED})
_VALID = _READY | {Task.PENDING, Task.PIPELINED}


class VolcanoSession:
    """The state of a session, which changes with each pod that is evicted or gets room. Raises HierarchyError."""

    def __init__(self, cluster: VolcanoCluster) -> None:
        self.cluster = cluster
        self.of = shares(cluster)
        self.requests = {one.pod.uid: to_fine(one.pod.requests) for one in cluster.pods}
        self.tasks = {one.pod.uid: one.task for one in cluster.pods}
        self.members: dict[str, list[VolcanoPod]] = {key: [] for key in cluster.groups}
        self.on: dict[str, list[VolcanoPod]] = defaultdict(list)
        self._counts = {key: Counter[Task]() for key in cluster.groups}
        self.idle = {name: to_fine(amounts) for name, amounts in cluster.nodes.items()}
        for one in cluster.pods:
            self._place(one)
        self.allocated = {name: to_fine(amounts) for name, amounts in self.of.allocated.items()}
        self.share = {
            name: share(self.allocated[name], own, cluster.settings.plugin) for name, own in self.of.deserved.items()
        }

    def _place(self, one: VolcanoPod) -> None:
        if one.group:
            self.members[one.group].append(one)
            self._counts[one.group][one.task] += 1
        node = one.pod.node
        if node in self.idle and one.task in {Task.BOUND, Task.RUNNING}:
            self.on[node].append(one)
            _add(self.idle[node], self.requests[one.pod.uid], -1)

    def group(self, one: VolcanoPod) -> PodGroup:
        """Return the PodGroup of a pod, which must have one."""
        return self.cluster.groups[one.group]

    def take(self, one: VolcanoPod) -> None:
        """Evict a running pod."""
        self._move(one, Task.RELEASING, one.pod.node or "", -1)

    def spare(self, one: VolcanoPod) -> None:
        """Undo the eviction of a pod."""
        self._move(one, Task.RUNNING, one.pod.node or "", 1)

    def pipeline(self, one: VolcanoPod, node: str) -> None:
        """Assign a pending pod to a node."""
        self._move(one, Task.PIPELINED, node, 1)

    def drop(self, one: VolcanoPod, node: str) -> None:
        """Undo the assignment of a pending pod to a node."""
        self._move(one, Task.PENDING, node, -1)

    def _move(self, one: VolcanoPod, task: Task, node: str, sign: int) -> None:
        request, queue = self.requests[one.pod.uid], self.group(one).queue
        self._counts[one.group][self.tasks[one.pod.uid]] -= 1
        self._counts[one.group][task] += 1
        self.tasks[one.pod.uid] = task
        _add(self.idle[node], request, -sign)
        for name in (queue, *self.of.above[queue]):
            _add(self.allocated[name], request, sign)
        # As in Volcano, the allocated amounts of ancestors are updated, but not their shares.
        self.share[queue] = share(self.allocated[queue], self.of.deserved[queue], self.cluster.settings.plugin)

    def ready(self, key: str) -> int:
        """Return the number of pods of a group that are bound, running, or completed."""
        return sum(self._counts[key][task] for task in _READY)

    def ready_or_waiting(self, key: str) -> int:
        """Return the number of ready pods of a group, including those that are assigned to a node."""
        return self.ready(key) + self._counts[key][Task.PIPELINED]

    def valid(self, key: str) -> int:
        """Return the number of pods of a group that could become ready at all."""
        return sum(self._counts[key][task] for task in _VALID)

    def modest(self, key: str) -> int:
        """Return the number of pending pods of a group that request nothing; they count as ready."""
        if not self._counts[key][Task.PENDING]:
            return 0
        pending = (one for one in self.members[key] if self.tasks[one.pod.uid] is Task.PENDING)
        return sum(is_empty(self.requests[one.pod.uid]) for one in pending)


def _add(amounts: Fine, more: Fine, sign: int) -> None:
    for name, amount in more.items():
        amounts[name] = amounts.get(name, 0) + sign * amount

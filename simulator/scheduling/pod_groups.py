"""Schedules the waiting pods of a PodGroup together: enough of them get a node at once, or none does.

Source: kube-scheduler 1.37 with feature gate GenericWorkload, pkg/scheduler, schedule_one_podgroup.go and the plugin
GangScheduling.
"""

from collections.abc import Sequence

from engine.model.decision import NodeReason
from engine.model.objects import Pod, SchedulingGroup
from simulator.scheduling import wording
from simulator.scheduling.attempt import Attempt, best_node
from simulator.scheduling.group_preemption import GroupPreemption, find_group_preemption
from simulator.scheduling.occupancy import Occupancy
from simulator.scheduling.scheduler_writes import SchedulerWrites
from simulator.scheduling.scheduling_queue import QueuedPod, SchedulingQueue


class PodGroupAttempt:
    """Tries the members of a group one after the other; each that gets a node counts for the ones after it.

    No choice is taken back: the order in which the members are tried may fail where another would not.
    """

    def __init__(self, occupancy: Occupancy, group: SchedulingGroup, members: Sequence[Pod], now_ms: int) -> None:
        """Find nodes until all members are tried, or until it is clear that too few get one."""
        self.group = group
        self.nodes: dict[str, str] = {}
        """Uid of a member -> the node that it gets."""
        self.failures: dict[str, Attempt] = {}
        """Uid of a member that fits nowhere -> its attempt."""
        self._bound, self._remaining = len(occupancy.members(group)), len(members)
        placed = [pod for pod in members if self._is_open and self._try(occupancy, pod, now_ms)]
        for pod in placed:
            occupancy.forget(pod, self.nodes[pod.uid])

    def _try(self, occupancy: Occupancy, pod: Pod, now_ms: int) -> bool:
        """Let a member take its best node, and return whether there is one."""
        attempt = Attempt(occupancy.snapshot(now_ms), pod)
        self._remaining -= 1
        if not attempt.feasible:
            self.failures[pod.uid] = attempt
            return False
        self.nodes[pod.uid] = node = best_node(occupancy, pod, attempt.feasible)
        occupancy.assume(pod, node)
        return True

    @property
    def _scheduled(self) -> int:
        return self._bound + len(self.nodes)

    @property
    def _is_open(self) -> bool:
        return self._scheduled + self._remaining >= self.group.needed

    @property
    def is_enough(self) -> bool:
        """Return whether those that get a node are bound."""
        return bool(self.nodes) and self._scheduled >= self.group.needed

    @property
    def message(self) -> str:
        """Return the message why the group is not bound."""
        if self._is_open:
            return wording.GROUP_UNSCHEDULABLE
        return wording.too_few(self.group.needed, self._scheduled, self._remaining)

    def message_of(self, pod: Pod, preemption: GroupPreemption) -> str:
        """Return the message why a member is not bound; only one that fits tells of the group's preemption."""
        if pod.uid in self.failures:
            return self.failures[pod.uid].message
        if pod.uid not in self.nodes:
            return self.message
        start = "" if preemption.is_going_on else f"{wording.GROUP_UNSCHEDULABLE}, "
        return f"{start}{self.message}{preemption.message}"

    def reasons_of(self, pod: Pod) -> frozenset[NodeReason]:
        """Return why nodes were rejected for a member; empty unless it fits nowhere."""
        return self.failures[pod.uid].reasons if pod.uid in self.failures else frozenset()


class PodGroupScheduler:
    """Schedules groups for a scheduler, with its cache and its queue."""

    def __init__(
        self, occupancy: Occupancy, queue: SchedulingQueue, writes: SchedulerWrites, *, default_preemption: bool
    ) -> None:
        """Create it; with `default_preemption`, groups preempt units of lower priority."""
        self._occupancy, self._queue, self._writes = occupancy, queue, writes
        self._default_preemption = default_preemption
        self._gated: dict[str, tuple[str, str]] = {}
        """Uid of a pod with scheduling gates -> its group."""

    def note_gates(self, pod: Pod, *, exists: bool) -> None:
        """Remember whether a pending pod has scheduling gates: none of its group is scheduled as long as it has."""
        if exists and pod.gated and pod.scheduling_group:
            self._gated[pod.uid] = pod.namespace, pod.scheduling_group
        else:
            self._gated.pop(pod.uid, None)

    def schedule(self, first: QueuedPod, now_ms: int) -> None:
        """Schedule a pod together with all waiting members of its group.

        They wait while too few of them exist, and while one of them has scheduling gates, even if it is not needed.
        Source: runPreEnqueuePlugins of PriorityQueue (pkg/scheduler/backend/queue).
        """
        waiting = sorted((first, *self._queue.take_group(first.group)), key=_turn)
        members = [item.pod for item in waiting]
        group = self._occupancy.group(first.group)
        held = first.group in self._gated.values()
        if group is None or held or len(members) + len(self._occupancy.members(group)) < group.needed:
            for item in waiting:
                self._queue.hold(item)
            return
        if error := self._mismatch(group, members):
            self._refuse(group, waiting, error)
            return
        attempt = PodGroupAttempt(self._occupancy, group, members, now_ms)
        if attempt.is_enough:
            self._bind(attempt, waiting)
        else:
            self._fail(attempt, waiting, now_ms)

    def _mismatch(self, group: SchedulingGroup, members: Sequence[Pod]) -> str:
        everyone = (*members, *self._occupancy.members(group))
        other = next((pod.priority for pod in everyone if pod.priority != group.priority), None)
        return "" if other is None else wording.other_priority(other, group.priority)

    def _refuse(self, group: SchedulingGroup, waiting: Sequence[QueuedPod], error: str) -> None:
        for item in waiting:
            self._queue.fail(item, frozenset())
            self._writes.fail(item.pod, "SchedulerError", error, item.pod.nominated_node)
        self._writes.report_group(group, "SchedulerError", error)

    def _bind(self, attempt: PodGroupAttempt, waiting: Sequence[QueuedPod]) -> None:
        """Bind the members that get a node. The others return to the queue first, where the bindings wake them."""
        for item in waiting:
            if item.pod.uid not in attempt.nodes:
                self._wait(attempt, item, GroupPreemption())
        for item in waiting:
            if item.pod.uid in attempt.nodes:
                self._writes.bind(item.pod, attempt.nodes[item.pod.uid])
        self._writes.report_group(attempt.group, "Scheduled")

    def _fail(self, attempt: PodGroupAttempt, waiting: Sequence[QueuedPod], now_ms: int) -> None:
        group, members = attempt.group, [item.pod for item in waiting]
        preemption = GroupPreemption()
        if self._default_preemption:
            preemption = find_group_preemption(self._occupancy.snapshot(now_ms), group, members)
        for item in waiting:
            self._wait(attempt, item, preemption)
        self._writes.report_group(group, "Unschedulable", attempt.message + preemption.message)
        for victim in preemption.victims:
            self._writes.evict(victim.namespace, victim.name, group)

    def _wait(self, attempt: PodGroupAttempt, item: QueuedPod, preemption: GroupPreemption) -> None:
        pod = item.pod
        nominated = preemption.nodes.get(pod.key, pod.nominated_node)
        self._queue.fail(item, attempt.reasons_of(pod))
        self._writes.fail(pod, "Unschedulable", attempt.message_of(pod, preemption), nominated)


def _turn(waiting: QueuedPod) -> tuple[int, float, int]:
    return (-waiting.attempts, waiting.queued, waiting.number)

"""The simulated kube-scheduler: tries one pending pod, or one PodGroup, at a time, in the order of its queue.

Source: kube-scheduler 1.36, pkg/scheduler, schedule_one.go and eventhandlers.go; for PodGroups 1.37 with feature gate
GenericWorkload.
"""

from typing import ClassVar

import msgspec

from engine.feasibility.checks import CURABLE
from engine.formats.kubernetes.decode import DecodeError, decode_node, decode_pod
from engine.model.decision import NodeReason
from engine.model.objects import Node, Pod
from engine.model.snapshot import Snapshot
from simulator.clock import SimulationClock
from simulator.controllers.component import Component
from simulator.controllers.recorder import Recorder
from simulator.kinds import POD_GROUPS
from simulator.objects import Object
from simulator.scheduling import wording
from simulator.scheduling.attempt import Attempt, AttemptResult, accepts_pod, best_node
from simulator.scheduling.occupancy import OTHER_KINDS, Occupancy
from simulator.scheduling.pod_groups import PodGroupScheduler
from simulator.scheduling.scheduler_writes import SchedulerWrites
from simulator.scheduling.scheduling_queue import QueuedPod, SchedulingQueue
from simulator.storage.store import Event, Store

NAME = "default-scheduler"
GATED = "Scheduling is blocked due to non-empty scheduling gates"
_BY_COMPANY = frozenset({NodeReason.POD_AFFINITY, NodeReason.SPREAD})
"""Rejections that a new or changed pod can resolve."""
_BY_PLACE = frozenset({NodeReason.SPREAD_KEY, NodeReason.ANTI_AFFINITY, NodeReason.KEPT_OUT}) | _BY_COMPANY
"""Rejections that other labels of a node can resolve."""
_BY_OTHERS = {
    "namespaces": frozenset({NodeReason.POD_AFFINITY, NodeReason.ANTI_AFFINITY, NodeReason.KEPT_OUT}),
    "persistentvolumeclaims": frozenset({NodeReason.UNBOUND_CLAIM, NodeReason.CLAIM_IN_USE}),
    "persistentvolumes": frozenset({NodeReason.UNBOUND_CLAIM, NodeReason.VOLUME, NodeReason.VOLUME_ZONE}),
    "poddisruptionbudgets.policy": frozenset[NodeReason](),
}
"""Rejections that an object of another kind can resolve."""


class SimulatedScheduler(Component):
    """Binds pods that name it, reports why when it can't, and preempts by priority unless that is turned off.

    The pods of a PodGroup are bound, and preempt, together.
    """

    watches: ClassVar[tuple[str, ...]] = ("nodes", "pods", *OTHER_KINDS)

    def __init__(
        self,
        store: Store,
        clock: SimulationClock,
        recorder: Recorder,
        *,
        default_preemption: bool = True,
        name: str = NAME,
    ) -> None:
        """Create the scheduler; it does nothing before `start`."""
        super().__init__(store, clock)
        self.name = name
        self.occupancy = Occupancy()
        self.queue = SchedulingQueue(clock, self._wake)
        self._default_preemption = default_preemption
        self._writes = SchedulerWrites(store, clock, recorder, name)
        self._groups = PodGroupScheduler(
            self.occupancy, self.queue, self._writes, default_preemption=default_preemption
        )

    def stop(self) -> None:
        """Stop reacting to changes, and cancel all timers."""
        super().stop()
        self.queue.timers.clear()

    # Events

    def on_event(self, event: Event) -> None:
        """Record a change and wake the pods that it may help."""
        try:
            if event.key == "nodes":
                self._node_changed(event)
            elif event.key in OTHER_KINDS:
                self._other_changed(event)
            else:
                self._pod_changed(event, decode_pod(event.object))
        except DecodeError:
            return  # written past admission by a client; it can't be scheduled, and no pod can run on it

    def _node_changed(self, event: Event) -> None:
        name = event.object["metadata"]["name"]
        before = self.occupancy.nodes.get(name)
        if event.type == "DELETED":
            self.occupancy.remove_node(name)
            return
        node = self.occupancy.put_node(decode_node(event.object))
        if node != before:
            self.queue.helped(lambda waiting: _node_helps(waiting, before, node))

    def _other_changed(self, event: Event) -> None:
        self.occupancy.put_object(event.key, event.object, deleted=event.type == "DELETED")
        if event.key == POD_GROUPS:
            if event.old is None or event.old["spec"] != event.object["spec"]:
                meta = event.object["metadata"]
                self._group_changed((meta["namespace"], meta["name"]))
        else:
            self.queue.helped(lambda waiting: bool(waiting.reasons & _BY_OTHERS[event.key]))

    def _group_changed(self, group: tuple[str, str]) -> None:
        self.queue.helped(lambda waiting: waiting.group == group)

    def _pod_changed(self, event: Event, pod: Pod) -> None:
        if pod.node is not None:
            self._bound_changed(event, pod)
        elif pod.scheduler == self.name:
            self._pending_changed(event, pod)

    def _bound_changed(self, event: Event, pod: Pod) -> None:
        self.queue.discard(pod.uid)
        if event.type != "DELETED" and not pod.finished:
            before = self.occupancy.place(pod)
            if before is None and pod.scheduling_group:
                self._group_changed((pod.namespace, pod.scheduling_group))
            if before is None or (before.labels, before.terminating) != (pod.labels, pod.terminating):
                self.queue.helped(lambda waiting: bool(waiting.reasons & _BY_COMPANY))
        elif self.occupancy.drop(pod):
            self.queue.helped(lambda waiting: bool(waiting.reasons & CURABLE))

    def _pending_changed(self, event: Event, pod: Pod) -> None:
        self._groups.note_gates(pod, exists=event.type != "DELETED" and not (pod.finished or pod.terminating))
        if event.type == "DELETED" or pod.finished or pod.terminating:
            self.queue.discard(pod.uid)
            if self.occupancy.withdraw(pod):
                self.queue.helped(lambda waiting: bool(waiting.reasons & CURABLE))
            return
        self.occupancy.nominate(pod)
        waiting = self.queue.find(pod.uid)
        if pod.gated:
            self.queue.discard(pod.uid)
            self._writes.report(pod, "SchedulingGated", GATED, pod.nominated_node)
        elif waiting is None:
            self.queue.add(pod)
        else:
            waiting.pod = pod
            if event.old is not None and _is_request_changed(event.old, event.object):
                self.queue.retry(waiting)

    # Scheduling

    def _wake(self) -> None:
        if "attempt" not in self.timers:
            self.timers.set("attempt", 0, self._attempt)

    def _attempt(self) -> None:
        waiting = self.queue.pop()
        if waiting is None:
            return
        if self.queue.ready:
            self._wake()
        self._schedule(waiting)

    def _schedule(self, waiting: QueuedPod) -> None:
        if waiting.pod.scheduling_group:
            self._groups.schedule(waiting, self._now_ms)
            return
        attempt = Attempt(self._snapshot(), waiting.pod)
        if attempt.feasible:
            self._writes.bind(waiting.pod, best_node(self.occupancy, waiting.pod, attempt.feasible))
        else:
            self._fail(waiting, attempt)

    def _snapshot(self) -> Snapshot:
        return self.occupancy.snapshot(self._now_ms)

    @property
    def _now_ms(self) -> int:
        return int(self.clock.now().timestamp() * 1000)

    def would_fit(self, pod: Pod) -> bool:
        """Return whether any node would accept this pod now, or as soon as terminating pods have exited."""
        now = self._snapshot()
        later = msgspec.structs.replace(now, pods=tuple(other for other in now.pods if not other.terminating))
        return bool(Attempt(later, pod).feasible)

    def _fail(self, waiting: QueuedPod, attempt: Attempt) -> None:
        pod, message = waiting.pod, attempt.message
        result = attempt.preemption() if self._default_preemption and self.occupancy.nodes else AttemptResult()
        if result.message:
            message += wording.no_preemption(result.message)
        self.queue.fail(waiting, attempt.reasons)
        # A nomination that another client has set is cleared too: the scheduler has no reason for it.
        self._writes.fail(pod, "Unschedulable", message, result.node if result.eligible else pod.nominated_node)
        if result.node:
            self._evict(pod, result)

    def _evict(self, pod: Pod, result: AttemptResult) -> None:
        # Source: Executor.prepareCandidate of kube-scheduler (framework/preemption, executor.go).
        for victim in result.victims:
            if not victim.terminating:
                self._writes.evict(victim.namespace, victim.name, pod, result.node)
        for other in self.occupancy.nominated(result.node):
            if other.priority < pod.priority:
                self._writes.withdraw(other)
                waiting = self.queue.find(other.uid)
                if waiting is not None:
                    self.queue.retry(waiting)


def _is_request_changed(old: Object, new: Object) -> bool:
    return bool(old["spec"] != new["spec"] or old["metadata"].get("labels") != new["metadata"].get("labels"))


def _node_helps(waiting: QueuedPod, before: Node | None, node: Node) -> bool:
    """Return whether a new or changed node now passes the checks by which the pod was rejected before."""
    if not accepts_pod(waiting.pod, node):
        return False
    if before is None or not accepts_pod(waiting.pod, before):
        return True
    grown = NodeReason.INSUFFICIENT in waiting.reasons and before.allocatable != node.allocatable
    return grown or (bool(waiting.reasons & _BY_PLACE) and before.labels != node.labels)

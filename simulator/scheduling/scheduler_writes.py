"""What the simulated scheduler writes to the API: bindings, conditions, nominations, evictions and their Events."""

from engine.formats.kubernetes.pod_groups import SCHEDULED
from engine.model.objects import PREEMPTION_BY_SCHEDULER, Pod, SchedulingGroup
from simulator.clock import SimulationClock
from simulator.controllers.recorder import Recorder
from simulator.kinds import POD_GROUPS
from simulator.objects import Object, condition_true, set_condition, timestamp
from simulator.status import ApiError
from simulator.storage.store import Store


class SchedulerWrites:
    """Writes as one scheduler. What is deleted since the scheduler last heard of it is left alone."""

    def __init__(self, store: Store, clock: SimulationClock, recorder: Recorder, name: str) -> None:
        """Write to a store under the name of a scheduler."""
        self._store, self._clock, self._recorder, self._name = store, clock, recorder, name

    def bind(self, pod: Pod, node: str) -> None:
        """Bind a pod to a node."""
        try:
            bound = self._store.bind(pod.namespace, pod.name, node, pod.uid)
        except ApiError:
            return  # deleted, gated or bound by another client since: its event will arrive
        message = f"Successfully assigned {pod.key} to {node}"
        self._recorder.record(self._name, bound, "Scheduled", message, action="Binding")

    def fail(self, pod: Pod, reason: str, message: str, nominated: str) -> None:
        """Report in a condition and an Event that a pod gets no node; `nominated`: the node to wait for, if any."""
        self.report(pod, reason, message, nominated)
        current = self._store.find("pods", pod.namespace, pod.name)
        if current is not None:
            self._recorder.record(
                self._name, current, "FailedScheduling", message, type_="Warning", action="Scheduling"
            )

    def report(self, pod: Pod, reason: str, message: str, nominated: str) -> None:
        """Set the condition of a pod that is not scheduled, and its nomination."""
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}

        def write(copy: Object) -> None:
            set_condition(copy, condition, timestamp(self._clock.now()))
            _nominate(copy, nominated)

        try:
            self._store.mutate("pods", pod.namespace, pod.name, write, "status")
        except ApiError:
            return  # deleted since

    def withdraw(self, pod: Pod) -> None:
        """Remove the nomination of a pod."""
        self._store.mutate("pods", pod.namespace, pod.name, lambda copy: _nominate(copy, ""), "status")

    def report_group(self, group: SchedulingGroup, reason: str, message: str = "") -> None:
        """Set the condition of a group: whether it was placed once, which is never taken back."""
        status = "True" if reason == "Scheduled" else "False"
        condition = {"type": SCHEDULED, "status": status, "reason": reason, "message": message}

        def write(copy: Object) -> None:
            if not condition_true(copy, SCHEDULED):
                set_condition(copy, condition, timestamp(self._clock.now()))

        try:
            self._store.mutate(POD_GROUPS, group.namespace, group.name, write, "status")
        except ApiError:
            return  # deleted since

    def evict(self, namespace: str, name: str, preemptor: Pod | SchedulingGroup, node: str = "cluster") -> None:
        """Delete a victim for a pod on a node, or for a group.

        For a group, kube-scheduler 1.37 names the node "cluster". Source: Executor.prepareCandidate and
        prepareCandidateAsync of kube-scheduler (framework/preemption, executor.go).
        """
        kind, key = ("podgroup", POD_GROUPS) if isinstance(preemptor, SchedulingGroup) else ("pod", "pods")
        target = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": PREEMPTION_BY_SCHEDULER,
            "message": f"{self._name}: preempting to accommodate a higher priority {kind}",
        }
        now = timestamp(self._clock.now())
        victim = self._store.mutate("pods", namespace, name, lambda copy: set_condition(copy, target, now), "status")
        self._store.delete("pods", namespace, name)
        note = f"Preempted by {kind} {preemptor.uid} on node {node}"
        related = self._store.find(key, preemptor.namespace, preemptor.name)
        self._recorder.record(self._name, victim, "Preempted", note, action="Preempting", related=related)


def _nominate(pod: Object, node: str) -> None:
    if node:
        pod["status"]["nominatedNodeName"] = node
    else:
        pod["status"].pop("nominatedNodeName", None)

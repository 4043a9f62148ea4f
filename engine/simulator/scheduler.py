"""The simulated kube-scheduler: one pending pod at a time, in the order of its queue."""

from collections.abc import Sequence
from typing import ClassVar

from engine.formats.kubernetes import DecodeError, decode_budget, decode_node, decode_pod
from engine.simulator import preemption
from engine.simulator.clock import Clock
from engine.simulator.component import Component
from engine.simulator.filters import Rejection, Rule, reject, score, unavailable
from engine.simulator.objects import Object, set_condition, timestamp
from engine.simulator.occupancy import Occupancy
from engine.simulator.recorder import Recorder
from engine.simulator.scheduling_queue import SchedulingQueue, Waiting
from engine.simulator.status import ApiError
from engine.simulator.store import Event, Store
from engine.snapshot import Node, Pod

NAME = "default-scheduler"
BUDGETS = "poddisruptionbudgets.policy"
FREED = frozenset({Rule.RESOURCES, Rule.PORTS})
"""What a pod that goes can cure."""
GATED = "Scheduling is blocked due to non-empty scheduling gates"


class Scheduler(Component):
    """Binds pods that name it, says why when it can't, and preempts by priority unless that is turned off."""

    watches: ClassVar[tuple[str, ...]] = ("nodes", "pods")

    def __init__(
        self, store: Store, clock: Clock, recorder: Recorder, *, default_preemption: bool = True, name: str = NAME
    ) -> None:
        """Stay still until `start`."""
        super().__init__(store, clock)
        self.name = name
        self.occupancy = Occupancy()
        self.queue = SchedulingQueue(clock, self._wake)
        self._recorder = recorder
        self._default_preemption = default_preemption

    def stop(self) -> None:
        """Do nothing more."""
        super().stop()
        self.queue.timers.clear()

    # What happens around it

    def on_event(self, event: Event) -> None:
        """Take note of a change and wake the pods that it may help."""
        try:
            if event.key == "nodes":
                self._node_changed(event)
            else:
                self._pod_changed(event, decode_pod(event.object))
        except DecodeError:
            return  # written past admission by a client; nothing that can be scheduled, or on

    def _node_changed(self, event: Event) -> None:
        name = event.object["metadata"]["name"]
        if event.type == "DELETED":
            self.occupancy.nodes.pop(name, None)
            return
        node = decode_node(event.object)
        before = self.occupancy.nodes.get(name)
        self.occupancy.nodes[name] = node
        if node != before:
            self.queue.helped(lambda waiting: _node_helps(waiting, before, node))

    def _pod_changed(self, event: Event, pod: Pod) -> None:
        if pod.node is not None:
            self._bound_changed(event, pod)
        elif pod.scheduler == self.name:
            self._pending_changed(event, pod)

    def _bound_changed(self, event: Event, pod: Pod) -> None:
        self.queue.discard(pod.uid)
        if event.type != "DELETED" and not pod.finished:
            self.occupancy.place(pod)
        elif self.occupancy.drop(pod):
            self.queue.helped(lambda waiting: bool(waiting.rules & FREED))

    def _pending_changed(self, event: Event, pod: Pod) -> None:
        if event.type == "DELETED" or pod.finished or pod.terminating:
            self.queue.discard(pod.uid)
            if self.occupancy.withdraw(pod):
                self.queue.helped(lambda waiting: bool(waiting.rules & FREED))
            return
        self.occupancy.nominate(pod)
        waiting = self.queue.find(pod.uid)
        if pod.gated:
            self.queue.discard(pod.uid)
            self._condition(pod, "SchedulingGated", GATED, pod.nominated_node)
        elif waiting is None:
            self.queue.add(pod)
        else:
            waiting.pod = pod
            if event.old is not None and _asks_differently(event.old, event.object):
                self.queue.retry(waiting)

    # One attempt after the other

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

    def _schedule(self, waiting: Waiting) -> None:
        pod = waiting.pod
        rejections = {name: self._reject(pod, node) for name, node in sorted(self.occupancy.nodes.items())}
        feasible = [name for name, rejection in rejections.items() if rejection is None]
        if feasible:
            self._bind(waiting, self._best(pod, feasible))
        else:
            self._fail(waiting, {name: found for name, found in rejections.items() if found is not None})

    def _reject(self, pod: Pod, node: Node) -> Rejection | None:
        return self._fits(pod, node, self.occupancy.on(node.name))

    def _fits(self, pod: Pod, node: Node, staying: Sequence[Pod]) -> Rejection | None:
        """Judge beside the pods nominated there as well as without them: they may never come."""
        ahead = self.occupancy.ahead(pod, node.name)
        return (reject(pod, node, (*staying, *ahead)) if ahead else None) or reject(pod, node, staying)

    def would_fit(self, pod: Pod) -> bool:
        """Tell whether some node would take such a pod now, or as soon as those on their way out are gone."""
        nodes = self.occupancy.nodes.values()
        staying = {node.name: [one for one in self.occupancy.on(node.name) if not one.terminating] for node in nodes}
        return any(self._fits(pod, node, staying[node.name]) is None for node in nodes)

    def _best(self, pod: Pod, feasible: list[str]) -> str:
        if pod.nominated_node in feasible:
            return pod.nominated_node
        nodes, used = self.occupancy.nodes, self.occupancy.used
        return min(feasible, key=lambda name: (-score(pod, nodes[name], used(name)), name))

    def _bind(self, waiting: Waiting, node: str) -> None:
        pod = waiting.pod
        try:
            bound = self.store.bind(pod.namespace, pod.name, node, pod.uid)
        except ApiError:
            return  # gone, gated or bound by someone else since: the event about that is on its way
        message = f"Successfully assigned {pod.key} to {node}"
        self._recorder.record(self.name, bound, "Scheduled", message, action="Binding")

    def _fail(self, waiting: Waiting, rejections: dict[str, Rejection]) -> None:
        pod = waiting.pod
        message = unavailable(rejections.values(), len(rejections))
        finding = self._preempt(pod, rejections) if self._default_preemption and rejections else None
        if finding is not None and finding.message:
            message = f"{message} preemption: {finding.message}"
        rules = frozenset(rejection.rule for rejection in rejections.values())
        self.queue.fail(waiting, rules)
        nominated = ""  # also one that someone else has set: nothing that the scheduler knows of speaks for it
        if finding is not None and finding.candidate is not None:
            nominated = finding.candidate.node
        elif finding is not None and not finding.eligible:
            nominated = pod.nominated_node
        self._condition(pod, "Unschedulable", message, nominated)
        found = self.store.find("pods", pod.namespace, pod.name)
        if found is not None:
            self._recorder.record(self.name, found, "FailedScheduling", message, type_="Warning", action="Scheduling")
        if finding is not None and finding.candidate is not None:
            self._evict(pod, finding.candidate)

    def _condition(self, pod: Pod, reason: str, message: str, nominated: str) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}

        def write(copy: Object) -> None:
            set_condition(copy, condition, timestamp(self.clock.now()))
            _nominate(copy, nominated)

        try:
            self.store.mutate("pods", pod.namespace, pod.name, write, "status")
        except ApiError:
            return  # gone since

    # Preemption

    def _preempt(self, pod: Pod, rejections: dict[str, Rejection]) -> preemption.Finding:
        budgets = [decode_budget(obj) for obj in self.store.list(BUDGETS)]
        nodes, pods_on = self.occupancy.nodes, self.occupancy.on
        return preemption.preempt(pod, rejections, nodes, pods_on, budgets, self._fits, self._preempted)

    def _preempted(self, pod: Pod) -> bool:
        found = self.store.find("pods", pod.namespace, pod.name)
        conditions = found["status"].get("conditions") or () if found else ()
        wanted = ("DisruptionTarget", "True", "PreemptionByScheduler")
        return any((item["type"], item["status"], item.get("reason")) == wanted for item in conditions)

    def _evict(self, pod: Pod, candidate: preemption.Candidate) -> None:
        for victim in candidate.victims:
            if not victim.terminating:
                self._evict_one(pod, victim, candidate.node)
        for other in self.occupancy.nominated(candidate.node):
            if other.priority < pod.priority:
                self.store.mutate("pods", other.namespace, other.name, lambda copy: _nominate(copy, ""), "status")
                waiting = self.queue.find(other.uid)
                if waiting is not None:
                    self.queue.retry(waiting)

    def _evict_one(self, pod: Pod, victim: Pod, node: str) -> None:
        target = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"{self.name}: preempting to accommodate a higher priority pod",
        }
        now = timestamp(self.clock.now())
        obj = self.store.mutate(
            "pods", victim.namespace, victim.name, lambda copy: set_condition(copy, target, now), "status"
        )
        self.store.delete("pods", victim.namespace, victim.name)
        note = f"Preempted by pod {pod.uid} on node {node}"
        asker = self.store.find("pods", pod.namespace, pod.name)
        self._recorder.record(self.name, obj, "Preempted", note, action="Preempting", related=asker)


def _nominate(pod: Object, node: str) -> None:
    if node:
        pod["status"]["nominatedNodeName"] = node
    else:
        pod["status"].pop("nominatedNodeName", None)


def _asks_differently(old: Object, new: Object) -> bool:
    return bool(old["spec"] != new["spec"] or old["metadata"].get("labels") != new["metadata"].get("labels"))


def _node_helps(waiting: Waiting, before: Node | None, node: Node) -> bool:
    """Tell whether a node that is new, or has changed, passes what turned the pod down and did not before."""
    if reject(waiting.pod, node, ()) is not None:
        return False
    if before is None or reject(waiting.pod, before, ()) is not None:
        return True
    return Rule.RESOURCES in waiting.rules and before.allocatable != node.allocatable

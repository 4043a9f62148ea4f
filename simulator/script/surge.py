"""Forces a preemption on demand: adds a replica whose room must come from other queues."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from engine.formats.kubernetes.decode import decode_pod
from engine.model.objects import Node, Pod
from engine.model.quantities import fits, subtract, total
from simulator.controllers.ownership import active, owned_pods, ready
from simulator.objects import Object
from simulator.scheduling.attempt import accepts_pod
from simulator.scheduling.scheduler import SimulatedScheduler
from simulator.script.script import Surge
from simulator.script.workloads import REPLICA_SETS, scale
from simulator.storage import priority_admission
from simulator.storage.store import Store

QUIET_SECONDS = 4.5
"""How many seconds a preemption takes from the pod's creation, with the queue's delay and the engine's pass.

Capacity that becomes free sooner would make the preemption unnecessary.
"""


class NotNowError(Exception):
    """Raised when no preemption can be arranged at the moment; `str()` is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Surges:
    """The surges of a script, tried in turn so that each gets its chance."""

    store: Store
    scheduler: SimulatedScheduler
    surges: list[Surge]
    sync: Callable[[str, str], None]
    """Makes the ReplicaSet controller reconcile at once, so that the answer can name the pending pod."""
    frees_room_in: Callable[[], float | None]
    """Returns in how many seconds the script frees capacity by itself."""

    def arrange(self) -> Object:
        """Create a pending pod that must preempt, and return its description. Raises NotNowError."""
        if not self.surges:
            raise NotNowError("The script has no surges, so no preemption can be triggered.")
        soon = self.frees_room_in()
        if soon is not None and soon < QUIET_SECONDS:
            wait = math.ceil(soon + QUIET_SECONDS)
            raise NotNowError(f"Capacity is about to become free without a preemption. Try again in {wait} seconds.")
        obstacles = []
        for surge in list(self.surges):
            obstacle = self._obstacle(surge)
            if obstacle is None:
                self.surges.remove(surge)
                self.surges.append(surge)
                return self._carry_out(surge)
            obstacles.append(f"{surge.target} {obstacle}")
        raise NotNowError(f"No preemption can be triggered now: {'; '.join(obstacles)}. Try again in a few seconds.")

    def _obstacle(self, surge: Surge) -> str | None:
        replica_set = self._find(surge.target)
        if replica_set is None:
            return "has been deleted"
        replicas = int(replica_set["spec"].get("replicas", 1))
        if replicas >= surge.up_to:
            return f"already has the {surge.up_to} replicas that its guarantee covers"
        pods = [pod for pod in owned_pods(self.store, replica_set) if active(pod)]
        if len(pods) != replicas or not all(ready(pod) for pod in pods):
            return "still has pending pods"
        pod_to_come = self._next_pod(replica_set)
        if self.scheduler.would_fit(pod_to_come):
            return "would fit without a preemption"
        givers = self._givers(surge)
        if not any(self._makes_room(pod_to_come, node, givers) for node in self.scheduler.occupancy.nodes.values()):
            return "would not fit on a node even if pods above their queues' guarantee were preempted"
        return None

    def _find(self, place: str) -> Object | None:
        namespace, _, name = place.partition("/")
        return self.store.find(REPLICA_SETS, namespace, name)

    def _next_pod(self, replica_set: Object) -> Pod:
        """Return the pod that would be created next, with the priority that admission would give it."""
        meta = replica_set["metadata"]
        spec = replica_set["spec"]["template"]["spec"]
        priority_class = self.store.find(priority_admission.KEY, None, spec.get("priorityClassName", ""))
        spec = {**spec, "priority": priority_class["value"] if priority_class else 0}
        return decode_pod({"metadata": {"name": meta["name"], "namespace": meta["namespace"]}, "spec": spec})

    def _givers(self, surge: Surge) -> dict[str, int]:
        """Return the uids of the pods that may be preempted, with how many pods of their ReplicaSet may be."""
        givers: dict[str, int] = {}
        for place, keeps in surge.takes_from.items():
            replica_set = self._find(place)
            pods = [pod for pod in owned_pods(self.store, replica_set) if active(pod)] if replica_set else []
            bound = [pod for pod in pods if pod["spec"].get("nodeName")]
            givers |= {pod["metadata"]["uid"]: len(bound) - keeps for pod in bound if len(bound) > keeps}
        return givers

    def _makes_room(self, pod_to_come: Pod, node: Node, givers: dict[str, int]) -> bool:
        if not accepts_pod(pod_to_come, node):
            return False
        present = self.scheduler.occupancy.on(node.name)
        may_go = [
            pod for pod in present if pod.uid in givers and not pod.terminating and pod.priority <= pod_to_come.priority
        ]
        evicted = may_go[: min((givers[pod.uid] for pod in may_go), default=0)]
        held = total(pod.requests for pod in present if pod not in evicted)
        return fits(pod_to_come.requests, subtract(node.allocatable, held))

    def _carry_out(self, surge: Surge) -> Object:
        namespace, _, name = surge.target.partition("/")
        replica_set = self.store.get(REPLICA_SETS, namespace, name)
        before = {pod["metadata"]["uid"] for pod in owned_pods(self.store, replica_set)}
        replicas = int(replica_set["spec"].get("replicas", 1)) + 1
        scale(self.store, surge.target, replicas)
        self.sync(namespace, name)
        new = [pod for pod in owned_pods(self.store, replica_set) if pod["metadata"]["uid"] not in before]
        if not new:
            raise NotNowError(f"{surge.target} was scaled to {replicas}, but its new pod was not admitted.")
        new_pod = {"namespace": namespace, "name": new[0]["metadata"]["name"]}
        givers = " or ".join(surge.takes_from)
        message = (
            surge.message
            or f"{surge.target} was scaled to {replicas}. Pods of {givers} must be preempted for its new pod."
        )
        return {"message": message, "workload": surge.target, "replicas": replicas, "ask": new_pod}

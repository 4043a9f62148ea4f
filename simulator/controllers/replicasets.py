"""The ReplicaSet controller: keeps the desired number of pods, and replaces those that are removed."""

from typing import ClassVar

from simulator.clock import SimulationClock
from simulator.controllers.component import Controller
from simulator.controllers.ownership import active, controller_of, create_pod, delete_pod, owned_pods, ready
from simulator.controllers.recorder import Recorder
from simulator.objects import Object
from simulator.status import ApiError
from simulator.storage.store import Event, Store

KEY = "replicasets.apps"
SOURCE = "replicaset-controller"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
RETRY_SECONDS = 5.0
"""How many seconds after a failed creation, because of a quota for example, it is retried."""


class ReplicaSets(Controller):
    """Creates and deletes pods until each ReplicaSet has its number, and writes its status."""

    watches: ClassVar[tuple[str, ...]] = (KEY, "pods")

    def __init__(self, store: Store, clock: SimulationClock, recorder: Recorder) -> None:
        """Create the controller; it does nothing before `start`."""
        super().__init__(store, clock)
        self._recorder = recorder

    def on_event(self, event: Event) -> None:
        """Enqueue a ReplicaSet when it or one of its pods has changed."""
        meta = event.object["metadata"]
        name = meta["name"] if event.key == KEY else controller_of(event.object, "ReplicaSet")
        if name is not None:
            self.enqueue(meta["namespace"], name)

    def sync(self, namespace: str, name: str) -> None:
        """Create missing pods, delete surplus ones, then update the status."""
        replica_set = self.store.find(KEY, namespace, name)
        if replica_set is None:
            return
        if "deletionTimestamp" not in replica_set["metadata"]:
            pods = [pod for pod in owned_pods(self.store, replica_set) if active(pod)]
            surplus = len(pods) - int(replica_set["spec"].get("replicas", 1))
            if surplus < 0:
                self._create(replica_set, -surplus)
            for pod in sorted(pods, key=_deletion_key)[: max(surplus, 0)]:
                delete_pod(self.store, pod)
                self._record_event(replica_set, "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}")
        self._count(namespace, name)

    def _create(self, replica_set: Object, count: int) -> None:
        for _ in range(count):
            try:
                pod = create_pod(self.store, replica_set)
            except ApiError as error:
                self._record_event(replica_set, "FailedCreate", f"Error creating: {error.message}", "Warning")
                self._retry(replica_set["metadata"]["namespace"], replica_set["metadata"]["name"])
                return
            self._record_event(replica_set, "SuccessfulCreate", f"Created pod: {pod['metadata']['name']}")

    def _retry(self, namespace: str, name: str) -> None:
        self.timers.set((namespace, name), RETRY_SECONDS, lambda: self.enqueue(namespace, name))

    def _record_event(self, replica_set: Object, reason: str, message: str, type_: str = "Normal") -> None:
        self._recorder.record(SOURCE, replica_set, reason, message, type_=type_)

    def _count(self, namespace: str, name: str) -> None:
        replica_set = self.store.get(KEY, namespace, name)
        pods = [pod for pod in owned_pods(self.store, replica_set) if active(pod)]
        running = sum(1 for pod in pods if ready(pod))
        counts = {
            "replicas": len(pods),
            "fullyLabeledReplicas": len(pods),
            "readyReplicas": running,
            "availableReplicas": running,
        }
        generation = replica_set["metadata"].get("generation", 1)

        def write(copy: Object) -> None:
            status = copy.setdefault("status", {})
            for field, count in counts.items():
                status[field] = count
                if count == 0 and field != "replicas":
                    del status[field]
            status["observedGeneration"] = generation

        self.store.mutate(KEY, namespace, name, write, "status")


def _deletion_key(pod: Object) -> tuple[bool, bool, bool, int, float, str]:
    """Return the key that sorts pods for deletion as the real controller does.

    Unbound, pending, not ready, cheap to delete and newest pods come first.
    """
    meta, status = pod["metadata"], pod["status"]
    try:
        cost = int((meta.get("annotations") or {}).get(DELETION_COST, "0"))
    except ValueError:
        cost = 0
    newest_first = -int(meta["creationTimestamp"].translate(_DIGITS))
    return (
        bool(pod["spec"].get("nodeName")),
        status.get("phase") == "Running",
        ready(pod),
        cost,
        newest_first,
        meta["name"],
    )


_DIGITS = str.maketrans("", "", "-:TZ")

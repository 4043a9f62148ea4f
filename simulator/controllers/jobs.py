"""The job controller: runs pods until enough have succeeded, then deletes the Job after its time to live."""

from typing import Any, ClassVar

from simulator.clock import SimulationClock
from simulator.controllers.component import Controller
from simulator.controllers.ownership import active, controller_of, create_pod, delete_pod, owned_pods, ready
from simulator.controllers.recorder import Recorder
from simulator.objects import Object, condition_true, set_condition, timestamp
from simulator.status import ApiError
from simulator.storage.store import Event, Store

KEY = "jobs.batch"
SOURCE = "job-controller"
RETRY_SECONDS = 5.0


class Jobs(Controller):
    """Creates pods while successes are missing; pods that were deleted or evicted do not count."""

    watches: ClassVar[tuple[str, ...]] = (KEY, "pods")

    def __init__(self, store: Store, clock: SimulationClock, recorder: Recorder) -> None:
        """Create the controller; it does nothing before `start`."""
        super().__init__(store, clock)
        self._recorder = recorder
        self._outcomes: dict[str, dict[str, set[str]]] = {}
        """Job uid -> phase -> uids of the pods that ended in it: they count even after they are deleted."""

    def on_event(self, event: Event) -> None:
        """Enqueue a Job when it or one of its pods has changed."""
        meta = event.object["metadata"]
        if event.key == KEY:
            if event.type == "DELETED":
                self._outcomes.pop(meta["uid"], None)
                self.timers.cancel(meta["uid"])
            self.enqueue(meta["namespace"], meta["name"])
            return
        name = controller_of(event.object, "Job")
        if name is not None:
            if event.type != "DELETED":  # its end was recorded before; the Job may be deleted by now
                self._note(event.object)
            self.enqueue(meta["namespace"], name)

    def _note(self, pod: Object) -> None:
        phase = pod["status"].get("phase")
        if phase in ("Succeeded", "Failed"):
            job = next(item["uid"] for item in pod["metadata"]["ownerReferences"] if item.get("controller"))
            self._outcomes.setdefault(job, {}).setdefault(phase, set()).add(pod["metadata"]["uid"])

    def sync(self, namespace: str, name: str) -> None:
        """Create missing pods, delete surplus ones, then update the status."""
        job = self.store.find(KEY, namespace, name)
        if job is None or "deletionTimestamp" in job["metadata"]:
            return
        pods = [pod for pod in owned_pods(self.store, job) if active(pod)]
        succeeded, failed = (self._ended(job, phase) for phase in ("Succeeded", "Failed"))
        finish = _finish(job, succeeded, failed, len(pods))
        if not _finished(job):
            desired = 0 if finish else _desired_pods(job, succeeded)
            for pod in pods[desired:]:
                delete_pod(self.store, pod)
            pods = pods[:desired] + self._create(job, desired - len(pods))
        self._count(job, pods, finish)
        self._expire(namespace, name)

    def _ended(self, job: Object, phase: str) -> int:
        return len(self._outcomes.get(job["metadata"]["uid"], {}).get(phase, ()))

    def _create(self, job: Object, count: int) -> list[Object]:
        created: list[Object] = []
        for _ in range(count):
            try:
                pod = create_pod(self.store, job)
            except ApiError as error:
                message = f"Error creating: {error.message}"
                self._recorder.record(SOURCE, job, "FailedCreate", message, type_="Warning")
                self._retry(job["metadata"]["namespace"], job["metadata"]["name"])
                break
            self._recorder.record(SOURCE, job, "SuccessfulCreate", f"Created pod: {pod['metadata']['name']}")
            created.append(pod)
        return created

    def _retry(self, namespace: str, name: str) -> None:
        self.timers.set((namespace, name), RETRY_SECONDS, lambda: self.enqueue(namespace, name))

    def _count(self, job: Object, pods: list[Object], finish: dict[str, str] | None) -> None:
        now = timestamp(self.clock.now())
        counts = {
            "active": len(pods),
            "ready": sum(1 for pod in pods if ready(pod)),
            "succeeded": self._ended(job, "Succeeded"),
            "failed": self._ended(job, "Failed"),
        }

        def write(copy: Object) -> None:
            status = copy.setdefault("status", {})
            for field, count in counts.items():
                status[field] = count
                if count == 0 and field != "ready":
                    del status[field]
            status.setdefault("startTime", now)
            if finish is not None and not _finished(copy):
                set_condition(copy, finish, now)
                if finish["type"] == "Complete":
                    status["completionTime"] = now

        meta = job["metadata"]
        self.store.mutate(KEY, meta["namespace"], meta["name"], write, "status")
        if finish is not None and not _finished(job):
            reason = "Completed" if finish["type"] == "Complete" else finish["reason"]
            self._recorder.record(SOURCE, job, reason, finish["message"])

    def _expire(self, namespace: str, name: str) -> None:
        """Start the time to live of a Job that has ended."""
        job = self.store.get(KEY, namespace, name)
        seconds, uid = job["spec"].get("ttlSecondsAfterFinished"), job["metadata"]["uid"]
        if seconds is None or not _finished(job) or uid in self.timers:
            return
        self.timers.set(uid, float(seconds), lambda: self._delete(job))

    def _delete(self, job: Object) -> None:
        meta = job["metadata"]
        try:
            self.store.delete(
                KEY, meta["namespace"], meta["name"], preconditions={"uid": meta["uid"]}, propagation="Background"
            )
        except ApiError:
            return  # it is deleted already, or another Job has its name


def _finished(job: Object) -> bool:
    return condition_true(job, "Complete") or condition_true(job, "Failed")


def _desired_pods(job: Object, succeeded: int) -> int:
    """Return how many pods should run at once now."""
    spec: dict[str, Any] = job["spec"]
    if spec.get("suspend"):
        return 0
    parallelism = int(spec.get("parallelism", 1))
    if spec.get("completions") is None:
        return 0 if succeeded else parallelism
    return min(parallelism, int(spec["completions"]) - succeeded)


def _finish(job: Object, succeeded: int, failed: int, active_pods: int) -> dict[str, str] | None:
    """Return the condition that ends a Job, None while it continues."""
    spec = job["spec"]
    if failed > int(spec.get("backoffLimit", 6)):
        message = "Job has reached the specified backoff limit"
        return {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": message}
    completions = spec.get("completions")
    done = succeeded >= int(completions) if completions is not None else bool(succeeded) and not active_pods
    if not done:
        return None
    message = "Reached expected number of succeeded pods"
    return {"type": "Complete", "status": "True", "reason": "CompletionsReached", "message": message}

"""Runs the script: round after round, Jobs arrive and ReplicaSets grow and shrink."""

import random

from simulator.clock import Pace, Timers
from simulator.kinds import POD_GROUPS
from simulator.objects import Object, clone, condition_true
from simulator.script.manifests import TEMPLATE
from simulator.script.script import Scale, Script, ScriptStep, StartJobs
from simulator.status import ApiError
from simulator.storage.store import Store

REPLICA_SETS = "replicasets.apps"
JOBS = "jobs.batch"
APPLICATION_LABELS = ("scheduler-admin.io/application", "yunikorn.apache.org/app-id", "applicationId")


class Workloads:
    """Carries out the steps at their time; the seed decides how early or late each is, round by round."""

    def __init__(self, store: Store, pace: Pace, script: Script, seed: int = 0) -> None:
        """Create the workloads; they do nothing before `start`."""
        self.script = script
        self.round = 0
        self.last_message = ""
        self._store = store
        self._pace = pace
        self._seed = seed
        self._timers = Timers(pace)
        self._begin = 0.0
        self._due: list[tuple[float, ScriptStep]] = []
        self._jobs = 0

    def start(self) -> None:
        """Begin the first round now."""
        self._begin = self._pace.elapsed()
        self._open_round()

    def stop(self) -> None:
        """Stop running the script."""
        self._timers.clear()

    @property
    def position(self) -> float:
        """Return how many seconds of the current round have passed."""
        return max(self._pace.elapsed() - self._begin, 0.0)

    @property
    def upcoming(self) -> tuple[float, str] | None:
        """Return the next step of this round: its second, and its message."""
        return (self._due[0][0], self._due[0][1].message) if self._due else None

    def frees_room_in(self) -> float | None:
        """Return in how many seconds of the clock this round next scales a ReplicaSet down, None if it does not."""
        for at, step in self._due:
            if isinstance(step.action, Scale) and self._scales_down(step.action):
                return max(at - self.position, 0.0) / self._pace.speed
        return None

    def _scales_down(self, action: Scale) -> bool:
        namespace, _, name = action.target.partition("/")
        replica_set = self._store.find(REPLICA_SETS, namespace, name)
        return replica_set is not None and action.replicas < int(replica_set["spec"].get("replicas", 1))

    def _open_round(self) -> None:
        self.round += 1
        chance = random.Random(f"{self._seed}/{self.round}")
        jitter, last = self.script.jitter, self.script.length
        moments = [(step.at + chance.uniform(-jitter, jitter) if step.at else 0.0, step) for step in self.script.steps]
        self._due = sorted(((min(max(at, 0.0), last), step) for at, step in moments), key=lambda item: item[0])
        self._arm()

    def _close_round(self) -> None:
        self._begin += self.script.length
        self._open_round()

    def _arm(self) -> None:
        if self._due:
            self._timers.set("next", self._begin + self._due[0][0] - self._pace.elapsed(), self._next)
        else:
            self._timers.set("next", self._begin + self.script.length - self._pace.elapsed(), self._close_round)

    def _next(self) -> None:
        _, step = self._due.pop(0)
        self._arm()
        self.last_message = step.message or self.last_message
        try:
            self._act(step.action)
        except ApiError:
            return  # the step's object was deleted: the script continues without it

    def _act(self, action: Scale | StartJobs) -> None:
        if isinstance(action, Scale):
            scale(self._store, action.target, action.replicas)
            return
        for _ in range(action.count):
            if _unfinished(self._store, action.template) < action.at_most:
                self._jobs += 1
                job = self._store.create(JOBS, _job(action.template, f"{self.round}-{self._jobs}"))
                if "schedulingGroup" in job["spec"]["template"]["spec"]:
                    self._store.create(POD_GROUPS, _pod_group(job))


def scale(store: Store, target: str, replicas: int) -> None:
    """Set the number of replicas of a ReplicaSet. Raises ApiError 404."""
    namespace, _, name = target.partition("/")

    def write(copy: Object) -> None:
        copy["spec"]["replicas"] = replicas

    store.mutate(REPLICA_SETS, namespace, name, write)


def _unfinished(store: Store, template: Object) -> int:
    meta = template["metadata"]
    jobs = store.list(JOBS, meta.get("namespace", "default"), f"{TEMPLATE}={meta['name']}")
    return sum(1 for job in jobs if not (condition_true(job, "Complete") or condition_true(job, "Failed")))


def _job(template: Object, suffix: str) -> Object:
    """Return a Job of a template with a name of its own, whose pods form their own application, and PodGroup if any."""
    job: Object = clone(template)
    meta = job["metadata"]
    name = meta["name"]
    meta["name"] = f"{name}-{suffix}"
    meta.setdefault("labels", {})[TEMPLATE] = name
    meta["annotations"] = {key: text for key, text in meta["annotations"].items() if key != TEMPLATE}
    labels = job["spec"]["template"].setdefault("metadata", {}).get("labels") or {}
    for label in APPLICATION_LABELS:
        if label in labels:
            labels[label] = meta["name"]
    if "schedulingGroup" in job["spec"]["template"]["spec"]:
        job["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": meta["name"]}
    return job


def _pod_group(job: Object) -> Object:
    """Return the PodGroup of a Job whose pods start together, and which is deleted with the Job."""
    meta, spec = job["metadata"], job["spec"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"], "ownerReferences": [owner]},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": spec["parallelism"]}},
            "priorityClassName": spec["template"]["spec"].get("priorityClassName", ""),
        },
    }

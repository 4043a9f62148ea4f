"""The kubelets of all nodes: they start pods that are bound, end those that are deleted, and keep nodes ready."""

import random
import re
from collections.abc import Callable
from typing import ClassVar

from simulator.clock import Pace, SimulationClock
from simulator.controllers.component import Component
from simulator.objects import Object, clone, set_condition, timestamp
from simulator.status import ApiError
from simulator.storage.store import Event, Store

EXITS_AFTER = "simulator.scheduler-admin.io/exits-after"
"""How long the pod's processes take to exit when asked to; never longer than the grace period."""
RUNS_FOR = "simulator.scheduler-admin.io/runs-for"
"""How long the pod runs before it succeeds, in the script's time."""
START_SECONDS = (0.15, 0.5)
EXIT_SECONDS = (0.5, 1.0)
FINISHED = ("Succeeded", "Failed")
DEFAULT_PODS = "110"
NODE_INFO = {
    **dict.fromkeys(("bootID", "kernelVersion", "kubeProxyVersion", "machineID", "systemUUID"), ""),
    "architecture": "amd64",
    "containerRuntimeVersion": "none://",
    "kubeletVersion": "v1.36.0",
    "operatingSystem": "linux",
    "osImage": "Simulator",
}

Change = Callable[[Object], object]

_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")


def parse_duration(text: object) -> float:
    """Return the seconds of a duration such as `40s`, `1m30s` or `2h`. Raises ValueError with a sentence."""
    match = _DURATION.fullmatch(str(text).strip())
    if match is None or not any(match.groups()):
        raise ValueError(f"{text} is not a duration such as 40s or 1m30s")
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


class Kubelets(Component):
    """The kubelets of the whole cluster. What a pod does depends on its name and the seed, not on the order of pods."""

    watches: ClassVar[tuple[str, ...]] = ("nodes", "pods")

    def __init__(self, store: Store, clock: SimulationClock, pace: Pace, seed: int = 0) -> None:
        """Create the kubelets; they do nothing before `start`. `pace` is the time in which pods run."""
        super().__init__(store, clock)
        self._pace = pace
        self._seed = seed
        self._last_address = 0

    def on_event(self, event: Event) -> None:
        """Handle a change of a node or a pod."""
        if event.key == "nodes":
            self._node_changed(event)
        else:
            self._pod_changed(event)

    # Nodes

    def _node_changed(self, event: Event) -> None:
        name = event.object["metadata"]["name"]
        if event.type == "ADDED":
            self.store.mutate("nodes", None, name, self._report)
        elif event.type == "DELETED":
            for pod in self.store.list("pods", field_selector=f"spec.nodeName={name}"):
                self.store.remove("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])

    def _report(self, node: Object) -> None:
        """Fill in what a kubelet reports of its node, unless the node has other values already."""
        node.setdefault("spec", {})
        status = node.setdefault("status", {})
        name = node["metadata"]["name"]
        node["metadata"].setdefault("labels", {}).setdefault("kubernetes.io/hostname", name)
        capacity = status.setdefault("capacity", clone(status.get("allocatable") or {}))
        capacity.setdefault("pods", DEFAULT_PODS)
        status.setdefault("allocatable", clone(capacity)).setdefault("pods", capacity["pods"])
        status.setdefault("addresses", [{"type": "Hostname", "address": name}])
        status.setdefault("nodeInfo", clone(NODE_INFO))
        if not any(item["type"] == "Ready" for item in status.get("conditions") or ()):
            ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is ready"}
            set_condition(node, ready, timestamp(self.clock.now()))

    # Pods

    def _pod_changed(self, event: Event) -> None:
        pod = event.object
        meta, uid = pod["metadata"], pod["metadata"]["uid"]
        if event.type == "DELETED":
            for timer in ("start", "finish", "end"):
                self.timers.cancel((timer, uid))
        elif not pod["spec"].get("nodeName"):
            return
        elif "deletionTimestamp" in meta:
            self._end(event)
        elif pod["status"].get("phase") == "Pending":
            if ("start", uid) not in self.timers:
                self.timers.set(("start", uid), self._chance(meta["name"], START_SECONDS), lambda: self._start(pod))
        elif pod["status"].get("phase") == "Running":
            self._let_run(pod)

    def _chance(self, name: str, bounds: tuple[float, float]) -> float:
        return random.Random(f"{self._seed}/{name}").uniform(*bounds)

    def _start(self, pod: Object) -> None:
        self._last_address += 1
        address = f"10.244.{self._last_address // 250 % 250}.{self._last_address % 250 + 1}"
        self._write(pod, lambda copy: self._run(copy, address))

    def _run(self, pod: Object, address: str) -> None:
        now = timestamp(self.clock.now())
        status = pod["status"]
        status |= {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
        status.setdefault("startTime", now)
        status["containerStatuses"] = [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": now}},
            }
            for container in pod["spec"]["containers"]
        ]
        for type_ in ("PodScheduled", "Initialized", "ContainersReady", "Ready"):
            set_condition(pod, {"type": type_, "status": "True"}, now)

    def _let_run(self, pod: Object) -> None:
        text = (pod["metadata"].get("annotations") or {}).get(RUNS_FOR)
        key = ("finish", pod["metadata"]["uid"])
        if text is None or key in self.timers:
            return
        try:
            seconds = parse_duration(text)
        except ValueError:
            return  # the annotation is invalid: the pod keeps running, as without it
        self.timers.set(key, seconds, lambda: self._write(pod, self._succeed), self._pace)

    def _succeed(self, pod: Object) -> None:
        now = timestamp(self.clock.now())
        pod["status"]["phase"] = "Succeeded"
        for container in pod["status"].get("containerStatuses") or ():
            started = container["state"].get("running", {}).get("startedAt", now)
            ended = {"exitCode": 0, "reason": "Completed", "startedAt": started, "finishedAt": now}
            container |= {"ready": False, "started": False, "state": {"terminated": ended}}
        for type_ in ("ContainersReady", "Ready"):
            set_condition(pod, {"type": type_, "status": "False", "reason": "PodCompleted"}, now)

    def _write(self, pod: Object, change: Change) -> None:
        """Write the status of a pod, unless another pod has taken its name."""
        meta = pod["metadata"]
        current = self.store.find("pods", meta["namespace"], meta["name"])
        if current is not None and current["metadata"]["uid"] == meta["uid"]:
            self.store.mutate("pods", meta["namespace"], meta["name"], change, "status")

    def _end(self, event: Event) -> None:
        """Let a pod exit after its own time, counted from the request, even if the grace period is shortened later."""
        pod, uid = event.object, event.object["metadata"]["uid"]
        grace = float(pod["metadata"].get("deletionGracePeriodSeconds", 0))
        known = event.old is not None and event.old["metadata"].get("deletionGracePeriodSeconds") == grace
        if known and ("end", uid) in self.timers:
            return
        for timer in ("start", "finish"):
            self.timers.cancel((timer, uid))
        self.timers.set(("end", uid), min(grace, self._exit_seconds(pod)), lambda: self._remove(pod))

    def _exit_seconds(self, pod: Object) -> float:
        meta = pod["metadata"]
        try:
            return parse_duration((meta.get("annotations") or {})[EXITS_AFTER])
        except (KeyError, ValueError):
            return self._chance(f"{meta['name']}/exit", EXIT_SECONDS)

    def _remove(self, pod: Object) -> None:
        meta = pod["metadata"]
        current = self.store.find("pods", meta["namespace"], meta["name"])
        if current is None or current["metadata"]["uid"] != meta["uid"]:
            return
        try:
            self.store.delete("pods", meta["namespace"], meta["name"], 0)
        except ApiError:
            return  # the owner of a finalizer was faster

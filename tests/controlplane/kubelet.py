"""A tiny kubelet for all nodes of a real control plane: bound pods run, deleted ones end after their grace period."""

import heapq
import itertools
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any, Self

from simulator.controllers.kubelet import EXITS_AFTER, RUNS_FOR, parse_duration
from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import STRATEGIC, Wire
from tests.waiting import PATIENCE_S

_PODS = "/api/v1/pods?watch=true&fieldSelector=spec.nodeName!="
_WORKERS = 4
_AGAIN_S = 0.2
_BUSY = 429
"""From this code on the server was asked too much, or is in trouble; below it the pod is another, or gone."""

Pod = dict[str, Any]
Step = Callable[[Wire], int]


class Kubelet:
    """Follows every pod between ``start`` and ``stop``: one watch, one heap of what is due, a few hands.

    A pod may say how long its processes take to end, and how long it runs until it has succeeded, in the annotations
    that the simulator's pods say it in.
    """

    def __init__(self, plane: ControlPlane, *, exits_after_s: float | None = None) -> None:
        """``exits_after_s``: how long a pod that doesn't say it takes to end, at most its grace period; None: that."""
        self._plane, self._exits_after_s = plane, exits_after_s
        self._watch = plane.wire()
        self._due: list[tuple[float, int, Step]] = []
        self._number = itertools.count()
        self._changed = threading.Condition()
        self._planned: dict[tuple[str, str], float] = {}
        """(uid, what) -> when, of all that has been planned for the pods that are there."""
        self._stuck: dict[str, Pod | None] = {}
        """namespace/name -> the pod whose end is due."""
        self._stopped = False
        hands = [threading.Thread(target=self._work, name="kubelet", daemon=True) for _ in range(_WORKERS)]
        self._threads = [threading.Thread(target=self._follow, name="kubelet-watch", daemon=True), *hands]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; pods that are there already are taken up as they are."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._watch.close()
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def stick(self, namespace: str, name: str) -> None:
        """Let a pod not end, however long ago its grace period was over, as on a node that hangs."""
        with self._changed:
            self._stuck.setdefault(f"{namespace}/{name}", None)

    def unstick(self, namespace: str, name: str) -> None:
        """Let it end, at once when that is due."""
        with self._changed:
            pod = self._stuck.pop(f"{namespace}/{name}", None)
            if pod is not None:
                self._push(0, lambda wire: self._end(wire, pod))

    # What happens to pods

    def _follow(self) -> None:
        while not self._stopped:
            with suppress(OSError, HTTPException):
                for line in self._watch.lines(_PODS):
                    event = json.loads(line)
                    with self._changed:
                        self._see(event["type"], event["object"])
            if not self._stopped:
                time.sleep(_AGAIN_S)

    def _see(self, change: str, pod: Pod) -> None:
        meta, phase = pod.get("metadata", {}), pod.get("status", {}).get("phase")
        if change == "DELETED":
            for what in ("run", "succeed", "end"):
                self._planned.pop((meta["uid"], what), None)
        elif change not in ("ADDED", "MODIFIED"):
            return
        elif "deletionTimestamp" in meta:
            self._plan(meta["uid"], "end", self._time_to_end(meta), lambda wire: self._end(wire, pod))
        elif phase == "Pending":
            self._plan(meta["uid"], "run", 0, lambda wire: _write(wire, pod, _running(pod)))
        elif phase == "Running" and (runs := (meta.get("annotations") or {}).get(RUNS_FOR)):
            self._plan(meta["uid"], "succeed", parse_duration(runs), lambda wire: _write(wire, pod, _SUCCEEDED))

    def _time_to_end(self, meta: dict[str, Any]) -> float:
        """Seconds until a pod ends: counted from when its end was asked for, also by who sees it late."""
        grace_s = float(meta.get("deletionGracePeriodSeconds", 0))
        exits = (meta.get("annotations") or {}).get(EXITS_AFTER)
        takes_s = parse_duration(exits) if exits else self._exits_after_s
        # The timestamp, that of the last moment, is cut to seconds, hence one more.
        asked_s = datetime.fromisoformat(meta["deletionTimestamp"]).timestamp() + 1 - grace_s
        late_s = max(0.0, time.time() - asked_s)
        return (grace_s if takes_s is None else min(grace_s, takes_s)) - late_s

    def _end(self, wire: Wire, pod: Pod) -> int:
        meta = pod["metadata"]
        with self._changed:
            if (place := f"{meta['namespace']}/{meta['name']}") in self._stuck:
                self._stuck[place] = pod
                return 0
        return wire.send("DELETE", _path(pod), {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}})[0]

    # What is due

    def _plan(self, uid: str, what: str, after_s: float, step: Step) -> None:
        """Once for each pod, unless it is to happen sooner than was planned."""
        when = time.monotonic() + after_s
        if when < self._planned.get((uid, what), float("inf")) - 0.5:
            self._planned[uid, what] = when
            self._push(when, step)

    def _push(self, when: float, step: Step) -> None:
        heapq.heappush(self._due, (when, next(self._number), step))
        self._changed.notify()

    def _work(self) -> None:
        wire = self._plane.wire()
        while (step := self._next()) is not None:
            try:
                code = step(wire)
            except OSError:
                wire.close()
                code = _BUSY
            if code >= _BUSY:
                with self._changed:
                    self._push(time.monotonic() + _AGAIN_S, step)
        wire.close()

    def _next(self) -> Step | None:
        with self._changed:
            while not self._stopped:
                wait_s = self._due[0][0] - time.monotonic() if self._due else None
                if wait_s is not None and wait_s <= 0:
                    return heapq.heappop(self._due)[2]
                self._changed.wait(wait_s)
        return None


def _running(pod: Pod) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    state = {"restartCount": 0, "ready": True, "started": True, "state": {"running": {"startedAt": now}}}
    containers = [
        {"name": one["name"], "image": one["image"], "imageID": "", **state} for one in pod["spec"]["containers"]
    ]
    true = {"status": "True", "lastTransitionTime": now}
    conditions = [{"type": type_, **true} for type_ in ("Initialized", "ContainersReady", "Ready")]
    return {"phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": containers}


_UNREADY = {"status": "False", "reason": "PodCompleted"}
_SUCCEEDED = {
    "phase": "Succeeded",
    "conditions": [{"type": type_, **_UNREADY} for type_ in ("ContainersReady", "Ready")],
}


def _write(wire: Wire, pod: Pod, status: dict[str, Any]) -> int:
    body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
    return wire.send("PATCH", f"{_path(pod)}/status", body, STRATEGIC)[0]


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

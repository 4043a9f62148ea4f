"""A tiny kubelet for all nodes of a real control plane: bound pods run, deleted ones end after their grace period."""

import threading
import time
from typing import Any

from tests.controlplane.plane import ControlPlane

_MERGE = "application/strategic-merge-patch+json"


class Kubelet:
    """Follows every pod between ``start`` and ``stop``."""

    def __init__(self, plane: ControlPlane, *, exits_after_s: float | None = None) -> None:
        """``exits_after_s``: how long a pod takes to end, at most its own grace period; None: all of that."""
        self._plane, self._exits_after_s = plane, exits_after_s
        self._ends: dict[str, float] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="kubelet", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stopped.set()
        self._thread.join(10)

    def _follow(self) -> None:
        while not self._stopped.wait(0.1):
            pods = self._plane.get("/api/v1/pods?fieldSelector=spec.nodeName!=")
            for pod in (pods or {}).get("items", []):
                if pod["metadata"].get("deletionTimestamp"):
                    self._end(pod)
                elif pod.get("status", {}).get("phase") == "Pending":
                    self._run(pod)

    def _run(self, pod: dict[str, Any]) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": now}
        status = {"phase": "Running", "startTime": now, "conditions": [ready]}
        self._plane.request("PATCH", f"{_path(pod)}/status", {"status": status}, _MERGE)

    def _end(self, pod: dict[str, Any]) -> None:
        meta = pod["metadata"]
        grace_s = float(meta.get("deletionGracePeriodSeconds", 30))
        wait_s = grace_s if self._exits_after_s is None else min(grace_s, self._exits_after_s)
        due = self._ends.setdefault(meta["uid"], time.monotonic() + wait_s)
        if time.monotonic() >= due:
            body = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
            self._plane.request("DELETE", _path(pod), body)


def _path(pod: dict[str, Any]) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

"""The load: asks that arrive one after the other, and newcomers who would have the room that is made for them."""

import random
import time
from collections.abc import Collection
from typing import Any

from tests.controlplane.wire import Wire
from tests.enforce.contest_scene import ASKERS, BORROWERS, CORES, OTHERS, POD_CORES, Document, Scene, a_newcomer, an_ask

_FINISHED = ("Succeeded", "Failed")


class Load:
    """Drawn from a seed. What meets what depends on the clock, too: a cluster is never twice the same.

    In a stream, asks and newcomers come and end all the time. In waves, so many asks come one after the other, and
    nothing but victims ends until the last of them has a node, or is lost; then asks and newcomers go, and once the
    borrowers have filled the cluster again the next wave comes.
    """

    def __init__(self, wire: Wire, scene: Scene, seed: int) -> None:
        self._wire, self._scene = wire, scene
        self._dice = random.Random(seed)
        self._made = 0
        self._to_come = scene.asks
        """Asks of this wave."""
        self._next_ask = self._next_newcomer = 0.0

    def full(self) -> bool:
        """Whether the borrowers hold all there is, and more of them wait."""
        pods = self._pods(BORROWERS)
        held = sum(1 for pod in pods if "nodeName" in pod["spec"] and "deletionTimestamp" not in pod["metadata"])
        return held == self._scene.nodes * CORES // POD_CORES and len(pods) > held

    def step(self, *, lost: Collection[str], asks: bool, settled: bool) -> None:
        """See what has ended, and let come who comes. ``lost``: the asks (uids) that were decided for in vain.

        A lost ask goes away: what it would wait through next is our cool-down. Without ``asks`` none comes any more.
        ``settled``: no decision is open.
        """
        waiting = [pod for pod in self._there(ASKERS, lost) if "nodeName" not in pod["spec"]]
        if not self._scene.stream and settled and not waiting and not self._to_come:
            self._end_wave()
            return
        now = time.monotonic()
        if asks and now >= self._next_ask and (len(waiting) < self._scene.asks and self._to_come):
            self._make(ASKERS, an_ask(self._number(), self._scene, self._dice))
            self._to_come -= not self._scene.stream
            self._next_ask = now + self._dice.uniform(0.1, 0.6)
        elif not asks:
            self._to_come = 0
        if self._scene.newcomers and now >= self._next_newcomer:
            self._newcomer()
            self._next_newcomer = now + self._dice.uniform(0.1, 0.8)

    def _newcomer(self) -> None:
        priority = self._dice.choice(self._scene.newcomers)
        pods = self._there(OTHERS)
        alike = [one for one in pods if one["spec"]["priorityClassName"] == priority and "nodeName" not in one["spec"]]
        if len(alike) < self._scene.crowd:
            self._make(OTHERS, a_newcomer(self._number(), priority, self._scene, self._dice))

    def _end_wave(self) -> None:
        for pod in [*self._there(ASKERS), *self._there(OTHERS)]:
            self._end(pod)
        if self.full():
            self._to_come = self._scene.asks

    def _there(self, namespace: str, lost: Collection[str] = ()) -> list[Document]:
        """The pods that neither have ended nor are about to; what has ended, and lost asks, are cleared away."""
        found = []
        for pod in self._pods(namespace):
            is_lost = pod["metadata"]["uid"] in lost and "nodeName" not in pod["spec"]
            if "deletionTimestamp" in pod["metadata"]:
                continue
            if is_lost or pod["status"].get("phase") in _FINISHED:
                self._end(pod)
            else:
                found.append(pod)
        return found

    def _end(self, pod: Document) -> None:
        meta = pod["metadata"]
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
        self._wire.send("DELETE", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}", body)

    def _pods(self, namespace: str) -> list[dict[str, Any]]:
        code, found = self._wire.send("GET", f"/api/v1/namespaces/{namespace}/pods")
        assert code == 200, found
        items: list[dict[str, Any]] = found["items"]
        return items

    def _make(self, namespace: str, pod: Document) -> None:
        code, said = self._wire.send("POST", f"/api/v1/namespaces/{namespace}/pods", pod)
        assert code == 201, said

    def _number(self) -> int:
        self._made += 1
        return self._made

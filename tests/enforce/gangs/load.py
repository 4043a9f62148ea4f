"""The load: gangs that arrive, newcomers who would have their room, and pods and nodes that vanish meanwhile."""

import time
from collections.abc import Collection
from typing import Any

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from tests.controlplane.wire import MERGE, Wire
from tests.enforce.contest_load import Load
from tests.enforce.contest_scene import OTHERS, Document
from tests.enforce.gangs.scene import ASKERS, GROUPS, Gang, GangScene, a_gang

_PATIENCE_S = 25.0
"""So long after the last gang of a wave came, one for which nothing is decided is given up."""
_AWAY_S = 3.0
"""So long a node that vanished stays away."""
_FAULT_S = (3.0, 7.0)


class GangLoad(Load):
    """Drawn from a seed, in waves as its base class has them, of gangs in place of single pods."""

    def __init__(self, wire: Wire, scene: GangScene, seed: int) -> None:
        super().__init__(wire, scene, seed)
        self._gangs = dict[str, Gang]()
        self._away = list[tuple[float, Document]]()
        self._next_fault = self._came = 0.0
        self._faults = scene.faults
        self.nodes = dict[str, str]()
        """Pod of a gang (name) -> the node that it last ran on."""
        self.vanished = {"pods": 0, "nodes": 0}

    def step_gangs(self, *, lost: Collection[str], asks: bool, settled: bool) -> None:
        """See what has ended, and let come who comes. ``lost``: the gangs (names) that were decided for in vain.

        A lost gang goes away. Without ``asks`` none comes any more. ``settled``: no decision is open.
        """
        now = time.monotonic()
        self._bring_back(now)
        pods = self._seen()
        for name in self._gangs.keys() & set(lost):
            self._end_gang(name)
        waiting = [gang for gang in self._gangs.values() if _bound(gang, pods) < gang.needed]
        over = not waiting or (settled and now - self._came > _PATIENCE_S)
        if settled and over and not self._to_come:
            self._end_gangs()
            return
        if asks and self._to_come and now >= self._next_ask:
            self._bring(a_gang(self._number(), self._dice))
            self._to_come -= 1
            self._next_ask, self._came = now + self._dice.uniform(0.1, 1.0), now
        elif not asks:
            self._to_come = 0
        if now >= self._next_newcomer:
            self._newcomer()
            self._next_newcomer = now + self._dice.uniform(0.1, 0.8)
        if not settled and now >= self._next_fault:
            self._next_fault = now + self._dice.uniform(*_FAULT_S)
            if self._dice.random() < self._faults:
                self._fault(waiting)

    def close(self) -> None:
        """Bring back every node, and end every gang."""
        self._bring_back(float("inf"))
        self._seen()

    # Gangs

    def _bring(self, gang: Gang) -> None:
        self._gangs[gang.name] = gang
        self._post(GROUPS.format(namespace=ASKERS), gang.group)
        for pod in gang.pods:
            self._make(ASKERS, pod)

    def _end_gang(self, name: str) -> None:
        gang = self._gangs.pop(name)
        for pod in gang.names:
            self._wire.send("DELETE", f"/api/v1/namespaces/{ASKERS}/pods/{pod}", {"gracePeriodSeconds": 0})
        self._wire.send("DELETE", f"{GROUPS.format(namespace=ASKERS)}/{name}")

    def _end_gangs(self) -> None:
        for name in list(self._gangs):
            self._end_gang(name)
        for pod in self._there(OTHERS):
            self._end(pod)
        if not self._away and self.full():
            self._to_come = self._scene.asks

    def _seen(self) -> dict[str, str]:
        """Pod of a gang that is there (name) -> its node, or nothing; kept of those that have one."""
        pods = {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in self._pods(ASKERS)}
        self.nodes |= {name: node for name, node in pods.items() if node}
        return pods

    # Faults

    def _fault(self, waiting: list[Gang]) -> None:
        nodes = [node for node in self._nodes() if reservations(node)]
        if self._dice.random() < 0.5 and nodes:
            self._take_away(self._dice.choice(nodes))
        elif waiting:
            gang = self._dice.choice(waiting)
            pod = self._dice.choice(sorted(gang.names))
            self._wire.send("DELETE", f"/api/v1/namespaces/{ASKERS}/pods/{pod}", {"gracePeriodSeconds": 0})
            self.vanished["pods"] += 1

    def _take_away(self, node: Document) -> None:
        """Let a node vanish with all that runs there; it comes back empty."""
        name = node["metadata"]["name"]
        self._wire.send("DELETE", f"/api/v1/nodes/{name}")
        code, found = self._wire.send("GET", f"/api/v1/pods?fieldSelector=spec.nodeName={name}")
        assert code == 200, found
        for pod in found["items"]:
            self._end(pod)
        self.vanished["nodes"] += 1
        new = {"metadata": {"name": name}, "status": {key: node["status"][key] for key in _KEPT}}
        self._away.append((time.monotonic() + self._dice.choice((0.0, _AWAY_S)), new))

    def _bring_back(self, now: float) -> None:
        for due in [each for each in self._away if each[0] <= now]:
            self._away.remove(due)
            node = {"apiVersion": "v1", "kind": "Node", **due[1]}
            self._post("/api/v1/nodes", node)
            path = f"/api/v1/nodes/{node['metadata']['name']}/status"
            self._wire.send("PATCH", path, {"status": node["status"]}, MERGE)

    def _nodes(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._wire.send("GET", "/api/v1/nodes")[1]["items"]
        return items

    def _post(self, path: str, document: Document) -> None:
        code, answer = self._wire.send("POST", path, document)
        assert code == 201, answer


_KEPT = ("capacity", "allocatable", "conditions")


def _bound(gang: Gang, pods: dict[str, str]) -> int:
    return sum(1 for name in gang.names if pods.get(name))


def reservations(node: Document) -> list[str]:
    """Return the values of our taints on a node."""
    return [one["value"] for one in node["spec"].get("taints") or () if one["key"] == RESERVED_TAINT_KEY]

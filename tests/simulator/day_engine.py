"""An engine in a few lines, for the simulated day: plans every second, audits, keeps the room by a taint, evicts."""

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from engine.formats.kubernetes.decode import cluster_state
from engine.formats.yunikorn.read import read
from engine.model.decision import Outcome
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Protection, Reservation, Snapshot
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies.fence import FENCE, Parameters
from simulator.clock import ManualClock
from simulator.cluster import SimulatedCluster

DEMO = Path(__file__).parents[2] / "demo"
DECIDE = FENCE.decider(Parameters())
TAINT = "scheduler-admin.io/reserved-for"


def demo_tree() -> QueueTree:
    """Return the tree of demo/queues.yaml."""
    return read((DEMO / "queues.yaml").read_text(encoding="utf-8")).tree


def demo_cluster(clock: ManualClock, seed: int = 1) -> SimulatedCluster:
    """Return the demo's cluster, not begun."""
    return SimulatedCluster([DEMO / "manifests"], DEMO / "day.yaml", seed=seed, clock=clock)


@dataclass
class DayEngine:
    """Works on a cluster of a manual clock; `carried_out` holds what it did, `last` the latest pass."""

    cluster: SimulatedCluster
    clock: ManualClock
    tree: QueueTree = field(default_factory=demo_tree)
    carried_out: list[tuple[float, AuditedDecision]] = field(default_factory=list)
    refused: list[AuditedDecision] = field(default_factory=list)
    last: list[AuditedDecision] = field(default_factory=list)
    held: dict[str, list[Reservation]] = field(default_factory=dict)

    def run(self, seconds: int) -> None:
        """Let time pass with a pass every second."""
        for _ in range(seconds):
            self.clock.advance(1.0)
            self.work()

    def snapshot(self) -> Snapshot:
        """Return the cluster as it is now."""
        store = self.cluster.store
        keys = ("nodes", "pods", "podgroups.scheduling.k8s.io", "priorityclasses.scheduling.k8s.io",
                "poddisruptionbudgets.policy")  # fmt: skip
        state, *_ = cluster_state(obj for key in keys for obj in store.list(key))
        now_ms = int(self.clock.now().timestamp() * 1000)
        reservations = tuple(chain.from_iterable(self.held.values()))
        return state.snapshot(self.tree, now_ms=now_ms, protection=Protection(), reservations=reservations)

    def work(self) -> None:
        """Do one pass."""
        self._release()
        snapshot = self.snapshot()
        self.last = plan(snapshot, self.tree, DECIDE)
        for considered in self.last:
            if considered.decision.outcome is not Outcome.PREEMPT:
                continue
            if considered.refused:
                self.refused.append(considered)
                continue
            self._carry_out(considered, [pod for pod in snapshot.asks if pod.uid in considered.decision.nodes])

    def _carry_out(self, considered: AuditedDecision, asks: list[Pod]) -> None:
        store, nodes, uid = self.cluster.store, considered.decision.nodes, considered.decision.ask.uid
        taint = {"key": TAINT, "value": uid, "effect": "NoSchedule"}
        for node in set(nodes.values()):
            store.mutate("nodes", None, node, lambda copy: copy["spec"].setdefault("taints", []).append(taint))
        toleration = {"key": TAINT, "operator": "Equal", "value": uid, "effect": "NoSchedule"}
        for ask in asks:
            store.mutate("pods", ask.namespace, ask.name, lambda copy: copy["spec"]["tolerations"].append(toleration))
        for victim in considered.decision.victims:
            store.evict(victim.pod.namespace, victim.pod.name)
        self.held[uid] = [
            Reservation(ask_uid=ask.uid, node=nodes[ask.uid], queue=ask.queue or "", requests=ask.requests)
            for ask in asks
        ]
        self.carried_out.append((self.clock.monotonic(), considered))

    def _release(self) -> None:
        waiting = {pod["metadata"]["uid"] for pod in self.cluster.store.list("pods") if _waits(pod)}
        for uid, reservations in list(self.held.items()):
            if not any(reservation.ask_uid in waiting for reservation in reservations):
                for node in {reservation.node for reservation in reservations}:
                    self.cluster.store.mutate("nodes", None, node, lambda copy, uid=uid: _untaint(copy, uid))
                del self.held[uid]


def _waits(pod: dict[str, Any]) -> bool:
    return not pod["spec"].get("nodeName")


def _untaint(node: dict[str, Any], uid: str) -> None:
    node["spec"]["taints"] = [taint for taint in node["spec"]["taints"] if taint.get("value") != uid]

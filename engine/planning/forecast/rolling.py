"""Rolls a cluster forward from pass to pass, as its controllers and its scheduler would."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.feasibility.plain import refusal
from engine.model.decision import PodFacts
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning.forecast.outcome import AGAIN, ClusterChange, PlacedPod, origin
from engine.planning.forecast.scheduling import placement_attempts
from engine.planning.forecast.signature import Shapes
from engine.planning.journal import PassInputs
from engine.planning.reclaim_notices import updated_notices
from engine.planning.scheduling_pass import AuditedDecision
from engine.policies.common.policy_types import MAKES_ROOM
from engine.policies.common.safeguards import selects

_A_LITTLE_MS = 1_000


def without_reservations(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Return the nodes by name, without any reservation."""
    return {name: _unreserved(node) for name, node in nodes.items()}


def _unreserved(node: Node) -> Node:
    taints = tuple(taint for taint in node.taints if taint.key != RESERVED_TAINT_KEY)
    return node if len(taints) == len(node.taints) else msgspec.structs.replace(node, taints=taints)


class RollingCluster:
    """The cluster between two rounds. It begins as a copy; pods that come back are named after those they replace."""

    def __init__(self, state: ClusterState, moment: PassInputs) -> None:
        self.state = state.copy()
        self.moment = moment
        self._times: dict[str, int] = {}
        """Original uid -> how often the pod came back."""
        self._shapes = Shapes()
        self._budgets = dict(self.state.budgets)
        self._fewer: Counter[tuple[str, str]] = Counter()
        """Disruption budget -> how many fewer of its pods run than at the beginning."""

    def move_on(
        self, snapshot: Snapshot, considered: Iterable[AuditedDecision], number: int
    ) -> tuple[int, tuple[PlacedPod, ...]]:
        """Carry out a round's decisions on its ``snapshot``; return how many pods exited, and those placed.

        Then enough time passes for every delay and every grace period.
        """
        exited, placed = self.carry_out(snapshot, considered, number)
        self._pass_time(snapshot.tree)
        return exited, placed

    def carry_out(
        self, snapshot: Snapshot, considered: Iterable[AuditedDecision], number: int
    ) -> tuple[int, tuple[PlacedPod, ...]]:
        """Carry out the decisions of a round as ``move_on`` does, without letting time pass.

        The effects of open decisions come first, then those of this round, then pods that simply fit. Pods that were
        granted quota run where there is enough room.
        """
        considered = tuple(considered)
        notices = updated_notices(snapshot.notices, (audited.decision for audited in considered), snapshot.now_ms)
        self.moment = msgspec.structs.replace(self.moment, notices=notices)
        decided = [audited.decision for audited in considered if not audited.refused and not audited.hold]
        preemptions = [decision for decision in decided if decision.evicts]
        victims = {verdict.pod.uid for decision in preemptions for verdict in decision.victims}
        exited = self._remove_pods(victims | self.moment.going)
        self._release_nodes()
        fitting = [decision for decision in decided if decision.outcome in MAKES_ROOM and not decision.evicts]
        placements = [(held.ask_uid, held.node) for held in self.moment.reservations]
        placements += [place for decision in (*preemptions, *fitting) for place in decision.nodes.items()]
        pending = {pod.uid: pod for pod in snapshot.asks}
        bound = self.bind((uid, node) for uid, node in placements if uid in pending)
        admitted = (pending[pod.uid] for decision in decided for pod in decision.admits if pod.uid in pending)
        bound += self.bind(placement_attempts(self._snapshot(), admitted, self.state))
        self._recount(exited, [self.state.pods[uid] for uid, _ in bound])
        placed = tuple(PlacedPod(round=number, ask=PodFacts.of(pending[uid]), node=node) for uid, node in bound)
        for pod in exited:
            if pod.controller and not (pod.terminating or pod.finished):
                self.recreate(pod)
        self._mark_tried()
        return len(exited), placed

    def _recount(self, exited: Iterable[Pod], arrived: Iterable[Pod]) -> None:
        """Reduce what budgets allow by their pods that no longer run, as the cluster counts them."""
        if not self._budgets:
            return
        for pods, change in ((exited, 1), (arrived, -1)):
            for pod in pods:
                if pod.node is None or pod.terminating or pod.finished:
                    continue
                for key, budget in self._budgets.items():
                    self._fewer[key] += change * (selects(budget, pod) and pod.name not in budget.disrupted)
        self.state.budgets.update(
            (key, msgspec.structs.replace(budget, allowed=max(0, budget.allowed - max(0, self._fewer[key]))))
            for key, budget in self._budgets.items()
        )

    def apply_changes(self, changes: Iterable[ClusterChange]) -> None:
        """Apply other changes, before a round reads the cluster."""
        for change in changes:
            ends = set(change.ends)
            for uid in [uid for uid in self.state.pods if origin(uid) in ends]:
                del self.state.pods[uid]
            for pod in change.arrives:
                now_ms = self.moment.now_ms
                self.state.pods[pod.uid] = msgspec.structs.replace(pod, created_ms=now_ms, unschedulable_ms=None)

    def recreate(self, pod: Pod) -> None:
        """Let a pod's controller create it again: the same except for its name, and pending."""
        first = origin(pod.uid)
        self._times[first] = times = self._times.get(first, 0) + 1
        recreated = msgspec.structs.replace(
            pod,
            uid=f"{first}{AGAIN}{times}",
            name=f"{origin(pod.name)}{AGAIN}{times}",
            created_ms=self.moment.now_ms,
            started_ms=None,
            node=None,
            nominated_node="",
            unschedulable_ms=self.moment.now_ms,
            unschedulable_message="",
            disruption="",
            disrupted_ms=None,
            disruption_message="",
        )
        self.state.pods[recreated.uid] = recreated

    def bind(self, placements: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Bind pods (uid) to the nodes found for them, one after the other; return those bound, as room may run out.

        A pod may have several nodes to try.
        """
        before = self._snapshot()
        arrived: list[Pod] = []
        placed = []
        for uid, name in placements:
            pod, node = self.state.pods.get(uid), self.state.nodes.get(name)
            if pod is None or node is None or pod.node is not None or not node.ready:
                continue
            if refusal(before, pod, node, added_pods=arrived, nominated=False) is not None:
                continue
            bound = msgspec.structs.replace(
                pod, node=name, started_ms=self.moment.now_ms, unschedulable_ms=None, unschedulable_message=""
            )
            self.state.pods[uid] = bound
            arrived.append(bound)
            placed.append((uid, name))
        return placed

    def signature(self) -> bytes:
        """Return the state's signature: equal signatures continue in the same way."""
        return self._shapes.signature(pod for pod in self.state.pods.values() if not pod.finished)

    def _remove_pods(self, uids: Iterable[str]) -> list[Pod]:
        """Remove the pods that are evicted or already terminating, and return them."""
        pods = self.state.pods
        leaving = {uid for uid, pod in pods.items() if pod.terminating} | {uid for uid in uids if uid in pods}
        return [pods.pop(uid) for uid in sorted(leaving)]

    def _release_nodes(self) -> None:
        """Remove all reservations: their pods are bound, or never will be."""
        self.state.nodes.update(without_reservations(self.state.nodes))

    def _snapshot(self) -> Snapshot:
        """Return the part of the state that placement reads."""
        state = self.state
        pods = tuple(pod for pod in state.pods.values() if pod.node is not None and not pod.finished)
        return Snapshot(
            now_ms=self.moment.now_ms,
            nodes=tuple(state.nodes.values()),
            pods=pods,
            namespaces=state.namespace_labels,
            claims=state.claims,
            volumes=state.volumes,
            groups=state.scheduling_groups,
        )

    def _mark_tried(self) -> None:
        """Mark every pending pod as tried by the scheduler by now."""
        now_ms = self.moment.now_ms
        for uid, pod in self.state.pods.items():
            waits = pod.node is None and not pod.gated and not pod.finished
            if waits and (pod.unschedulable_ms is None or pod.unschedulable_ms > now_ms):
                self.state.pods[uid] = msgspec.structs.replace(pod, unschedulable_ms=now_ms)

    def _pass_time(self, tree: QueueTree) -> None:
        """Let so much time pass that every pod has waited long enough when the next round begins."""
        protection = self.moment.protection
        delays = (tree.delay_ms(leaf, inherited=above) for leaf in tree.leaves for above in (False, True))
        later_ms = self.moment.now_ms + max(*delays, protection.min_run_ms) + _A_LITTLE_MS
        self.moment = msgspec.structs.replace(
            self.moment, now_ms=later_ms, reservations=(), going=frozenset(), holds={}
        )

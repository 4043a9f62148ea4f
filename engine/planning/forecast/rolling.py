"""A cluster moved on from pass to pass, as its controllers and its scheduler would move it."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.feasibility.plain import refusal
from engine.model.decision import Outcome, PodFacts
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning.forecast.outcome import AGAIN, ClusterChange, PlacedPod, origin
from engine.planning.forecast.scheduling import tries
from engine.planning.forecast.signature import Shapes
from engine.planning.journal import PassInputs
from engine.planning.reclaim_notices import followed
from engine.planning.scheduling_pass import AuditedDecision
from engine.policies.common.safeguards import selects

_A_LITTLE_MS = 1_000


def unreserved(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Nodes by name, kept for no ask."""
    return {name: _unreserved(node) for name, node in nodes.items()}


def _unreserved(node: Node) -> Node:
    kept = tuple(taint for taint in node.taints if taint.key != RESERVED_TAINT_KEY)
    return node if len(kept) == len(node.taints) else msgspec.structs.replace(node, taints=kept)


class Rolling:
    """The cluster between two rounds. It begins as a copy; pods that come back are named after those they replace."""

    def __init__(self, state: ClusterState, moment: PassInputs) -> None:
        self.state = state.copy()
        self.moment = moment
        self._times: dict[str, int] = {}
        """Origin -> how often it came back."""
        self._shapes = Shapes()
        self._budgets = dict(self.state.budgets)
        self._fewer: Counter[tuple[str, str]] = Counter()
        """Disruption budget -> how many fewer of its pods run than when it began."""

    def move_on(
        self, seen: Snapshot, considered: Iterable[AuditedDecision], number: int
    ) -> tuple[int, tuple[PlacedPod, ...]]:
        """Carry out what a round decided on what it had ``seen``; how many pods left, and who got a node.

        Then enough time passes for every delay and every grace period.
        """
        left, placed = self.carry_out(seen, considered, number)
        self._pass_time(seen.tree)
        return left, placed

    def carry_out(
        self, seen: Snapshot, considered: Iterable[AuditedDecision], number: int
    ) -> tuple[int, tuple[PlacedPod, ...]]:
        """As ``move_on``, and no time passes.

        Decisions that were open come about first, then those of this round, then asks that simply fit. Who was given
        quota runs where there is room.
        """
        considered = tuple(considered)
        told = followed(seen.notices, (one.decision for one in considered), seen.now_ms)
        self.moment = msgspec.structs.replace(self.moment, notices=told)
        decided = [one.decision for one in considered if not one.refused and not one.hold]
        taken = [decision for decision in decided if decision.evicts]
        victims = {verdict.pod.uid for decision in taken for verdict in decision.victims}
        left = self._leave(victims | self.moment.going)
        self._release_nodes()
        fitting = [decision for decision in decided if decision.outcome is Outcome.FITS]
        wanted = [(held.ask_uid, held.node) for held in self.moment.reservations]
        wanted += [(decision.ask.uid, decision.node or "") for decision in (*taken, *fitting)]
        asks = {ask.uid: ask for ask in seen.asks}
        bound = self.bind((uid, node) for uid, node in wanted if uid in asks)
        admitted = (asks[pod.uid] for decision in decided for pod in decision.admits if pod.uid in asks)
        bound += self.bind(tries(self._frozen(), admitted, self.state))
        self._recount(left, [self.state.pods[uid] for uid, _ in bound])
        placed = tuple(PlacedPod(round=number, ask=PodFacts.of(asks[uid]), node=node) for uid, node in bound)
        for pod in left:
            if pod.controller and not (pod.terminating or pod.finished):
                self.come_back(pod)
        self._tried()
        return len(left), placed

    def _recount(self, left: Iterable[Pod], come: Iterable[Pod]) -> None:
        """Budgets allow for fewer disruptions by the pods that no longer run, as the cluster counts them."""
        if not self._budgets:
            return
        for pods, more in ((left, 1), (come, -1)):
            for pod in pods:
                if pod.node is None or pod.terminating or pod.finished:
                    continue
                for key, budget in self._budgets.items():
                    self._fewer[key] += more * (selects(budget, pod) and pod.name not in budget.disrupted)
        self.state.budgets.update(
            (key, msgspec.structs.replace(budget, allowed=max(0, budget.allowed - max(0, self._fewer[key]))))
            for key, budget in self._budgets.items()
        )

    def happen(self, happenings: Iterable[ClusterChange]) -> None:
        """What comes about besides, before a round looks at the cluster."""
        for one in happenings:
            ends = set(one.ends)
            for uid in [uid for uid in self.state.pods if origin(uid) in ends]:
                del self.state.pods[uid]
            for pod in one.arrives:
                now_ms = self.moment.now_ms
                self.state.pods[pod.uid] = msgspec.structs.replace(pod, created_ms=now_ms, unschedulable_ms=None)

    def come_back(self, pod: Pod) -> None:
        """Its controller makes it again: the same but for its name, and waiting for a node."""
        first = origin(pod.uid)
        self._times[first] = times = self._times.get(first, 0) + 1
        again = msgspec.structs.replace(
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
        self.state.pods[again.uid] = again

    def bind(self, wanted: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Give asks (uid) the nodes found for them, one after the other; those that got them: room may have run out.

        An ask may be given several to try.
        """
        before = self._frozen()
        come: list[Pod] = []
        placed = []
        for uid, name in wanted:
            ask, node = self.state.pods.get(uid), self.state.nodes.get(name)
            if ask is None or node is None or ask.node is not None or not node.ready:
                continue
            if refusal(before, ask, node, come=come, nominated=False) is not None:
                continue
            bound = msgspec.structs.replace(
                ask, node=name, started_ms=self.moment.now_ms, unschedulable_ms=None, unschedulable_message=""
            )
            self.state.pods[uid] = bound
            come.append(bound)
            placed.append((uid, name))
        return placed

    def signature(self) -> bytes:
        """A state that has it again goes on as it did before."""
        return self._shapes.signature(pod for pod in self.state.pods.values() if not pod.finished)

    def _leave(self, uids: Iterable[str]) -> list[Pod]:
        """Those who are told to go, and those who were going anyway, are gone."""
        pods = self.state.pods
        leaving = {uid for uid, pod in pods.items() if pod.terminating} | {uid for uid in uids if uid in pods}
        return [pods.pop(uid) for uid in sorted(leaving)]

    def _release_nodes(self) -> None:
        """Nodes are no longer kept for asks: those are bound, or never will be."""
        self.state.nodes.update(unreserved(self.state.nodes))

    def _frozen(self) -> Snapshot:
        """What placing has to look at."""
        state = self.state
        pods = tuple(pod for pod in state.pods.values() if pod.node is not None and not pod.finished)
        return Snapshot(
            now_ms=self.moment.now_ms,
            nodes=tuple(state.nodes.values()),
            pods=pods,
            namespaces=state.namespace_labels,
            claims=state.claims,
            volumes=state.volumes,
        )

    def _tried(self) -> None:
        """Everybody who waits was tried by now."""
        now_ms = self.moment.now_ms
        for uid, pod in self.state.pods.items():
            waits = pod.node is None and not pod.gated and not pod.finished
            if waits and (pod.unschedulable_ms is None or pod.unschedulable_ms > now_ms):
                self.state.pods[uid] = msgspec.structs.replace(pod, unschedulable_ms=now_ms)

    def _pass_time(self, tree: QueueTree) -> None:
        """Everybody has waited long enough when the next round begins."""
        protection = self.moment.protection
        delays = (tree.delay_ms(leaf, inherited=above) for leaf in tree.leaves for above in (False, True))
        later_ms = self.moment.now_ms + max(*delays, protection.min_run_ms) + _A_LITTLE_MS
        self.moment = msgspec.structs.replace(
            self.moment, now_ms=later_ms, reservations=(), going=frozenset(), holds={}
        )

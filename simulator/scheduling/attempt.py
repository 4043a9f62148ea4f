"""A single attempt to place a pod: the nodes that fit, why others don't, and the victims of its preemption."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.feasibility.node_rules import first_unbound_claim
from engine.model.decision import NodeReason
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import units_of
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.node_candidates import find_node_candidates
from engine.policies.priority.trace import node_verdict
from simulator.scheduling import wording
from simulator.scheduling.occupancy import Occupancy, with_name_as_uid


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The node to make room on and its victims; without a node the reason, and whether the pod may preempt at all."""

    node: str = ""
    victims: tuple[Pod, ...] = ()
    message: str = ""
    eligible: bool = True


class Attempt:
    """Tries a pod on every node, with the engine's rules, and reports in kube-scheduler's words."""

    def __init__(self, snapshot: Snapshot, pod: Pod) -> None:
        """Evaluate every node."""
        self.pod = pod
        units = units_of(snapshot) if snapshot.groups else None
        self._attempt = PriorityAttempt(snapshot, with_name_as_uid(pod), units)
        self._nodes, self._claims = snapshot.nodes, snapshot.claims
        self.feasible = tuple(node.name for node, fits in zip(snapshot.nodes, self._attempt.fits, strict=True) if fits)

    @cached_property
    def _refused(self) -> list[tuple[int, NodeReason]]:
        refusing, feasibility = self._attempt.refusing, self._attempt.feasibility
        places = np.flatnonzero(refusing != FITS).tolist()
        return [(place, feasibility.refusal(int(refusing[place]), place).reason) for place in places]

    @cached_property
    def _unbound(self) -> str:
        """Return the pod's first claim that is not bound; then no node is examined and preemption is not considered."""
        return first_unbound_claim(self._attempt.snapshot, self.pod) or ""

    @property
    def reasons(self) -> frozenset[NodeReason]:
        """Return why nodes were rejected; this determines which events can help the pod."""
        return frozenset(reason for _, reason in self._refused)

    @property
    def message(self) -> str:
        """Return the message why no node fits.

        Source: FitError.Error of kube-scheduler (pkg/scheduler/framework, types.go).
        """
        if not self._nodes:
            return wording.NO_NODES
        if self._unbound:
            known = (self.pod.namespace, self._unbound) in self._claims
            return wording.unbound_claim("" if known else self._unbound, len(self._nodes))
        messages = (words for place, reason in self._refused for words in self._node_messages(place, reason))
        return wording.no_nodes_available(messages, len(self._nodes))

    def _node_messages(self, place: int, reason: NodeReason, *, emptied: bool = False) -> Iterator[str]:
        """Yield a node's messages; `emptied`: as if all preemptable pods had exited."""
        if reason not in (NodeReason.TOO_SMALL, NodeReason.INSUFFICIENT):
            yield wording.WORDS[reason]
            return
        columns = self._attempt.columns
        evicted = [row for row in columns.rows(place) if emptied and self._attempt.candidates[row]]
        for limit in self._attempt.feasibility.limits:
            if limit.reason is NodeReason.INSUFFICIENT:
                held = limit.held[place] + limit.added.get(place, 0) - sum(limit.weight[row] for row in evicted)
                if held > limit.cap[place]:
                    yield wording.insufficient_resource(limit.detail)

    def preemption(self) -> AttemptResult:
        """Return the victims for a pod that fits on no node.

        Source: Evaluator.Preempt of kube-scheduler (framework/preemption, preemption.go).
        """
        if self._unbound:
            return AttemptResult()
        if self.pod.never_preempts:
            return AttemptResult(message=wording.NEVER, eligible=False)
        if self._attempt.waits_for_victims():
            return AttemptResult(message=wording.TERMINATING, eligible=False)
        node_candidates = find_node_candidates(self._attempt)
        best = node_candidates.best
        if best is not None:
            victims = tuple(self._attempt.columns.pods[row] for row in node_candidates.victims_on(best))
            return AttemptResult(self._nodes[best].name, victims)
        messages = (words for place in range(len(self._nodes)) for words in self._unhelped_messages(place))
        return AttemptResult(message=wording.no_nodes_available(messages, len(self._nodes)))

    def _unhelped_messages(self, place: int) -> Iterator[str]:
        verdict = node_verdict(self._attempt, place)
        if verdict.reason is NodeReason.NO_CANDIDATES:
            yield wording.NO_VICTIMS
        elif not verdict.victims:
            yield wording.NOT_HELPFUL
        else:
            yield from self._node_messages(place, verdict.reason, emptied=True)


def accepts_pod(pod: Pod, node: Node) -> bool:
    """Return whether a node would accept a pod in an empty cluster; claims and other pods are ignored."""
    alone = msgspec.structs.replace(
        with_name_as_uid(pod), affinity=(), anti_affinity=(), spread=(), claims=(), own_claims=()
    )
    return bool(Feasibility(Snapshot(now_ms=0, nodes=(node,)), alone).refusing()[0] == FITS)


def best_node(occupancy: Occupancy, pod: Pod, feasible: Sequence[str]) -> str:
    """Return the node that a pod gets: the one it is nominated to, else the one with the highest score.

    Source: Scheduler.evaluateNominatedNode of kube-scheduler.
    """
    if pod.nominated_node in feasible:
        return pod.nominated_node
    nodes, used = occupancy.nodes, occupancy.used
    return min(feasible, key=lambda name: (-score(pod, nodes[name], used(name)), name))


def score(pod: Pod, node: Node, used: Amounts) -> int:
    """Return how much of the node's cpu and memory would remain free, in percent (LeastAllocated).

    Source: least_allocated.go of kube-scheduler's plugin NodeResourcesFit.
    """
    shares = []
    for name in ("cpu", "memory"):
        allocatable = node.allocatable.get(name, 0)
        remaining = allocatable - used.get(name, 0) - pod.requests.get(name, 0)
        shares.append(remaining * 100 // allocatable if allocatable > 0 and remaining > 0 else 0)
    return sum(shares) // len(shares)

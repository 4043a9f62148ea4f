"""Repeat a decision of policy ``priority`` with one thing changed."""

from collections.abc import Collection, Mapping
from functools import cached_property

import msgspec
import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.feasibility.checks import AmountCheck
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers
from engine.model.decision import Decision, NodeReason
from engine.model.objects import DisruptionBudget, Pod
from engine.model.quantities import PODS, Amounts, subtract
from engine.model.queue_tree import ROOT_ONLY
from engine.model.snapshot import Snapshot
from engine.policies.common.decide_again import Again
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.decision import decide
from engine.policies.priority.node_candidates import NodeCandidates, find_node_candidates

_ELSEWHERE = frozenset(
    {NodeReason.SPREAD, NodeReason.POD_AFFINITY, NodeReason.ANTI_AFFINITY, NodeReason.KEPT_OUT, NodeReason.CLAIM_IN_USE}
)
"""Reasons of checks that look at pods of other nodes too."""


class Retrying:
    """One pending pod of a snapshot, for which policy ``priority`` decides again with changes."""

    def __init__(self, snapshot: Snapshot, ask: Pod) -> None:
        self.snapshot, self.ask = snapshot, ask
        self.attempt = PriorityAttempt(snapshot, ask)

    @cached_property
    def node_candidates(self) -> NodeCandidates:
        """Return the victims on every node without any change."""
        return find_node_candidates(self.attempt)

    def decided(self, snapshot: Snapshot, ask: Pod | None = None) -> Decision:
        """Decide on a changed snapshot, or for a changed pending pod."""
        return decide(snapshot, ROOT_ONLY, ask or self.ask)

    def smaller(self, by: Mapping[str, int]) -> Pod:
        """Return the pending pod with a smaller request."""
        return msgspec.structs.replace(self.ask, requests=subtract(self.ask.requests, by))

    def with_budgets(self, allowed: Mapping[str, int]) -> Snapshot:
        """Return the snapshot with new numbers of allowed disruptions for some budgets (``namespace/name``)."""
        budgets = (
            msgspec.structs.replace(budget, allowed=allowed.get(key_of(budget), budget.allowed))
            for budget in self.snapshot.budgets
        )
        return self.snapshot.with_budgets(tuple(budgets))

    @property
    def resources(self) -> list[str]:
        """Return the resources that the pending pod requests, without ``pods``."""
        return sorted(name for name, amount in self.ask.requests.items() if amount > 0 and name != PODS)

    @property
    def topologies(self) -> set[str]:
        """Return the topology labels of rules between pods that span several nodes."""
        return {limit.detail for limit in self.attempt.feasibility.limits if limit.reason in _ELSEWHERE}

    def let_in(self, without: DepartingPods | None = None) -> Flags:
        """Return a mask of the nodes on which everything but resources permits the pending pod, without some pods."""
        bare: Amounts = {name: amount for name, amount in self.ask.requests.items() if name == PODS}
        light = Feasibility(self.snapshot, msgspec.structs.replace(self.ask, requests=bare), miscounting=True)
        let_in: Flags = (light.refusing(without) == FITS) & ~self.attempt.reserved
        return let_in

    def around(self, places: Collection[int]) -> Snapshot:
        """Return the part of the snapshot that determines decisions on these nodes; no other node accepts the pod.

        The part is small unless a rule looks at pods of other nodes.
        """
        columns = self.attempt.columns
        wide = [limit for limit in self.attempt.feasibility.limits if limit.reason in _ELSEWHERE]
        kept = np.isin(columns.node, list(places))
        for limit in wide:
            kept |= (limit.weight != 0) | (limit.unless_weight != 0)
        names = {columns.nodes[place].name for place in places}
        nodes = tuple(
            node if node.name in names else msgspec.structs.replace(node, unread=True)
            for node in self.snapshot.nodes
            if wide or node.name in names
        )
        pods = [columns.pods[row] for row in np.flatnonzero(kept).tolist()]
        pods += [self.ask, *(pod for pod in self.snapshot.nominated if pod.uid != self.ask.uid)]
        ordered = tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name, pod.uid)))
        return msgspec.structs.replace(self.snapshot, nodes=nodes, pods=ordered)

    @cached_property
    def decisive(self) -> tuple[Snapshot, list[int]]:
        """Return the part of the snapshot that matters if one victim changes, and the next best nodes' indexes.

        The part is the victims' node and those nodes. The decision must have a node.
        """
        best = self.node_candidates.best
        assert best is not None
        others = [place for place, *_ in self.node_candidates.costs.ranked[:2] if place != best]
        return self.around([best, *others]), others


def retrying_of(again: Again) -> Retrying:
    """Return the pending pod of ``again`` as policy ``priority`` decides about it; it is worked out once."""
    return again.once("priority", lambda: Retrying(again.snapshot, again.ask))


def key_of(budget: DisruptionBudget) -> str:
    """Return the name of a budget as ``namespace/name``."""
    return f"{budget.namespace}/{budget.name}"


def limit_of(attempt: PriorityAttempt, resource: str) -> AmountCheck | None:
    """Return the check that limits a requested resource, or None if no node has any of it."""
    limits = attempt.feasibility.limits
    return next(
        (limit for limit in limits if (limit.reason, limit.detail) == (NodeReason.INSUFFICIENT, resource)), None
    )


def room(limit: AmountCheck, without: DepartingPods | None = None) -> Numbers:
    """Return, by node index, how much a limit leaves beside the pending pod once some pods are gone.

    A negative amount is missing.
    """
    gone = 0 if without is None else without.of(limit.weight, limit.upto)
    left: Numbers = limit.cap - limit.held + gone
    return left - np.maximum(limit.more(), 0) if limit.added else left

"""Judge the tiers of policy ``fence``, dialect ``yunikorn``; a pod passes all of them exactly if it really gets room.

YuniKorn may also evict in vain (see engine.policies.yunikorn.quirks.table). Whether the pending pod fits once its
victims have gone is therefore decided again here, and a pod that does not fit is not reported to get room.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.model.columns.node_columns import Flags
from engine.model.decision import Decision, Outcome, Reason
from engine.model.objects import Pod
from engine.model.pending_reasons import NODES, Need, Reached, Tier, TierName
from engine.model.quantities import PODS, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common import nearest_node
from engine.policies.common.policy_types import Decide, PolicyTiers
from engine.policies.yunikorn.attempt import YuniKornAttempt
from engine.policies.yunikorn.candidates import YuniKornCandidates
from engine.policies.yunikorn.decision import decide
from engine.policies.yunikorn.node_candidates import NodeCandidates, search_nodes
from engine.policies.yunikorn.parameters import Parameters
from engine.policies.yunikorn.quirks.table import ALL
from engine.policies.yunikorn.trace import node_counts

_UNDECIDABLE = (Reason.NO_QUEUE, Reason.UNREAD_RULES, Reason.PLACEHOLDER, Reason.UNREAD)


class PlacementCheck(NamedTuple):
    """The decision for a pending pod, and the node on which the pod then runs."""

    decision: Decision
    node: str | None
    """The node; None if the pod runs nowhere even after the evictions."""


def room(snapshot: Snapshot, tree: QueueTree, ask: Pod, decide: Decide) -> PlacementCheck:
    """Return the decision and the node where the pending pod runs, now or once the victims have left."""
    found = decide(snapshot, tree, ask)
    if not found.victims:
        return PlacementCheck(found, found.node if found.outcome is Outcome.FITS else None)
    gone = {victim.pod.uid for victim in found.victims}
    without = msgspec.structs.replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.uid not in gone))
    after = decide(without, tree, ask)
    return PlacementCheck(found, after.node if after.outcome is Outcome.FITS else None)


def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod, decide: Decide) -> tuple[Tier, ...]:
    """Return every tier; only the last one if a node has room, none if the pod or the usage cannot be judged.

    ``decide``: the dialect, with its delay over.
    """
    found = room(snapshot, tree, ask, decide)
    if found.decision.reason in _UNDECIDABLE:
        return ()
    return _Judged(YuniKornAttempt(snapshot.without_reservation(ask.uid), tree, ask, ALL), found).tiers()


class _Judged:
    """One pending pod, judged against every tier."""

    def __init__(self, attempt: YuniKornAttempt, found: PlacementCheck) -> None:
        self.attempt, self.found, self.ask = attempt, found, attempt.ask
        self.columns, self.leaf = attempt.columns, attempt.ask.queue or ""
        self.pods = YuniKornCandidates(attempt)
        self.candidates = self.columns.only(self.pods.rows)
        self.victims = self.columns.among({victim.pod.uid for victim in found.decision.victims})

    def tiers(self) -> tuple[Tier, ...]:
        """Return the tiers in their order; see ``judge``."""
        if self.found.decision.outcome is Outcome.FITS:
            return (self._node(could=1, gone=self.victims),)
        quota = Tier.of(TierName.QUOTA, self._quota())
        if self.ask.required_node is not None:  # a DaemonSet pod needs no guarantee and ignores fences
            return (quota, self._node(could=self._gets_room, gone=self.victims))
        first = (quota, *self._guarantee(), self._fence(), self._priority())
        if all(tier.passes for tier in first):
            return (*first, self._node(could=self._gets_room, gone=self.victims))
        best = self.node_candidates.best
        if best is None:
            return (*first, self._node(could=0, gone=self.candidates))
        chosen = self.columns.among({pod.uid for pod in best.victims[: best.index + 1]})
        could = int(np.count_nonzero(self.node_candidates.planned))
        return (*first, self._node(could=could, gone=chosen, node=best.node.name))

    @cached_property
    def node_candidates(self) -> NodeCandidates:
        """Return the plans of victims on the nodes."""
        full = self.attempt.balances.full(self.leaf, self.ask.requests)
        return search_nodes(self.pods, nodes_tried=full is None)

    @property
    def _gets_room(self) -> int:
        return int(self.found.node is not None)

    def _quota(self) -> Iterator[Need]:
        """Yield a need for every max from the leaf upward; the root's max is also the nodes' capacity."""
        balances = self.attempt.balances
        for path in self.attempt.tree.lineage(self.leaf):
            for name, most in sorted(balances.limits(path).items()):
                wanted = self.ask.requests.get(name, 0)
                if wanted <= 0:
                    continue
                available = max(0, most - balances.allocated[path].get(name, 0))
                evictable = 0 if available >= wanted else self._below(path, name)
                yield Need(where=path, resource=name, required=wanted, available=available, evictable=evictable)

    def _below(self, path: str, resource: str) -> int:
        """Return what the victims hold below a queue, or else the most that could be evicted there on one node."""
        if self.attempt.ask.required_node is not None:
            return 0
        tree, table = self.attempt.tree, self.attempt.table
        inside = np.array([*(tree.contains(path, leaf) for leaf in table.leaves), False], np.bool_)[table.leaf]
        held = self.columns.requests(resource)
        if self.found.decision.evicts:
            return int(held[inside & self.victims].sum())
        return int(self.columns.sums(np.where(inside & self.candidates, held, 0)).max(initial=0))

    def _guarantee(self) -> Iterator[Tier]:
        """Yield the tier for guarantees: the whole request must be guaranteed, now or after all permitted evictions.

        Yields no tier if nothing has to be guaranteed.
        """
        now, then = self.pods.left_of_guarantee()
        asked = sorted((name, amount) for name, amount in self.ask.requests.items() if amount > 0)
        used = self.attempt.balances.allocated[self.leaf]
        if now is None or then is None:
            none = (
                Need(where=self.leaf, resource=name, required=amount, available=-used.get(name, 0))
                for name, amount in asked
            )
            yield Tier.of(TierName.GUARANTEE, none, shut=self.leaf)
            return
        needs = [
            Need(
                where=self.leaf,
                resource=name,
                required=amount,
                available=now[name],
                evictable=max(0, then[name] + amount - now[name]),
            )
            for name, amount in asked
            if name in now and name in then
        ]
        if needs:
            yield Tier.of(TierName.GUARANTEE, needs)

    def _fence(self) -> Tier:
        """Judge which pods could be evicted if priorities did not matter."""
        tree, table, root = self.attempt.tree, self.attempt.table, self.pods.reach.root
        off = self.found.decision.reason is Reason.TURNED_OFF
        counts = np.bincount(table.leaf[self.pods.within_reach], minlength=len(table.leaves) + 1)[:-1]
        counts = counts * (not off)
        return Tier.of(
            TierName.FENCE,
            [Need(where=root if root != tree.root else "", resource=PODS, required=1, available=int(counts.sum()))],
            shut=tree.root if off else "",
            reached=tuple(
                Reached(queue=path, pods=int(pods), spare=self._spare(path))
                for path, pods in zip(table.leaves, counts, strict=True)
                if pods
            ),
        )

    def _spare(self, path: str) -> Amounts:
        beyond = self.attempt.balances.preemptable(path) or {}
        asked = {name for name, amount in self.ask.requests.items() if amount > 0} - {PODS}
        return {name: amount for name, amount in sorted(beyond.items()) if name in asked}

    def _priority(self) -> Tier:
        pods = 0 if self.ask.never_preempts else len(self.pods.rows)
        return Tier.of(
            TierName.PRIORITY,
            [Need(resource=PODS, required=1, available=pods)],
            shut=(self.ask.priority_class or "Never") if self.ask.never_preempts else "",
            held=nearest_node.held(self.columns, self.ask, self.candidates) if pods else {},
        )

    def _node(self, *, could: int, gone: Flags, node: str = "") -> Tier:
        """Judge the node fit; ``could``: how many nodes could take the pod; ``node``: the node that would be chosen.

        Room that terminating pods leave counts only once they are gone.
        """
        place = self._place(node, gone)
        nobody = np.zeros(len(self.columns.pods), np.bool_)
        needs: tuple[Need, ...] = ()
        if place is not None:
            feasibility = self.attempt.feasibility
            needs = nearest_node.needs(self.columns, feasibility, self.ask, place, gone=nobody, evicted=gone)
        refusing = {} if could or self.ask.required_node else self._refusing()
        return Tier.of(TierName.NODE, [Need(resource=NODES, required=1, available=could), *needs], refusing=refusing)

    def _refusing(self) -> dict[str, int]:
        return node_counts(self.node_candidates)

    def _place(self, node: str, gone: Flags) -> int | None:
        """Return the index of the node where the pod runs, or else the chosen, required or nearest node."""
        name = self.found.node or node or self.found.decision.node or self.ask.required_node
        if name is not None:
            return self.columns.place.get(name)
        open_to = ~self.attempt.reserved & ~self.columns.unschedulable
        return nearest_node.nearest(self.attempt.snapshot, self.ask, self.attempt.feasibility, gone, open_to)


def tiers_by(parameters: Mapping[str, Any]) -> PolicyTiers:
    """Return the tiers for a revision's parameters, as if every delay were over. Raises msgspec.ValidationError."""
    at_once = partial(decide, parameters=msgspec.convert({**parameters, "check_delay": False}, Parameters))

    def judged(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> tuple[Tier, ...]:
        return judge(snapshot, tree, ask, at_once)

    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        return room(snapshot, tree, ask, at_once).node is not None

    return PolicyTiers(judge=judged, gets_room=gets_room, ranks=True, quick=True)

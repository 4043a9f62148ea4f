"""Judge the tiers of policy ``deserved``; a pod passes all but the grace period exactly if the policy makes room."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from engine.model.columns.node_columns import Flags
from engine.model.decision import PodReason, Reason
from engine.model.objects import Pod
from engine.model.pending_reasons import NODES, Need, Reached, Tier, TierName
from engine.model.quantities import PODS, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.common import nearest_node
from engine.policies.common.eligibility import GUARDS, UNDECIDABLE
from engine.policies.common.groups.pending_tiers import placed_tiers
from engine.policies.common.policy_types import PolicyTiers
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.decision import find_node_candidates
from engine.policies.deserved.groups.pending_tiers import beside_groups, decided_in_time, makes_room, of_group
from engine.policies.deserved.node_candidates import NodeCandidates
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.placement_goal import AnyNode
from engine.policies.deserved.trace import notice, trace_of


def judge_with_groups(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> Iterable[Tier]:
    """Return the tiers as ``judge`` does, or those of the pod's gang."""
    if not snapshot.groups and not ask.task_group:
        return judge(snapshot, tree, ask, parameters)
    decision = decided_in_time(snapshot, tree, ask, parameters)
    if decision.group:
        return of_group(decision, snapshot.now_ms)
    if decision.reason is Reason.PLACEHOLDER:
        return placed_tiers()
    return beside_groups(judge(snapshot, tree, ask, parameters), decision)


def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> Iterator[Tier]:
    """Yield every tier; only the last one if a node has room, none if the pod or the usage cannot be judged."""
    attempt = ReclaimAttempt(snapshot.without_reservation(ask.uid), tree, ask, parameters)
    if any(guard(attempt.nodes) is not None for guard in (*UNDECIDABLE.values(), GUARDS[Reason.UNREAD])):
        return
    for leaving_counted in (False, True):
        node = attempt.nodes.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            yield nearest_node.fits(attempt.nodes, node, soon=leaving_counted)
            return
    yield from _Judged(attempt).tiers()


class _Judged:
    """One pending pod that fits nowhere, judged against every tier."""

    def __init__(self, attempt: ReclaimAttempt) -> None:
        self.attempt, self.ask, self.columns = attempt, attempt.ask, attempt.nodes.columns
        self.all = Candidates(attempt)
        self.may_go = self.all.preemptable

    def tiers(self) -> Iterator[Tier]:
        """Yield the tiers in their order; see ``judge``."""
        passes = True
        for tier in self._of_queues():
            passes &= tier.passes
            yield tier
        node_candidates, in_time = find_node_candidates(self.attempt)  # the slowest step
        node = self._node(node_candidates)
        if passes and node.passes and not in_time:
            yield self._grace(node_candidates)
        yield node

    def _of_queues(self) -> Iterator[Tier]:
        """Yield the tiers that look at no node."""
        attempt = self.attempt
        yield Tier.of(TierName.HARD, self._hard())
        if not attempt.outranks and self.ask.namespace != SYSTEM:
            yield Tier.of(TierName.DESERVED, self._deserved())
        if not attempt.outranks:
            yield self._overused()
        if disabled := attempt.tree.disabled_by(attempt.leaf):
            yield Tier.of(TierName.FENCE, [Need(resource=PODS, required=1, available=0)], shut=disabled)
        if attempt.outranks or self.ask.never_preempts:
            yield self._priority()
        yield self._giving()

    def _hard(self) -> Iterator[Need]:
        """Yield a need for every hard cap from the leaf upward; below a queue further up, evictions may help."""
        attempt = self.attempt
        for path in attempt.tree.lineage(attempt.leaf):
            status = attempt.share_statuses[path]
            for name, limit in sorted(status.hard.items()):
                wanted = self.ask.requests.get(name, 0)
                if wanted <= 0:
                    continue
                available = limit - status.used.get(name, 0)
                short = available < wanted and path != attempt.leaf
                yield Need(
                    where=path,
                    resource=name,
                    required=wanted,
                    available=available,
                    evictable=self._below(path, name) if short else 0,
                )

    def _below(self, path: str, resource: str) -> int:
        """Return the most that could be evicted below a queue, on one node if ``node_fit`` is set, else on all."""
        tree = self.attempt.tree
        inside = self.columns.queue_kinds.flags(lambda pod: pod.queue in tree.queues and tree.contains(path, pod.queue))
        held = np.where(inside & self.may_go, self.columns.requests(resource), 0)
        return int(self.columns.sums(held).max(initial=0) if self.attempt.parameters.node_fit else held.sum())

    def _deserved(self) -> Iterator[Need]:
        """Yield what the queue would use with the pending pod, and what it deserves."""
        status = self.attempt.share_statuses[self.attempt.leaf]
        for name, wanted in sorted(self.ask.requests.items()):
            if wanted > 0:
                yield Need(
                    where=self.attempt.leaf,
                    resource=name,
                    required=status.used.get(name, 0) + wanted,
                    available=status.deserved.get(name, 0),
                )

    def _overused(self) -> Tier:
        """Judge which queues could be asked to give back, whether or not their pods may be evicted."""
        may_give = (
            self.columns.queue_kinds.flags(lambda pod: self.all.may_preempt_from(pod.queue)) & ~self.columns.terminating
        )
        pods: dict[str, int] = {}
        for row in np.flatnonzero(may_give).tolist():
            queue = self.columns.pods[row].queue or ""
            pods[queue] = pods.get(queue, 0) + 1
        return Tier.of(
            TierName.OVERUSED,
            [
                Need(
                    where=self.attempt.tree.fence(self.attempt.leaf) or "",
                    resource=PODS,
                    required=1,
                    available=sum(pods.values()),
                )
            ],
            reached=tuple(
                Reached(queue=path, pods=pods[path], spare=self._spare(path))
                for path in self.attempt.tree.walk()
                if path in pods
            ),
        )

    def _spare(self, queue: str) -> Amounts:
        """Return what a queue uses beyond what it deserves of each requested resource, without what is reserved."""
        status, line = self.attempt.share_statuses, self.attempt.line(queue)

        def spare(path: str, name: str) -> int:
            most = max(status[path].deserved.get(name, 0), status[path].reserved.get(name, 0))
            return status[path].used.get(name, 0) - most

        found = {name: min(spare(path, name) for path in line) for name in sorted({*self.attempt.wanted} - {PODS})}
        return {name: amount for name, amount in found.items() if amount > 0}

    def _priority(self) -> Tier:
        """Judge whether the pod may preempt at all and, if it outranks others, how many have a lower priority."""
        never, excluded = self.ask.never_preempts, self.all.excluded_by_kind
        pods = self.all.count + excluded[PodReason.GUARANTEE] + excluded[PodReason.OVER_BUDGET]
        return Tier.of(
            TierName.PRIORITY,
            [Need(resource=PODS, required=1, available=0 if never else pods)],
            shut=(self.ask.priority_class or "Never") if never else "",
        )

    def _giving(self) -> Tier:
        pods = self.all.count
        return Tier.of(
            TierName.RESERVED,
            [Need(resource=PODS, required=1, available=pods)],
            held=nearest_node.held(self.columns, self.ask, self.may_go) if pods else {},
            staying={str(reason): count for reason, count in sorted(self.all.excluded_by_kind.items()) if count},
        )

    def _grace(self, node_candidates: NodeCandidates) -> Tier:
        attempt, victims = self.attempt, node_candidates.best.victims if node_candidates.best else ()
        queues = sorted({pod.queue or "" for pod in victims if attempt.in_grace(pod.queue or "")})
        return Tier(name=TierName.GRACE, passes=False, notices=tuple(notice(attempt, queue) for queue in queues))

    def _node(self, node_candidates: NodeCandidates) -> Tier:
        attempt, best = self.attempt, node_candidates.best
        could = 0 if attempt.too_large else len(node_candidates.ranked)
        gone = self.columns.among({pod.uid for pod in best.victims}) if best else self.may_go
        first = Need(resource=NODES, required=1, available=could)
        if not attempt.parameters.node_fit and not attempt.too_large:
            return Tier.of(TierName.NODE, [first, *self._anywhere(gone)])
        place = best.place if best else None
        if place is None:
            leaving = self.columns.terminating
            feasibility = attempt.nodes.feasibility
            place = nearest_node.nearest(attempt.snapshot, self.ask, feasibility, gone | leaving, attempt.nodes.open)
        refusing = {} if could else trace_of(attempt, node_candidates, coming=False).node_counts
        return Tier.of(TierName.NODE, [first, *self._on(place, gone)], refusing=refusing)

    def _on(self, place: int | None, gone: Flags) -> tuple[Need, ...]:
        if place is None:
            return ()
        leaving, feasibility = self.columns.terminating, self.attempt.nodes.feasibility
        return nearest_node.needs(self.columns, feasibility, self.ask, place, gone=leaving, evicted=gone & ~leaving)

    def _anywhere(self, gone: Flags) -> Iterator[Need]:
        """Yield a need for each resource, over all nodes together."""
        free = AnyNode(self.attempt).free
        for name, wanted in sorted(self.ask.requests.items()):
            held = int(self.columns.requests(name)[gone].sum())
            need = Need(resource=name, required=wanted, available=free.get(name, 0), evictable=held)
            if wanted > 0 and (name != PODS or need.missing):
                yield need


def tiers_by(parameters: Mapping[str, Any]) -> PolicyTiers:
    """Return the tiers for a revision's parameters, as if all grace periods were over. Raises ValidationError."""
    own = msgspec.convert(dict(parameters), Parameters)

    def judged(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> Iterable[Tier]:
        return judge_with_groups(snapshot.asking(ask), tree, ask, own)

    def gets_room(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> bool:
        return makes_room(decided_in_time(snapshot, tree, ask, own))

    return PolicyTiers(judge=judged, gets_room=gets_room, ranks=bool(own.high_priority), quick=False)

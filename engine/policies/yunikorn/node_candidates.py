"""The candidates for one pending pod, and its plan of victims on every node, under YuniKorn's rules.

Source: tryNodes and checkPreemptionPredicates of yunikorn-core.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec
import numpy as np

from engine.feasibility import Feasibility, NodeRefusal
from engine.feasibility.checks import RuleCheck
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import NodeReason, NodeVerdict, PodReason
from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn import design_rules
from engine.policies.yunikorn.attempt_reach import ANY, AttemptReach
from engine.policies.yunikorn.pod_table import OPTED_OUT, ORIGINATOR
from engine.policies.yunikorn.queue_balances import QueueBalances
from engine.policies.yunikorn.remaining_guarantees import RemainingGuarantees
from engine.policies.yunikorn.victim_counts import FITS, NONE, applies, indices
from engine.policies.yunikorn.victims import EMPTY, Plan, on_node

_BATCH = 10
"""The number of nodes that are rated together. The next ones are rated only if none of these was good enough."""
_GOOD_ENOUGH = 2**32
_CHUNK = 1_000
"""The number of pods that are examined at a time, because the first ones are often enough."""
_NODES_IN_FULL = 20
"""The number of nodes that were not chosen which a trace lists individually. The rest are counted."""
_REASONS = tuple(PodReason)


class NodeCandidates:
    """The candidates for a pending pod, and the plan of victims on each node."""

    def __init__(
        self, snapshot: Snapshot, balances: QueueBalances, feasibility: Feasibility, *, nodes_tried: bool
    ) -> None:
        self.snapshot, self.balances, self.feasibility, self.nodes_tried = snapshot, balances, feasibility, nodes_tried
        self.table, self.columns, self.ask = balances.table, snapshot.columns, feasibility.pod
        table, ask = self.table, self.ask
        self.leaf = ask.queue or ""
        self.lines = RemainingGuarantees(table, balances, self.leaf)
        self.reach = AttemptReach(balances, self.lines, ask, self.leaf)
        self.why = self._judged(self.reach.limits)
        """Row -> the number of the reason why the pod may not be a victim, -1 if it may."""
        order = table.order_on_nodes
        self.candidates: Rows = order[self.why[order] < 0]
        """The rows of the candidates, node by node, in the order in which they are considered."""
        self._ends: Rows = np.searchsorted(self.columns.node[self.candidates], np.arange(len(snapshot.nodes) + 1))

    @property
    def within_reach(self) -> Flags:
        """Return for each pod (by row) whether it may be a victim, or is excluded by its priority alone."""
        of_any = np.full(len(self.table.leaves) + 1, ANY, np.int64)
        within: Flags = self._judged(of_any) < 0
        return within

    def _judged(self, limits: Numbers) -> Numbers:
        """Return for each pod (by row) the number of the reason why it may not be a victim, -1 if it may.

        ``limits``: leaf -> the highest priority of a victim there.
        """
        leaf, columns = self.table.leaf, self.columns
        of_leaf = np.full(len(self.table.leaves) + 1, -1, np.int64)
        for reason, flags in self.reach.reasons.items():
            of_leaf[(of_leaf < 0) & flags] = _number(reason)
        of_leaf[(of_leaf < 0) & (limits == -ANY)] = _number(PodReason.HIGHER_PRIORITY)
        why: Numbers = of_leaf[leaf]
        for reason, flags in (
            (PodReason.TERMINATING, columns.terminating),
            (PodReason.DAEMONSET, self._daemons),
            (PodReason.SAME_APPLICATION, self._own),
            (PodReason.HIGHER_PRIORITY, columns.priority > limits[leaf]),
            (PodReason.OPTED_OUT, self._unwilling),
            (PodReason.ENTITLED_SUBTREE, self._claimed[leaf]),
        ):
            why[(why < 0) & flags] = _number(reason)
        return why

    @property
    def _daemons(self) -> Flags:
        by_affinity = self.balances.quirks.daemonset_by_affinity
        return self.table.required if by_affinity else self.table.required | self.table.daemonset

    @property
    def _own(self) -> Flags:
        """Return for each pod (by row) whether it belongs to the preemptor's application, in whatever queue."""
        own = self.table.applications.get((self.ask.namespace, self.ask.application), -1)
        return np.asarray(self.table.application == own, np.bool_)

    @property
    def _claimed(self) -> Flags:
        """Return for each leaf whether it is inside a queue whose guarantee is claimed.

        YuniKorn itself ignores this (quirk ``inside_claim``), so the result is then always false.
        """
        tree, leaves = self.balances.tree, self.table.leaves
        if self.balances.quirks.inside_claim:
            return np.zeros(len(leaves) + 1, np.bool_)
        claimed = set(design_rules.claims(tree, self.leaf, self.ask.requests).values())
        return np.array([*(not claimed.isdisjoint(tree.lineage(leaf)) for leaf in leaves), False], np.bool_)

    @property
    def _unwilling(self) -> Flags:
        """Return for each pod (by row) whether it may not be a victim because it opted out.

        YuniKorn itself excludes no such pods (quirk ``opted_out_taken``).
        """
        return (
            np.zeros(len(self.table.leaf), np.bool_) if self.balances.quirks.opted_out_taken else self.table.opted_out
        )

    def excluded(self) -> dict[str, int]:
        """Return the number of pods that may not be victims for each reason."""
        counts = np.bincount(self.why + 1, minlength=len(_REASONS) + 1)[1:]
        return dict(sorted((str(reason), int(n)) for reason, n in zip(_REASONS, counts, strict=True) if n))

    def entitled(self) -> bool:
        """Return whether the pending pod fits into the remaining guarantee, now or with all candidates gone."""
        trial, asked = self.balances.copy(), self.ask.requests
        if not trial.quirks.leaving_uncounted:
            design_rules.count_leaving(trial, self.snapshot)
        if not trial.quirks.whole_ask:
            return design_rules.entitled(trial, self.leaf, asked)
        remaining = trial.remaining(self.leaf, self.leaf)
        if remaining is not None and all(remaining.get(name, amount) >= amount for name, amount in asked.items()):
            return True
        remaining = self._left_without(trial)
        return remaining is not None and all(remaining.get(name, 0) >= 0 for name in asked)

    def left_of_guarantee(self) -> tuple[Amounts | None, Amounts | None]:
        """Return what is left of the guarantees that count: now, and with the pending pod but without all candidates.

        An amount is negative if usage exceeds the guarantee. The result is None if no guarantee counts.
        """
        trial = self.balances.copy()
        return trial.remaining(self.leaf, self.leaf), self._left_without(trial)

    def _left_without(self, trial: QueueBalances) -> Amounts | None:
        trial.add(self.leaf, self.ask.requests)
        counts = np.bincount(self.table.kinds.of[self.candidates], minlength=len(self.table.kinds.each))
        for kind in np.flatnonzero(counts):
            pod, times = self.table.kinds.each[kind], int(counts[kind])
            trial.remove(pod.queue or "", {name: amount * times for name, amount in pod.requests.items()})
        return trial.remaining(self.leaf, self.leaf)

    def _here(self, place: int) -> list[Pod]:
        rows = self.candidates[self._ends[place] : self._ends[place + 1]]
        return [self.columns.pods[row] for row in rows]

    def leaving(self, place: int) -> list[Pod]:
        """Return the terminating pods on a node whose capacity already counts as free.

        In YuniKorn itself none does (quirk ``leaving_hold``).
        """
        if self.balances.quirks.leaving_hold:
            return []
        return [self.columns.pods[row] for row in self.columns.rows(place) if self.columns.terminating[row]]

    def alone(self, place: int) -> Plan | None:
        """Return the plan of victims for one node alone, None if all candidates there don't make enough room."""
        node = self.columns.nodes[place]
        free = self.snapshot.free(node, without=self.leaving(place))
        return on_node(self.balances, self.ask, node, free, self._here(place))

    def _free(self) -> Numbers:
        """Return for each node (by place) the free amounts of the requested resources, in the order of their names."""
        names, columns = sorted(self.ask.requests), self.columns
        free = [columns.allocatable(name) - columns.held(name) for name in names]
        if not self.balances.quirks.leaving_hold:
            gone = DepartingPods(columns, columns.terminating)
            free = [each + gone.of(columns.requests(name)) for each, name in zip(free, names, strict=True)]
        return np.stack(free, axis=1)

    @cached_property
    def index(self) -> Rows:
        """Return for each node (by place) the number of victims, minus one, that make enough room.

        FITS means that no victims are needed, NONE that no number of victims is enough.
        """
        leaves = np.flatnonzero(np.bincount(self.table.leaf[self.candidates]))
        if applies(self.table, self.balances, self.lines, self.ask, leaves):
            found = indices(self.table, self.balances, self.lines, self.ask, self.candidates, self._free())
            if self.balances.quirks.other_nodes or not (found == FITS).any():
                return found
        plans = (self.alone(place) for place in range(len(self.columns.nodes)))
        return np.fromiter((NONE if plan is None else plan.index for plan in plans), np.intp)

    @cached_property
    def too_small(self) -> Flags:
        """Return for each node (by place) whether it is too small for the pending pod even if it were empty."""
        asked = self.ask.requests.items()
        small = np.zeros(len(self.columns.nodes), np.bool_)
        for name, amount in asked:
            small |= np.maximum(self.columns.allocatable(name), 0) < amount
        return small

    def best(self, reserved: Flags) -> Plan | None:
        """Return the best plan of the first batch of nodes that has a good enough plan, or the best of all plans.

        A plan is good enough if no victim opted out or is the originator of its application.
        """
        self.reserved = reserved
        self.available = ~reserved & ~self.columns.unschedulable & ~self.too_small
        self.planned: Flags = self.available & ((self.index >= 0) | ((self.index == FITS) & (not self.nodes_tried)))
        self._rated: dict[int, int] = {}
        self._refused: dict[int, NodeRefusal] = {}
        best: tuple[int, int, Plan] | None = None
        for batch in self._batches():
            # Further victims that the node's rules require can only make a plan worse.
            rated = ((self._score(place, int(self.index[place])), rank, place) for rank, place in batch)
            for score, rank, place in sorted(rated):
                if best is not None and best[:2] < (score, rank):
                    break
                plan = self._with_all_rules(place)
                if isinstance(plan, NodeRefusal):
                    self._refused[place] = plan
                    continue
                self._rated[place] = self._score(place, plan.index)
                found = self._rated[place], rank, plan
                best = found if best is None or found[:2] < best[:2] else best
            if best is not None and best[0] < _GOOD_ENOUGH:
                break
        return None if best is None else best[2]

    @cached_property
    def _ranked(self) -> Rows:
        """Return the places of the nodes with a plan, the fewest victims first."""
        places = np.flatnonzero(self.planned)
        return places[np.argsort(self.index[places], kind="stable")]

    def _batches(self) -> Iterator[list[tuple[int, int]]]:
        """Yield batches of nodes, as pairs of rank and place, the fewest victims first."""
        for start in range(0, len(self._ranked), _BATCH):
            yield list(enumerate(self._ranked[start : start + _BATCH].tolist(), start))

    def _score(self, place: int, index: int) -> int:
        """Return the rating of a node; the smallest is the best.

        As in YuniKorn, the node's first candidates are rated, although the plan may evict others.
        """
        rows = self.candidates[self._ends[place] : self._ends[place + 1]]
        if not len(rows):
            return EMPTY
        return int(np.bitwise_or.reduce(self.table.dear[rows[: index + 1]], initial=0)) + index + 1

    def _with_all_rules(self, place: int) -> Plan | NodeRefusal:
        """Return the plan with which all rules of the node admit the pending pod, or the reason why none does."""
        for number, check in enumerate(self.feasibility.checks):
            if isinstance(check, RuleCheck) and check.refused[place]:
                return self.feasibility.refusal(number, place)
        plan = self.alone(place)
        if plan is None:
            return NodeRefusal(NodeReason.NOT_ENOUGH)
        spot, leaving = self.feasibility.on(place), [pod.uid for pod in self.leaving(place)]
        refusal = None
        for index in range(plan.index, len(plan.victims)):
            refusal = spot.refusal([*leaving, *(pod.uid for pod in plan.victims[: index + 1])])
            if refusal is None:
                return msgspec.structs.replace(plan, index=index)
        return refusal if refusal is not None and (plan.index >= 0 or spot.refusal() is not None) else plan

    def others(self, chosen: Sequence[Pod]) -> Iterator[Pod]:
        """Yield all candidates except the chosen ones, on any node, in the order in which they are considered."""
        uids = {pod.uid for pod in chosen}
        order = self.table.order
        for start in range(0, len(order), _CHUNK):
            some = order[start : start + _CHUNK]
            for row in some[self.why[some] < 0].tolist():
                if (pod := self.columns.pods[row]).uid not in uids:
                    yield pod

    def passed_over(self, best: Plan | None) -> tuple[NodeVerdict, ...]:
        """Return verdicts on nodes that were not chosen: the next best ones, then the first ones without a plan."""
        own = None if best is None else self.columns.place[best.node.name]
        ranked = [place for place in self._ranked[: _NODES_IN_FULL + 1].tolist() if place != own]
        found = [self._passed(place, own) for place in ranked]
        for place in np.flatnonzero(~self.planned)[:_NODES_IN_FULL].tolist():
            node, victims = self.columns.nodes[place].name, int(self._ends[place + 1] - self._ends[place])
            found.append(NodeVerdict(node=node, reason=self._why_not(place), victims=victims))
        return tuple(found[:_NODES_IN_FULL])

    def _passed(self, place: int, own: int | None) -> NodeVerdict:
        """Return why a node with a plan was not chosen: a rule that refused the pod, or the rating of its plan."""
        name = self.columns.nodes[place].name
        if own is None or place in self._refused:
            refused = self._refused[place]
            return NodeVerdict(node=name, reason=refused.reason, detail=refused.detail)
        index = int(self.index[place])
        detail = _criterion(self._rated[own], self._rated.get(place, self._score(place, index)))
        return NodeVerdict(node=name, reason=NodeReason.DEARER, detail=detail, victims=index + 1)

    def _why_not(self, place: int) -> NodeReason:
        return next(reason for reason, flags in self._refusals() if flags[place])

    def _refusals(self) -> Iterator[tuple[NodeReason, Flags]]:
        empty = self._ends[1:] == self._ends[:-1]
        yield NodeReason.RESERVED, self.reserved
        yield NodeReason.UNSCHEDULABLE, self.columns.unschedulable
        yield NodeReason.TOO_SMALL, self.too_small
        yield NodeReason.NO_CANDIDATES, empty
        yield NodeReason.NOT_ENOUGH, ~empty

    def node_counts(self, best: Plan | None) -> dict[str, int]:
        """Count the nodes that were not chosen by reason."""
        counts = Counter(refused.reason for refused in self._refused.values())
        counts[NodeReason.DEARER] = len(self._ranked) - len(self._refused) - (best is not None)
        left = ~self.planned
        for reason, flags in self._refusals():
            counts[reason] += int(np.count_nonzero(left & flags))
            left = left & ~flags
        return {str(reason): count for reason, count in sorted(counts.items()) if count}


def _criterion(best: int, other: int) -> str:
    """Return the criterion by which a node's score is worse than the best; the name if both scores are equal."""
    for flag, criterion in ((OPTED_OUT, "opted-out"), (ORIGINATOR, "originators")):
        if other & flag != best & flag:
            return criterion
    return "victims" if other != best else "name"


def _number(reason: PodReason) -> int:
    return _REASONS.index(reason)

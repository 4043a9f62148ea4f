"""The pods that may be victims for one pending pod under YuniKorn's rules, and why the others may not.

Source: FindEligiblePreemptionVictims and checkPreemptionQueueGuarantees of yunikorn-core.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import PodReason
from engine.model.objects import Pod
from engine.model.quantities import Amounts
from engine.policies.yunikorn.attempt import YuniKornAttempt
from engine.policies.yunikorn.attempt_reach import ANY, AttemptReach
from engine.policies.yunikorn.queue_balances import QueueBalances
from engine.policies.yunikorn.quirks import design_rules
from engine.policies.yunikorn.victims.remaining_guarantees import RemainingGuarantees

_CHUNK = 1_000
"""The number of pods that are examined at a time, because the first ones are often enough."""
_REASONS = tuple(PodReason)


class YuniKornCandidates:
    """The bound pods that may be victims for a pending pod, judged before any pod is evicted."""

    def __init__(self, attempt: YuniKornAttempt) -> None:
        self.attempt = attempt
        table, columns = attempt.table, attempt.columns
        self.guarantees = RemainingGuarantees(table, attempt.balances, attempt.leaf)
        self.reach = AttemptReach(attempt.balances, self.guarantees, attempt.ask, attempt.leaf)
        self.why = self._judged(self.reach.limits)
        """Row -> the number of the reason why the pod may not be a victim, -1 if it may; in one byte each."""
        order = table.order_on_nodes
        self.rows: Rows = order[self.why[order] < 0]
        """The rows of the candidates, node by node, in the order in which they are considered."""
        self.first: Rows = np.searchsorted(columns.node[self.rows], np.arange(len(columns.nodes) + 1))
        """Start offset of each node's candidates; the last entry is the total."""

    def rows_on(self, place: int) -> Rows:
        """Return the rows of the candidates on a node, in the order in which they are considered."""
        return self.rows[self.first[place] : self.first[place + 1]]

    @property
    def within_reach(self) -> Flags:
        """Return for each pod (by row) whether it may be a victim, or is excluded by its priority alone."""
        of_any = np.full(len(self.attempt.table.leaves) + 1, ANY, np.int64)
        within: Flags = self._judged(of_any) < 0
        return within

    def _judged(self, limits: Numbers) -> Numbers:
        """Return for each pod (by row) the number of the reason why it may not be a victim, -1 if it may.

        ``limits``: leaf -> the highest priority of a victim there.
        """
        leaf, columns = self.attempt.table.leaf, self.attempt.columns
        of_leaf = np.full(len(self.attempt.table.leaves) + 1, -1, np.int8)
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
        table = self.attempt.table
        return table.required if self.attempt.quirks.daemonset_by_affinity else table.required | table.daemonset

    @property
    def _own(self) -> Flags:
        """Return for each pod (by row) whether it belongs to the preemptor's application, in whatever queue."""
        ask, table = self.attempt.ask, self.attempt.table
        own = table.applications.get((ask.namespace, ask.application), -1)
        return np.asarray(table.application == own, np.bool_)

    @property
    def _claimed(self) -> Flags:
        """Return for each leaf whether it is inside a queue whose guarantee is claimed.

        YuniKorn itself ignores this (quirk ``inside_claim``), so the result is then always false.
        """
        tree, leaves = self.attempt.balances.tree, self.attempt.table.leaves
        if self.attempt.quirks.inside_claim:
            return np.zeros(len(leaves) + 1, np.bool_)
        claimed = set(design_rules.claims(tree, self.attempt.leaf, self.attempt.ask.requests).values())
        return np.array([*(not claimed.isdisjoint(tree.lineage(leaf)) for leaf in leaves), False], np.bool_)

    @property
    def _unwilling(self) -> Flags:
        """Return for each pod (by row) whether it may not be a victim because it opted out.

        YuniKorn itself excludes no such pods (quirk ``opted_out_taken``).
        """
        table = self.attempt.table
        return np.zeros(len(table.leaf), np.bool_) if self.attempt.quirks.opted_out_taken else table.opted_out

    def excluded(self) -> dict[str, int]:
        """Return the number of pods that may not be victims for each reason."""
        counts = {str(reason): int(np.count_nonzero(self.why == _number(reason))) for reason in _REASONS}
        return {reason: count for reason, count in sorted(counts.items()) if count}

    def entitled(self) -> bool:
        """Return whether the pending pod fits into the remaining guarantee, now or with all candidates gone.

        Source: checkPreemptionQueueGuarantees of yunikorn-core.
        """
        trial, asked = self.attempt.balances.copy(), self.attempt.ask.requests
        if not trial.quirks.leaving_uncounted:
            design_rules.count_leaving(trial, self.attempt.snapshot)
        if not trial.quirks.whole_ask:
            return design_rules.entitled(trial, self.attempt.leaf, asked)
        remaining = trial.remaining(self.attempt.leaf, self.attempt.leaf)
        if remaining is not None and all(remaining.get(name, amount) >= amount for name, amount in asked.items()):
            return True
        remaining = self._left_without(trial)
        return remaining is not None and all(remaining.get(name, 0) >= 0 for name in asked)

    def left_of_guarantee(self) -> tuple[Amounts | None, Amounts | None]:
        """Return what is left of the guarantees that count: now, and with the pending pod but without all candidates.

        An amount is negative if usage exceeds the guarantee. The result is None if no guarantee counts.
        """
        trial = self.attempt.balances.copy()
        return trial.remaining(self.attempt.leaf, self.attempt.leaf), self._left_without(trial)

    def _left_without(self, trial: QueueBalances) -> Amounts | None:
        kinds = self.attempt.table.kinds
        trial.add(self.attempt.leaf, self.attempt.ask.requests)
        counts = np.bincount(kinds.of[self.rows], minlength=len(kinds.each))
        for kind in np.flatnonzero(counts):
            pod, times = kinds.each[kind], int(counts[kind])
            trial.remove(pod.queue or "", {name: amount * times for name, amount in pod.requests.items()})
        return trial.remaining(self.attempt.leaf, self.attempt.leaf)

    def others(self, chosen: Sequence[Pod]) -> Iterator[Pod]:
        """Yield all candidates except the chosen ones, on any node, in the order in which they are considered."""
        uids = {pod.uid for pod in chosen}
        order = self.attempt.table.order
        for start in range(0, len(order), _CHUNK):
            some = order[start : start + _CHUNK]
            for row in some[self.why[some] < 0].tolist():
                if (pod := self.attempt.columns.pods[row]).uid not in uids:
                    yield pod


def _number(reason: PodReason) -> int:
    return _REASONS.index(reason)

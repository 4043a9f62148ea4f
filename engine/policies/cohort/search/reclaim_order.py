"""Orders all candidates of a preemptor that reclaims what it is entitled to under fair sharing.

Such a preemptor refuses no candidate. So the order in which a subtree's candidates are taken does not depend on the
rest of the tree, and the orders of siblings can be merged by their shares, from the queues up. The result is the order
of TargetQueueOrdering, which takes the candidates one by one.
"""

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.policies.cohort.search.bulk_removal import sums_before
from engine.policies.cohort.search.quota_attempt import QuotaAttempt
from engine.policies.cohort.search.target_queue_ordering import cohorts_by_name, tie_of_queue


def in_reclaim_order(attempt: QuotaAttempt, rows: Rows) -> Rows:
    """Return the candidates in the order of preemption, without those whose queues or cohorts borrow nothing by then.

    ``rows`` are the candidates of one queue after the other. The usage of the attempt includes the pending workload.
    """
    return rows[_Merge(attempt, rows).order]


class _Merge:
    """Candidates in the order of preemption within each node reached so far, from the queues up."""

    def __init__(self, attempt: QuotaAttempt, rows: Rows) -> None:
        self._attempt, self._index, tree = attempt, attempt.quota_index, attempt.tree
        nodes, root = self._index.node[rows], attempt.path[-1]
        self._resources = tuple(tree.subtree[root])
        self._freed = {of: self._index.arrays(of).amounts[self._index.kind[rows]] for of in self._resources}
        """What each candidate frees at the next node up."""
        self._infinite: Flags = np.zeros(len(rows), np.bool_)
        self._share: Numbers = np.zeros(len(rows), object if self._large() else np.int64)
        """The share of the node reached last, when it is the candidate's turn."""
        self._tie: Numbers = tie_of_queue(rows, rows >= self._index.leaving, nodes == attempt.node)
        self.order: Rows = np.arange(len(rows))
        """The candidates that are left, as positions in ``rows``; those of each node reached last are in order."""
        for height in range(tree.heights[root] + 1):
            at = self._index.levels[height][nodes[self.order]]
            if height:
                self._merge(at)
            if height < tree.heights[root]:
                self._drop(self._index.levels[height][nodes[self.order]])

    def _large(self) -> bool:
        """Return whether any share might not fit into 64 bits."""
        used = {of: sum(map(abs, self._attempt.usage.columns[of])) for of in self._resources}
        return any(amount * int(self._index.ranks.factors(of[1]).max()) > SAFE for of, amount in used.items())

    def _merge(self, at: Rows) -> None:
        """Merge the candidates of the children of each node ``at``; -1: none of this height is above a candidate."""
        here = np.flatnonzero(at >= 0)
        rows, at = self.order[here], at[here]
        share = -self._share[rows]
        if share.dtype == object:
            share = np.unique(share, return_inverse=True)[1]
        order = np.lexsort((self._tie[rows], share, ~self._infinite[rows], at))
        self.order[here] = rows[order]

    def _drop(self, at: Rows) -> None:
        """Calculate the shares of the nodes ``at``; drop the candidates whose turn comes when they borrow nothing."""
        attempt, here = self._attempt, np.flatnonzero(at >= 0)
        rows, at = self.order[here], at[here]
        if not len(rows):
            return
        share, places = self._shares(rows, at), cohorts_by_name(attempt.tree)
        for cohort in set(at.tolist()) & places.keys():
            self._tie[rows[at == cohort]] = places[cohort]
        self._infinite[rows] = np.asarray(share > 0, np.bool_) & self._index.weightless[at]
        self._share[rows] = np.maximum(share, 0)
        self.order = np.delete(self.order, here[np.asarray(share < 0, np.bool_) & ~np.isin(at, attempt.path)])

    def _shares(self, rows: Rows, at: Rows) -> Numbers:
        """Return the share of each node ``at`` before the candidate is removed, -1 if it borrows nothing."""
        borrowed: dict[str, Numbers] = {}
        for of in self._resources:
            arrays, freed = self._index.arrays(of), self._freed[of]
            used = np.array(self._attempt.usage.columns[of], arrays.own.dtype)
            before = used[at] - sums_before(at, freed[rows])
            borrowed[of[1]] = borrowed.get(of[1], 0) + np.maximum(before - arrays.own[at], 0)
            kept = arrays.kept[at]
            freed[rows] = np.maximum(before, kept) - np.maximum(before - freed[rows], kept)
        share: Numbers = np.full(len(rows), -1, self._share.dtype)
        for name, amounts in borrowed.items():
            by_amount = amounts.astype(self._share.dtype) * self._index.ranks.factors(name)[at]
            share = np.where(amounts > 0, np.maximum(share, by_amount), share)
        return share

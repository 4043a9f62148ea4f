"""Removes many workloads at once, and finds out how many of them the pending workload needs."""

from collections.abc import Iterator

import numpy as np

from engine.model.collections.offsets import run_starts, running_sums
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.quota import FlavorResource
from engine.policies.cohort.search.quota_attempt import QuotaAttempt

_FEWEST = 1024
"""The number of workloads that are considered first; most searches need no more."""
_GROWTH = 8


def removed_until_fit(
    attempt: QuotaAttempt, rows: Rows, *, borrowing: bool, from_borrowers: bool = True
) -> Rows | None:
    """Remove workloads in order until the pending workload fits; return their positions in ``rows``.

    Return None if the pending workload does not fit in the end. ``borrowing``: whether it may borrow.
    ``from_borrowers``: whether a workload of another queue is skipped unless its queue, and all cohorts between it and
    the preemptor, borrow when its turn comes.
    """
    found = []
    for start, end in _blocks(len(rows)):
        block = _Block(attempt, rows[start:end], from_borrowers=from_borrowers)
        fitting = np.flatnonzero(block.taken & block.fits(borrowing=borrowing))
        taken = np.flatnonzero(block.taken)
        if len(fitting):
            taken = taken[taken <= fitting[0]]
        found.append(start + taken)
        _remove(attempt, rows[start:end][taken])
        if len(fitting):
            return np.concatenate(found)
    return None


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    start, size = 0, _FEWEST
    while start < count:
        yield start, min(start + size, count)
        start, size = start + size, size * _GROWTH


def _remove(attempt: QuotaAttempt, rows: Rows) -> None:
    """Remove the usage of some workloads from the attempt."""
    index = attempt.quota_index
    kinds, counts = np.unique(index.kind[rows], return_counts=True)
    for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        amounts = index.amounts[kind].items()
        attempt.usage.add(index.nodes[kind], {of: amount * count for of, amount in amounts}, -1)


class _Block:
    """Some workloads that are removed one after the other, perhaps only as far as their queues borrow at that time.

    Usage is followed from the queues up, through all nodes of one height at once. Usage only shrinks, so a queue or
    cohort that borrows no more never does again.
    """

    def __init__(self, attempt: QuotaAttempt, rows: Rows, *, from_borrowers: bool) -> None:
        self._attempt, index = attempt, attempt.quota_index
        self._from_borrowers = from_borrowers
        self.taken: Flags = np.ones(len(rows), np.bool_)
        """For each workload, whether it is removed when its turn comes."""
        self._used: dict[tuple[int, FlavorResource], Numbers] = {}
        """Usage of the preemptor's queue and the cohorts above it, once each workload had its turn."""
        kinds, nodes = index.kind[rows], index.node[rows]
        resources = dict.fromkeys([*attempt.contested, *attempt.asked])
        self._freed = {of: index.arrays(of).amounts[kinds] for of in resources}
        """What each workload frees at the nodes reached so far."""
        self._usage = {of: np.array(attempt.usage.columns[of], index.arrays(of).own.dtype) for of in resources}
        self._on_path: Flags = np.zeros(len(attempt.tree.names), np.bool_)
        self._on_path[list(attempt.path)] = True
        for ancestors in index.levels:
            at = ancestors[nodes]
            here = np.flatnonzero((at >= 0) & self.taken)
            if len(here):
                self._follow(at[here], here)

    def _follow(self, at: Rows, here: Rows) -> None:
        """Remove the workloads ``here`` from the nodes ``at``, unless those should borrow and do not."""
        borrow = self._on_path[at] | (not self._from_borrowers)
        for of, freed in self._freed.items():
            arrays, free = self._attempt.quota_index.arrays(of), freed[here]
            before = self._usage[of][at] - sums_before(at, free)
            if of in self._attempt.contested:
                borrow = borrow | np.asarray(before > arrays.own[at], np.bool_)
            self._follow_path(of, at, here, free)
            kept = arrays.kept[at]
            freed[here] = np.maximum(before, kept) - np.maximum(before - free, kept)
        self.taken[here[~borrow]] = False

    def _follow_path(self, of: FlavorResource, at: Rows, here: Rows, free: Numbers) -> None:
        for node in set(self._attempt.path) & set(at[self._on_path[at]].tolist()):
            change = np.zeros(len(self.taken), free.dtype)
            change[here[at == node]] = free[at == node]
            self._used[node, of] = self._usage[of][node] - np.cumsum(change)

    def fits(self, *, borrowing: bool) -> Flags:
        """Return for each workload whether the pending workload fits once it had its turn; see QuotaAttempt.lacks."""
        attempt, fits = self._attempt, np.ones(len(self.taken), np.bool_)
        for of, amount in attempt.asked.items():
            fits &= np.asarray(np.maximum(0, self._room(of)) >= amount, np.bool_)
            if not borrowing:
                fits &= np.asarray(
                    self._usage_at(attempt.node, of) <= attempt.tree.columns[of].own[attempt.node] - amount
                )
        return fits

    def _room(self, of: FlavorResource) -> Numbers:
        """Return how much more the preemptor's queue could use at each time; see QuotaUsage.room."""
        own, kept, limits = self._attempt.tree.columns[of]
        *below, root = self._attempt.path
        room = own[root] - self._usage_at(root, of)
        for node in reversed(below):
            free, limit = kept[node] - self._usage_at(node, of), limits[node]
            if limit is not None:
                room = np.minimum(room, own[node] - kept[node] + np.minimum(0, free) + limit)
            room = room + np.maximum(0, free)
        return room

    def _usage_at(self, node: int, of: FlavorResource) -> Numbers:
        """Return the usage at each time, or an array of one number where it stays as it is.

        It is never a plain integer: numpy makes 64 bits of one, to which larger amounts can't be added.
        """
        used = self._used.get((node, of))
        return self._usage[of][[node]] if used is None else used


def sums_before(groups: Rows, numbers: Numbers) -> Numbers:
    """Return for each row the sum of the earlier rows of its group."""
    order = np.argsort(groups.astype(np.min_scalar_type(int(groups.max()))), kind="stable")
    sums, first = running_sums(numbers[order]), np.flatnonzero(run_starts(groups[order]))
    before = np.empty_like(numbers)
    before[order] = sums[:-1] - np.repeat(sums[first], np.diff(first, append=len(order)))
    return before

"""Yields queues in the order in which they are preempted from, lazily, because most decisions need only a few."""

from bisect import insort
from collections.abc import Collection, Iterator
from itertools import count, islice, pairwise, repeat
from typing import NamedTuple

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.queue_tree import WEIGHT_ONE
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.shares.balances import Share, share
from engine.policies.deserved.shares.claims import SLACK, Floats
from engine.policies.deserved.shares.share_status import ShareStatuses

_MANY = 64
"""If more queues than this changed, siblings are sorted again; otherwise the changed ones are moved."""


class _SortedSiblings(NamedTuple):
    """Siblings in the order of preemption, at the moment that has these share statuses."""

    share_statuses: ShareStatuses
    by_parent: dict[int, list[int]]


class ShareOrder:
    """The order of ``ShareBalances.rank``.

    Siblings are sorted by floating-point shares; those whose shares are close are compared exactly.
    """

    def __init__(self, attempt: ReclaimAttempt) -> None:
        self._attempt, self._pod_index = attempt, attempt.nodes.pod_index
        self._over = [attempt.ledger.over(name) for name in attempt.counted]
        self._sorted: dict[int, list[int]] = self._reused()
        """Number of a queue -> the numbers of its children in the order of preemption."""
        self._drawn: dict[bytes, tuple[list[str], Iterator[str]]] = {}
        """Set of queues -> those yielded so far, and an iterator over the rest."""

    def _reused(self) -> dict[int, list[int]]:
        """Return the siblings that an earlier attempt of the pass sorted, with the queues moved that changed since."""
        attempt = self._attempt
        key = (attempt.tree, attempt.parameters.method, tuple(attempt.counted.items()))
        cache: dict[str, _SortedSiblings] = attempt.snapshot.once("deserved order", key, dict)
        known = cache.get("latest")
        changed = attempt.share_statuses.differing(known.share_statuses) if known else []
        found = self._moved(known.by_parent, changed) if known and len(changed) <= _MANY else {}
        cache["latest"] = _SortedSiblings(attempt.share_statuses, found)
        return found

    def _moved(self, by_parent: dict[int, list[int]], changed: Collection[str]) -> dict[int, list[int]]:
        number, above = self._pod_index.number, self._pod_index.queues.above
        moving = [(at, int(above[at])) for at in map(number.__getitem__, changed) if int(above[at]) in by_parent]
        later = by_parent | {parent: by_parent[parent].copy() for _, parent in moving}
        for at, parent in moving:
            later[parent].remove(at)
        for at, parent in moving:
            insort(later[parent], at, key=self._rank)
        return later

    def _rank(self, number: int) -> tuple[Share, str]:
        path, over = self._pod_index.paths[number], [int(over[number]) for over in self._over]
        return -share(self._attempt, over, self._attempt.tree[path].weight), path

    def among(self, queues: Flags) -> Iterator[str]:
        """Yield some queues, given by number, in the order of preemption.

        A queue comes before the queues below it.
        """
        drawn, left = self._drawn.setdefault(queues.tobytes(), ([], self._found(queues)))
        for position in count():
            if position == len(drawn):
                drawn += islice(left, 1)
            if position == len(drawn):
                return
            yield drawn[position]

    def _found(self, queues: Flags) -> Iterator[str]:
        if not queues.any():
            return
        pod_index = self._pod_index
        within = np.zeros(pod_index.nobody + 1, np.bool_)
        within[pod_index.ancestors[:, queues]] = True
        within[pod_index.nobody] = False
        for path in self._attempt.tree.lineage(self._attempt.leaf):
            if queues[pod_index.number[path]]:
                yield path
            yield from self._below(path, within & ~self._attempt.above_ask, queues)

    def _below(self, area: str, within: Flags, queues: Flags) -> Iterator[str]:
        pod_index = self._pod_index
        for number in self._children(pod_index.number[area]):
            if not within[number]:
                continue
            path = pod_index.paths[number]
            if queues[number]:
                yield path
            if pod_index.tree.children[path]:
                yield from self._below(path, within, queues)

    def _children(self, area: int) -> list[int]:
        """Return the children of a queue in the order of preemption."""
        if area not in self._sorted:
            self._sorted[area] = self._ordered(np.flatnonzero(self._pod_index.queues.above == area))
        return self._sorted[area]

    def _ordered(self, siblings: Rows) -> list[int]:
        order = siblings[np.argsort(-self._nearly(siblings), kind="stable")]
        shares = self._nearly(order)
        apart = -np.diff(shares) > SLACK * np.maximum(np.abs(shares[1:]), np.abs(shares[:-1]))
        starts = [0, *(np.flatnonzero(apart) + 1).tolist(), len(order)]
        return [number for start, end in pairwise(starts) for number in self._exactly(order[start:end])]

    def _exactly(self, close: Rows) -> list[int]:
        """Sort queues by exact share, then by name. The share of equal queues is calculated only once."""
        if len(close) == 1:
            return [int(close[0])]
        attempt, paths = self._attempt, self._pod_index.paths
        numbers = close.tolist()
        lines = zip(*(over[close].tolist() for over in self._over), strict=True) if self._over else repeat(())
        standings = [(over, attempt.tree[paths[number]].weight) for over, number in zip(lines, numbers, strict=False)]
        kinds = set(standings)
        less = {(over, weight): -share(attempt, over, weight) for over, weight in kinds if len(kinds) > 1}
        if not less:
            return sorted(numbers, key=paths.__getitem__)
        order = sorted(
            (less[standing], paths[number], number) for standing, number in zip(standings, numbers, strict=True)
        )
        return [number for _, _, number in order]

    def _nearly(self, queues: Rows) -> Floats:
        """Return for some queues their shares as floating-point numbers."""
        parts = [
            over[queues].astype(np.float64) / float(capacity)
            for over, capacity in zip(self._over, self._attempt.counted.values(), strict=True)
        ]
        most = np.max(parts, axis=0) if parts else np.zeros(len(queues))
        shares: Floats = most * WEIGHT_ONE / self._pod_index.queues.weights[queues]
        return shares

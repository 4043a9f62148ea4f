"""Yields queues in the order in which they are preempted from, lazily, because most decisions need only a few."""

from collections.abc import Iterator
from itertools import count, islice, pairwise, repeat

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.queue_tree import WEIGHT_ONE
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.shares.balances import share
from engine.policies.deserved.shares.claims import SLACK, Floats


class ShareOrder:
    """The order of ``ShareBalances.rank``.

    Siblings are sorted by floating-point shares; those whose shares are close are compared exactly.
    """

    def __init__(self, attempt: ReclaimAttempt) -> None:
        self._attempt, self._pod_index = attempt, attempt.nodes.pod_index
        self._over = [attempt.ledger.over(name) for name in attempt.counted]
        self._shares = self._nearly()
        self._drawn: dict[bytes, tuple[list[str], Iterator[str]]] = {}
        """Set of queues -> those yielded so far, and an iterator over the rest."""

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
        for number in self._ordered(np.flatnonzero(within & (pod_index.above == pod_index.number[area]))):
            path = pod_index.paths[number]
            if queues[number]:
                yield path
            if pod_index.tree.children[path]:
                yield from self._below(path, within, queues)

    def _ordered(self, siblings: Rows) -> Iterator[int]:
        order = siblings[np.argsort(-self._shares[siblings], kind="stable")]
        shares = self._shares[order]
        apart = -np.diff(shares) > SLACK * np.maximum(np.abs(shares[1:]), np.abs(shares[:-1]))
        starts = [0, *(np.flatnonzero(apart) + 1).tolist(), len(order)]
        for start, end in pairwise(starts):
            yield from self._exactly(order[start:end])

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

    def _nearly(self) -> Floats:
        """Return for every queue its share as a floating-point number."""
        parts = [
            over.astype(np.float64) / float(capacity)
            for over, capacity in zip(self._over, self._attempt.counted.values(), strict=True)
        ]
        most = np.max(parts, axis=0) if parts else np.zeros(self._pod_index.nobody + 1)
        shares: Floats = most * WEIGHT_ONE / self._pod_index.weights
        return shares

"""Measures how a cluster is divided at one time: shares, fairness, and which queues lack their guarantee."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from engine.model.objects import Pod
from engine.model.quantities import Amounts, dominant_share
from engine.model.queue_tree import QueueTree
from engine.observation.shortfalls import shortfalls
from engine.planning.comparison.figures import WHOLE


class QueueDemand:
    """The leaves of a tree with what their pods hold, and the pending pods. ``pods`` are those of a snapshot."""

    def __init__(self, tree: QueueTree, capacity: Mapping[str, int], pods: Iterable[Pod]) -> None:
        self._tree, self._capacity = tree, capacity
        placed = [pod for pod in pods if pod.queue is not None and pod.queue in tree]
        self._bound = [pod for pod in placed if pod.node is not None]
        self._pending = [pod for pod in placed if pod.node is None and not pod.gated and not pod.terminating]

    @cached_property
    def short(self) -> dict[str, int]:
        """Return the path of each queue -> how many pods wait for what the queue lacks of its guarantee."""
        return shortfalls(self._tree, self._tree.roll_up(self._by_leaf), self._pending)

    @cached_property
    def shares(self) -> dict[str, Fraction]:
        """Return each leaf with demand, which is pods that run or wait -> its dominant share of the cluster.

        Pods themselves are not counted as a resource.
        """
        leaves = self._by_leaf.keys() | {pod.queue for pod in self._pending if pod.queue is not None}
        return {leaf: dominant_share(self._by_leaf.get(leaf, {}), self._capacity) for leaf in sorted(leaves)}

    @cached_property
    def jain(self) -> int | None:
        """Return Jain's index over the shares, in millionths; None where no queue holds anything."""
        return jain(list(self.shares.values()))

    @cached_property
    def _by_leaf(self) -> dict[str, Amounts]:
        return self._tree.held_by_leaf((pod.queue, pod.requests) for pod in self._bound)


def jain(shares: Sequence[Fraction]) -> int | None:
    """Return Jain's index, (Σx)² / (n Σx²), in millionths, rounded down; None for no shares.

    Equal shares give 1, a single owner of everything gives 1/n.

    Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301, 1984.
    """
    squares = sum((share * share for share in shares), Fraction(0))
    if not squares:
        return None
    return int(sum(shares, Fraction(0)) ** 2 * WHOLE / (len(shares) * squares))

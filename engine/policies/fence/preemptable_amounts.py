"""What may be taken together, of one node at a time: of each queue (law 2), and of what a disruption budget covers."""

from collections.abc import Callable, Iterable

import numpy as np

from engine.model.columns.node_columns import SAFE, Columns, Flags, Numbers, Rows
from engine.model.objects import Pod
from engine.policies.common.pod_index import LIMITLESS, PodIndex
from engine.policies.common.queue_usage import QueueUsage
from engine.policies.common.safeguards import EvictionLimit

Spared = dict[str, Numbers]
"""Resource that is guaranteed somewhere -> queue -> how much may be taken from below it."""


def spared(ground: PodIndex, usage: QueueUsage, leaf: str, ask: Pod) -> Spared:
    """What may be taken for an ask of a leaf."""
    return {name: spare for guard in GUARDS.values() for name, spare in guard(ground, usage, leaf, ask).items()}


def _beyond_guarantees(ground: PodIndex, usage: QueueUsage, leaf: str, ask: Pod) -> Spared:
    """What queues use beyond their guarantees, which is less than nothing where they are below.

    A queue above the asker too gets the ask in return, and may stay as far below as it was.
    """
    mine = [ground.number[path] for path in ground.tree.lineage(leaf)]
    found = {}
    for resource, promised in ground.promised.items():
        spare = usage.of(usage.giving, resource) - promised
        spare[mine] = np.maximum(spare[mine], 0) + min(ask.requests.get(resource, 0), SAFE)
        found[resource] = np.where(promised < 0, ground.limitless(spare), spare)
    return found


GUARDS: dict[str, Callable[[PodIndex, QueueUsage, str, Pod], Spared]] = {"guarantee": _beyond_guarantees}
"""What of a queue is not to be taken."""


def scarce(ground: PodIndex, spared: Spared) -> Flags:
    """Queue -> whether the pods of some node could together take more than it, or one above, has to spare."""
    scarce = np.zeros(ground.nobody + 1, np.bool_)
    for resource, spare in spared.items():
        short = np.asarray(spare < ground.densest[resource], np.bool_)
        scarce |= short[ground.line].any(axis=0)
    return scarce


class Shared:
    """What some pods (rows, node by node) may still give together, each node looked at by itself."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    @property
    def binds(self) -> bool:
        """Whether there is any limit."""
        return bool(self._groups)

    def allows(self, index: Rows) -> Flags:
        """Of pods of different nodes, by where they stand among the rows: whether they may go too."""
        allowed = np.ones(len(index), np.bool_)
        for one in self._groups:
            held = one.held[index]
            allowed &= (held <= 0) | np.asarray(held <= one.left[one.group[index]], np.bool_)
        return allowed

    def take(self, index: Rows) -> None:
        """They go."""
        for one in self._groups:
            np.subtract.at(one.left, one.group[index], one.held[index])


class Allowance(Shared):
    """What disruption budgets still allow of the pods that they cover."""

    def __init__(self, columns: Columns, rows: Rows, limits: Iterable[EvictionLimit]) -> None:
        super().__init__()
        for limit in limits:
            covered = np.isin(rows, limit.covered)
            nodes, group, counts = np.unique(columns.node[rows[covered]], return_inverse=True, return_counts=True)
            if counts.max(initial=0) <= limit.allowed:
                continue
            groups = np.full(len(rows), len(nodes), np.intp)
            groups[covered] = group
            left = np.append(np.full(len(nodes), limit.allowed), LIMITLESS)
            self._groups.append(_Group(covered.astype(np.int64), groups, left))


class PreemptableAmounts(Shared):
    """What the queues of some pods (rows, node by node) may still give, each node looked at by itself."""

    def __init__(self, ground: PodIndex, rows: Rows, spared: Spared) -> None:
        super().__init__()
        queue = ground.row_queue[rows]
        bound = np.flatnonzero(scarce(ground, spared)[queue])
        if not len(bound):
            return
        node = ground.columns.node[rows[bound]]
        for resource, spare in spared.items():
            held = ground.amounts(resource)[ground.kinds.of[rows]]
            for level in ground.line:
                above = level[queue[bound]]
                names, group = np.unique(node * (ground.nobody + 1) + above, return_inverse=True)
                left = np.append(spare[names % (ground.nobody + 1)], ground.limitless(spare))
                groups = np.full(len(rows), len(names), np.intp)
                groups[bound] = group
                self._groups.append(_Group(held, groups, left))


class _Group:
    """Pods of one node below one queue: what each holds, its group, and what the groups may still give.

    The last group, of pods that are of none, gives without limit.
    """

    def __init__(self, held: Numbers, group: Rows, left: Numbers) -> None:
        self.held, self.group, self.left = held, group, left

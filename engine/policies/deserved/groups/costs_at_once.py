"""What victims cost on all nodes at once, for clusters in which this is simple: candidates that are all alike.

The queue to take from changes with every victim. Where all candidates request the same, and every queue is by itself
below the queues that it shares with the gang, a queue's rank depends only on how many of its pods went before. Then the
victims of a node are the first of its units in one sorted order.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.snapshot.eviction_units import Units
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.balances import Rank, share

UNKNOWN = np.iinfo(np.int64).min


class UnitOrder:
    """The bound pods by node, and on each by the queue and by the order of their units in it; whoever may go."""

    def __init__(self, nodes: PreemptionAttempt, units: Units) -> None:
        columns, leads = nodes.columns, units.lead
        created: Numbers = columns.once("created", None, lambda: columns.numbers(pod_fields.created))
        self.priority, self.created = columns.priority.copy(), created.copy()
        """Row -> of the pod's unit: the highest priority, and when its oldest pod was created."""
        whole = np.flatnonzero(units.whole)
        np.maximum.at(self.priority, leads[whole], np.maximum(columns.priority, units.priority)[whole])
        np.minimum.at(self.created, leads[whole], created[whole])
        self.priority[whole], self.created[whole] = self.priority[leads[whole]], self.created[leads[whole]]
        keys = [pod.key for pod in columns.pods]
        by_key = np.empty(len(keys), np.intp)
        by_key[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        queue = nodes.pod_index.row_queue
        self.rows: Rows = np.lexsort((by_key[leads], -self.created, self.priority, queue, columns.node))


class CostsAtOnce:
    """The costs of the victims on each node. ``may_go``: by row, whether the pod may go, with all of its unit."""

    def __init__(self, candidates: Candidates, units: Units, may_go: Flags) -> None:
        self._candidates = candidates
        self._attempt, self._nodes = candidates.attempt, candidates.attempt.nodes
        self._units, self._balances, self._may_go = units, candidates.balances, may_go
        amounts = {name: self._nodes.columns.requests(name)[may_go] for name in self._attempt.wanted}
        self._each = {name: int(some[0]) for name, some in amounts.items() if len(some) and (some == some[0]).all()}

    @property
    def known(self) -> bool:
        """Return whether the costs are known: all candidates are alike, and so is the order of all queues."""
        attempt, paths = self._attempt, self._nodes.pod_index.paths
        queue = self._nodes.pod_index.row_queue
        queues = np.unique(queue[self._may_go])
        return (
            not attempt.outranks
            and all(self._each.get(name) for name in attempt.wanted)
            and bool((queue[self._units.lead] == queue)[self._may_go].all())
            and all(len(attempt.line(paths[number])) == 1 for number in queues.tolist())
        )

    def least(self, lacks: Mapping[str, Numbers]) -> Numbers:
        """Return the highest priority, the number and the negated creation time of the newest victim, by node index.

        They are the least of those with and those without whole groups. Where they are not known, the first is UNKNOWN.
        ``lacks``: resource -> what a member lacks on each node.
        """
        needed = np.max([-(-lacks[name] // each) for name, each in self._each.items()], axis=0)
        units, nodes = self._units, self._nodes
        order = nodes.snapshot.once("deserved unit order", nodes.tree, lambda: UnitOrder(nodes, units))
        rows = order.rows[self._may_go[order.rows]]
        sizes = np.bincount(units.lead[rows], minlength=len(self._may_go))[units.lead[rows]]
        alone = sizes == 1
        found = self._of(order, rows[alone], sizes[alone], needed)
        if not alone.all():
            other = self._of(order, rows, sizes, needed)
            found = np.where(_less(other, found), other, found)
        found[:, self._budgeted_nodes()] = UNKNOWN
        return found

    def _budgeted_nodes(self) -> Rows:
        """Return the nodes (by index) with units that a disruption budget may spare."""
        leads = self._units.lead
        budgeted = np.zeros(len(leads), np.bool_)
        budgeted[leads[self._candidates.budgeted]] = True
        nodes: Rows = self._nodes.columns.node[budgeted[leads]]
        return nodes

    def _of(self, order: UnitOrder, rows: Rows, sizes: Rows, needed: Numbers) -> Numbers:
        """Return the costs of the first units of each node. ``sizes``: how many pods go with each of the rows."""
        node, queue = self._nodes.columns.node[rows], self._nodes.pod_index.row_queue[rows]
        before = np.cumsum(sizes) - sizes
        starts = np.flatnonzero(run_starts(node) | run_starts(queue))
        before -= np.repeat(before[starts], np.diff(starts, append=len(rows)))
        turn = self._turns(queue, before)
        goes = _first_of_each(node, turn, needed)
        first = np.flatnonzero(run_starts(node[goes]))
        places, counts = node[goes[first]], np.diff(first, append=len(goes))
        costs = np.full((3, len(needed)), UNKNOWN, np.int64)
        if len(first):
            costs[:, places] = (
                np.maximum.reduceat(order.priority[rows[goes]], first),
                np.add.reduceat(sizes[goes], first),
                -np.maximum.reduceat(order.created[rows[goes]], first),
            )
            costs[:, places[counts < needed[places]]] = UNKNOWN
        lead = self._units.lead[rows]
        costs[:, node[~run_starts(lead) & ~run_starts(node)]] = UNKNOWN  # several pods there go together
        return costs

    def _turns(self, queue: Rows, before: Rows) -> Rows:
        """Return the place in the order of all units, by queue and number of pods that went before; -1: it stays."""
        width = int(before.max(initial=0)) + 1
        codes = queue * width + before
        present = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
        present[codes] = True
        turns = np.full(len(present), -1, np.intp)
        ranks: list[tuple[Rank, int]] = []
        for number in np.unique(queue).tolist():
            before_here = np.flatnonzero(present[number * width : (number + 1) * width]).tolist()
            ranks += ((rank, number * width + gone) for rank, gone in self._ranks(number, before_here))
        turns[[code for _rank, code in sorted(ranks)]] = np.arange(len(ranks))
        found: Rows = turns[codes]
        return found

    def _ranks(self, number: int, before: Iterable[int]) -> Iterator[tuple[Rank, int]]:
        """Yield the rank of a queue after some numbers of its pods went, as long as it uses more than it deserves."""
        attempt, path = self._attempt, self._nodes.pod_index.paths[number]
        common, weight = -attempt.common(path), attempt.tree[path].weight
        over = {name: self._balances.over(path, name) for name in self._each}
        for gone in before:
            left = {name: amount - gone * self._each[name] for name, amount in over.items()}
            if any(amount > 0 for amount in left.values()):
                least = -share(attempt, (left[name] for name in attempt.counted), weight)
                yield (common, ((least, path),)), gone


def _first_of_each(node: Rows, turn: Rows, needed: Numbers) -> Rows:
    """Return which rows go, node by node: the first in their turn, as many as a node needs. ``node``: sorted."""
    first = np.flatnonzero(run_starts(node))
    counts = np.diff(first, append=len(node))
    behind, never = len(node) + 1, np.iinfo(np.int64).max
    each = np.full((len(first), int(counts.max(initial=0))), never, np.int64)
    number = np.arange(len(node))
    each[np.repeat(np.arange(len(first)), counts), number - np.repeat(first, counts)] = np.where(
        turn < 0, never, turn * behind + number
    )
    each.sort(axis=1)
    goes = (np.arange(each.shape[1]) < needed[node[first], np.newaxis]) & (each != never)
    rows: Rows = each[goes] % behind
    return rows


def _less(one: Numbers, other: Numbers) -> Flags:
    """Return, by column, whether costs are less than others, or alone are known."""
    less: Flags = (other[0] == UNKNOWN) & (one[0] != UNKNOWN)
    same = (other[0] != UNKNOWN) & (one[0] != UNKNOWN)
    for mine, theirs in zip(one, other, strict=True):
        less |= same & (mine < theirs)
        same &= mine == theirs
    return less

"""The number of victims needed on every node under YuniKorn's rules, computed for all nodes at once.

This is the index that ``victims.on_node`` finds for one node, by the same arithmetic over arrays. It is only correct if
evictions do not affect the queues above the preemptor, which ``applies`` checks. Then the second pass of ``on_node``
chooses the victims that its first pass found.

Source: calculateVictimsByNode of yunikorn-core.
"""

from collections.abc import Sequence

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.objects import Pod
from engine.policies.yunikorn.pod_table import UNLIMITED, PodTable
from engine.policies.yunikorn.queue_balances import QueueBalances
from engine.policies.yunikorn.victims.remaining_guarantees import RemainingGuarantees

NONE, FITS = -2, -1
"""Values in place of an index: no number of victims makes enough room; no victims are needed."""


def applies(table: PodTable, balances: QueueBalances, guarantees: RemainingGuarantees, ask: Pod, leaves: Rows) -> bool:
    """Return whether this calculation is correct for victims from these leaves, and all numbers fit into 64 bits."""
    quirks, columns = balances.quirks, table.columns
    kept = not (quirks.leaf_below and quirks.parent_below)
    if table.left.dtype != np.int64 or (kept and balances.cuts(ask.queue or "")):
        return False
    counted = {*table.guaranteed, *ask.requests}
    numbers = (of(name) for name in counted for of in (columns.requests, columns.allocatable, columns.held))
    if any(each.dtype != np.int64 for each in numbers):
        return False
    above = [table.queue[path] for path in balances.tree.lineage(ask.queue or "")]
    return not any(np.isin(level.queue[leaves], above).any() for level in guarantees.levels)


def indices(
    table: PodTable, balances: QueueBalances, guarantees: RemainingGuarantees, ask: Pod, candidates: Rows, free: Numbers
) -> Rows:
    """Return for each node (by place) the number of victims minus one, or NONE or FITS.

    ``candidates``: rows, node by node, each node's in the order in which they are considered. ``free``: for each place
    the free amounts of the requested resources, in the order of their names.
    """
    columns = table.columns
    victims = _VictimsSoFar(table, balances, guarantees, ask)
    counts = np.bincount(columns.node[candidates], minlength=len(columns.nodes))
    starts = np.cumsum(counts) - counts
    short = victims.asked - free
    found: Rows = np.full(len(columns.nodes), NONE, np.intp)
    found[_enough(short, victims.asked)] = FITS
    open_places = np.flatnonzero((found == NONE) & (counts > 0))
    counted = np.zeros(len(open_places), np.intp)
    victims.start(len(open_places))
    step = 0
    searched = np.arange(len(open_places))
    while len(searched):
        rows = candidates[starts[open_places[searched]] + step]
        goes, stops = victims.take(searched, rows, short[open_places[searched]])
        short[open_places[searched[goes]]] -= victims.requests(rows[goes])
        counted[searched[goes]] += 1
        enough = goes & _enough(short[open_places[searched]], victims.asked)
        found[open_places[searched[enough]]] = counted[searched[enough]] - 1
        step += 1
        searched = searched[~stops & ~enough & (counts[open_places[searched]] > step)]
    return found


def _enough(short: Numbers, asked: Numbers) -> Flags:
    return np.asarray((short[:, asked > 0] <= 0).all(axis=1), np.bool_)


class _VictimsSoFar:
    """The victims so far on each of many nodes, updated one pod per node at a time."""

    def __init__(self, table: PodTable, balances: QueueBalances, guarantees: RemainingGuarantees, ask: Pod) -> None:
        self.table, self.guarantees, preemptor_leaf = table, guarantees, ask.queue or ""
        self.names = sorted(ask.requests)
        self.asked: Numbers = np.array([ask.requests[name] for name in self.names], np.int64)
        left = balances.remaining(preemptor_leaf, preemptor_leaf) or {}
        self.limits = sorted(left) if balances.quirks.victims_charged else []
        """The resources in which the preemptor's guarantee counts."""
        if not balances.quirks.whole_ask:
            left = {name: max(amount, ask.requests.get(name, 0)) for name, amount in left.items()}
        self.left: Numbers = np.array([left[name] for name in self.limits], np.int64)
        self.asks: Rows = np.array([place for _, place in guarantees.columns(self.names)], np.intp)
        """The indexes of the requested resources among the guaranteed resources."""
        self.quirks = balances.quirks
        self.own: Rows = np.array([*(table.queue[path] for path in table.leaves), -1], np.intp)

    def start(self, nodes: int) -> None:
        """Start over with the given number of nodes and no victims."""
        self.charged: Numbers = np.zeros((nodes, len(self.limits)), np.int64)
        self.gone: list[tuple[Rows, Numbers]] = []
        self.nodes = nodes

    def requests(self, rows: Rows) -> Numbers:
        """Return what pods (rows) request of each resource that the pending pod requests."""
        return self._amounts(self.names, rows)

    def _amounts(self, names: Sequence[str], rows: Rows) -> Numbers:
        columns = self.table.columns
        held = [columns.requests(name)[rows] for name in names]
        return np.stack(held, axis=1) if held else np.zeros((len(rows), 0), np.int64)

    def take(self, nodes: Rows, rows: Rows, short: Numbers) -> tuple[Flags, Flags]:
        """Consider one pod (row) on each of these nodes as a victim.

        Return for each whether it becomes a victim that helps, and whether the search on its node ends with it.
        """
        requested = self.requests(rows)
        spare = self._spare(nodes, rows)
        held = self._amounts(self.limits, rows)
        named = [self.table.requesting(name)[rows] for name in self.limits]
        over = self.charged[nodes] + held > self.left
        beyond = (over & np.stack(named, axis=1)).any(axis=1) if named else np.zeros(len(rows), np.bool_)
        goes = spare & ~beyond & ((short > 0) & (requested > 0)).any(axis=1)
        self.charged[nodes[goes]] += held[goes]
        leaves = np.full(self.nodes, -1, np.intp)
        leaves[nodes[goes]] = self.table.leaf[rows[goes]]
        amounts = np.zeros((self.nodes, len(self.guarantees.names)), np.int64)
        amounts[nodes[goes]] = self._amounts(self.guarantees.names, rows[goes])
        if goes.any():
            self.gone.append((leaves, amounts))
        return goes, spare & beyond

    def _spare(self, nodes: Rows, rows: Rows) -> Flags:
        """Return for each pod whether its queue can spare it, given the previous victims on its node."""
        leaf = self.table.leaf[rows]
        spare, kept = self.guarantees.unlimited[leaf], np.ones(len(rows), np.bool_)
        for level in self.guarantees.levels:
            left = level.left[leaf]
            queue = level.queue[leaf]
            for leaves, amounts in self.gone:
                before = leaves[nodes]
                same = (before >= 0) & (queue >= 0) & (self.table.ancestors[level.depth[leaf], before] == queue)
                if same.any():
                    left[same] += amounts[nodes[same]]
            spare = spare | (left[:, self.asks] < 0).any(axis=1)
            kept &= self._kept(rows, left, queue == self.own[leaf])
        return spare & kept

    def _kept(self, rows: Rows, left: Numbers, own: Flags) -> Flags:
        """Return for each pod whether a queue would not be below its guarantee without it, if the quirks check that.

        ``own``: whether the queue is the pod's own leaf.
        """
        unlooked = np.where(own, self.quirks.leaf_below, self.quirks.parent_below)
        if unlooked.all():
            return unlooked
        held = self._amounts(self.guarantees.names, rows)
        below = (held > 0) & (left < UNLIMITED // 2) & (left + held > 0)
        return np.asarray(unlooked | ~below.any(axis=1), np.bool_)

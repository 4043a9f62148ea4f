"""The number of victims needed on every node under YuniKorn's rules, computed for all nodes at once.

This is the index that ``victims.on_node`` finds for one node, by the same arithmetic over arrays. It is only correct if
evictions do not affect the queues above the preemptor, which ``applies`` checks. Then the second pass of ``on_node``
chooses the victims that its first pass found.

Source: calculateVictimsByNode of yunikorn-core.
"""

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.objects import Pod
from engine.policies.yunikorn.candidates import YuniKornCandidates
from engine.policies.yunikorn.pod_table import UNLIMITED, PodTable
from engine.policies.yunikorn.queue_balances import QueueBalances
from engine.policies.yunikorn.victims.remaining_guarantees import RemainingGuarantees

NONE, FITS = -2, -1
"""Values in place of an index: no number of victims makes enough room; no victims are needed."""


def applies(candidates: YuniKornCandidates) -> bool:
    """Return whether this calculation is correct for the candidates, and all numbers fit into 64 bits."""
    attempt = candidates.attempt
    table, balances, ask = attempt.table, attempt.balances, attempt.ask
    quirks, columns = balances.quirks, table.columns
    kept = not (quirks.leaf_below and quirks.parent_below)
    if table.left.dtype != np.int64 or (kept and balances.cuts(ask.queue or "")):
        return False
    counted = {*table.guaranteed, *ask.requests}
    numbers = (of(name) for name in counted for of in (columns.requests, columns.allocatable, columns.held))
    if any(each.dtype != np.int64 for each in numbers):
        return False
    above = [table.queue[path] for path in balances.tree.lineage(ask.queue or "")]
    affected = np.zeros(len(table.leaves) + 1, np.bool_)
    for level in candidates.guarantees.levels:
        affected |= np.isin(level.queue, above)
    return not (affected.any() and affected[table.leaf[candidates.rows]].any())


def indices(candidates: YuniKornCandidates, free: Numbers) -> Rows:
    """Return for each node (by place) the number of victims minus one, or NONE or FITS.

    ``free``: for each place the free amounts of the requested resources, in the order of their names.
    """
    attempt = candidates.attempt
    of_kind = attempt.table.kinds.of
    victims = _VictimsSoFar(attempt.table, attempt.balances, candidates.guarantees, attempt.ask)
    starts, counts = candidates.first[:-1], np.diff(candidates.first)
    short = victims.asked - free
    found: Rows = np.full(len(counts), NONE, np.intp)
    found[_enough(short, victims.asked)] = FITS
    open_places = np.flatnonzero((found == NONE) & (counts > 0))
    counted = np.zeros(len(open_places), np.intp)
    victims.start(len(open_places))
    step = 0
    searched = np.arange(len(open_places))
    while len(searched):
        places = open_places[searched]
        kinds = of_kind[candidates.rows[starts[places] + step]]
        goes, stops = victims.take(searched, kinds, short.take(places, axis=0))
        short[places[goes]] -= victims.requests[kinds[goes]]
        counted[searched[goes]] += 1
        enough = goes & _enough(short[places], victims.asked)
        found[places[enough]] = counted[searched[enough]] - 1
        step += 1
        searched = searched[~stops & ~enough & (counts[places] > step)]
    return found


def _enough(short: Numbers, asked: Numbers) -> Flags:
    return np.asarray((short[:, asked > 0] <= 0).all(axis=1), np.bool_)


class _VictimsSoFar:
    """The victims so far on each of many nodes, updated one pod per node at a time."""

    def __init__(self, table: PodTable, balances: QueueBalances, guarantees: RemainingGuarantees, ask: Pod) -> None:
        self.table, self.guarantees, preemptor_leaf = table, guarantees, ask.queue or ""
        names = sorted(ask.requests)
        self.asked: Numbers = np.array([ask.requests[name] for name in names], np.int64)
        self.requests = table.requests(names)
        """Kind of pod -> what it requests of each resource that the pending pod requests."""
        left = balances.remaining(preemptor_leaf, preemptor_leaf) or {}
        self.limits = sorted(left) if balances.quirks.victims_charged else []
        """The resources in which the preemptor's guarantee counts."""
        self._charges, self._named = table.requests(self.limits), table.requesting(self.limits)
        self._guaranteed = table.requests(guarantees.names)
        if not balances.quirks.whole_ask:
            left = {name: max(amount, ask.requests.get(name, 0)) for name, amount in left.items()}
        self.left: Numbers = np.array([left[name] for name in self.limits], np.int64)
        self.asks: Rows = np.array([place for _, place in guarantees.columns(names)], np.intp)
        """The indexes of the requested resources among the guaranteed resources."""
        self.quirks = balances.quirks

    def start(self, nodes: int) -> None:
        """Start over with the given number of nodes and no victims."""
        self.charged: Numbers = np.zeros((nodes, len(self.limits)), np.int64)
        self.gone: list[tuple[Rows, Numbers]] = []
        self.nodes = nodes

    def take(self, nodes: Rows, kinds: Rows, short: Numbers) -> tuple[Flags, Flags]:
        """Consider one pod on each of these nodes as a victim. ``kinds``: the kind of each pod.

        Return for each whether it becomes a victim that helps, and whether the search on its node ends with it.
        """
        spare = self._spare(nodes, kinds)
        held = self._charges.take(kinds, axis=0)
        beyond = ((self.charged.take(nodes, axis=0) + held > self.left) & self._named.take(kinds, axis=0)).any(axis=1)
        goes = spare & ~beyond & ((short > 0) & (self.requests.take(kinds, axis=0) > 0)).any(axis=1)
        self.charged[nodes[goes]] += held[goes]
        leaves = np.full(self.nodes, -1, np.intp)
        leaves[nodes[goes]] = self.table.leaf_of_kind[kinds[goes]]
        amounts = np.zeros((self.nodes, len(self.guarantees.names)), np.int64)
        amounts[nodes[goes]] = self._guaranteed[kinds[goes]]
        if goes.any():
            self.gone.append((leaves, amounts))
        return goes, spare & beyond

    def _spare(self, nodes: Rows, kinds: Rows) -> Flags:
        """Return for each pod whether its queue can spare it, given the previous victims on its node."""
        leaf = self.table.leaf_of_kind[kinds]
        spare, kept = self.guarantees.unlimited[leaf], np.ones(len(kinds), np.bool_)
        for level in self.guarantees.levels:
            left = level.left[leaf]
            queue = level.queue[leaf]
            for leaves, amounts in self.gone:
                before = leaves[nodes]
                same = (before >= 0) & (queue >= 0) & (self.table.ancestors[level.depth[leaf], before] == queue)
                if same.any():
                    left[same] += amounts[nodes[same]]
            spare = spare | (left[:, self.asks] < 0).any(axis=1)
            kept &= self._kept(kinds, left, queue == self.table.queue_of_leaf[leaf])
        return spare & kept

    def _kept(self, kinds: Rows, left: Numbers, own: Flags) -> Flags:
        """Return for each pod whether a queue would not be below its guarantee without it, if the quirks check that.

        ``own``: whether the queue is the pod's own leaf.
        """
        unlooked = np.where(own, self.quirks.leaf_below, self.quirks.parent_below)
        if unlooked.all():
            return unlooked
        held = self._guaranteed[kinds]
        below = (held > 0) & (left < UNLIMITED // 2) & (left + held > 0)
        return np.asarray(unlooked | ~below.any(axis=1), np.bool_)

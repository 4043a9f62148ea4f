"""Calculates a lower bound of the cost of every node at once, so that most nodes need no closer look."""

from collections.abc import Iterator

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.balances import Rank

Cost = tuple[Rank, int, int, int, int]
"""The cost of preempting on a node; the least cost wins.

It consists of the rank of the queue to preempt from first, the highest priority and the number of victims, the newest
victim's negated creation time, and the node index.
"""


def bounds(attempt: ReclaimAttempt, candidates: Candidates, useful: Flags) -> Iterator[tuple[Cost, int]]:
    """Yield a lower bound of the cost of each useful node with its index, the cheapest first."""
    columns, left = attempt.nodes.columns, useful.copy()
    for queue in candidates.in_order(candidates.queues):
        places = columns.node[candidates.rows_of(queue)]
        places = places[left[places] & run_starts(places)]
        left[places] = False
        if len(places):
            yield from _of_queue(attempt, candidates, places, queue)


def _of_queue(attempt: ReclaimAttempt, candidates: Candidates, places: Rows, queue: str) -> Iterator[tuple[Cost, int]]:
    """Yield the lower bounds of the given nodes, on which ``queue`` is the first to preempt from."""
    columns, rank = attempt.nodes.columns, candidates.balances.rank(queue)
    rows = _rows(columns, places)
    rows = rows[candidates.preemptable[rows]]
    first = np.flatnonzero(run_starts(columns.node[rows]))
    lowest = np.minimum.reduceat(columns.priority[rows], first)
    fewest = _fewest_victims(attempt, rows, first, places)
    newest = np.maximum.reduceat(_created(columns)[rows], first)
    for index in np.lexsort((places, -newest, fewest, lowest)).tolist():
        place = int(places[index])
        yield (rank, int(lowest[index]), int(fewest[index]), -int(newest[index]), place), place


def _rows(columns: Columns, places: Rows) -> Rows:
    """Return the rows of all pods on the given nodes."""
    first, end = columns.first[places], columns.first[places + 1]
    counts = end - first
    rows: Rows = np.repeat(end - np.cumsum(counts), counts) + np.arange(counts.sum())
    return rows


def _fewest_victims(attempt: ReclaimAttempt, rows: Rows, first: Rows, places: Rows) -> Numbers:
    """Return for every node how many pods have to be preempted at least.

    It assumes that each victim frees as much as the largest candidate there.
    """
    columns, fewest = attempt.nodes.columns, np.ones(len(places), np.int64)
    for name, amount in attempt.wanted.items():
        short = amount - attempt.free[name][places]
        largest = np.maximum(np.maximum.reduceat(columns.requests(name)[rows], first), 1)
        fewest = np.maximum(fewest, -(-short // largest))
    return fewest


def _created(columns: Columns) -> Numbers:
    made: Numbers = columns.once("created", None, lambda: columns.numbers(pod_fields.created))
    return made

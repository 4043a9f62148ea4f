"""Calculates for all nodes at once what preempting there costs at least, and where it is certain to be in vain.

So most nodes need no closer look.
"""

from collections.abc import Iterator

import numpy as np

from engine.model.collections.offsets import ranges, run_starts
from engine.model.columns import pod_fields
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.balances import Rank
from engine.policies.deserved.shares.claims import SLACK, Floats

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
    rows = ranges(columns.first[places], columns.first[places + 1])
    rows = rows[candidates.preemptable[rows]]
    first = np.flatnonzero(run_starts(columns.node[rows]))
    lowest = np.minimum.reduceat(columns.priority[rows], first)
    fewest = _fewest_victims(attempt, rows, first, places)
    newest = np.maximum.reduceat(_created(columns)[rows], first)
    for index in np.lexsort((places, -newest, fewest, lowest)).tolist():
        place = int(places[index])
        yield (rank, int(lowest[index]), int(fewest[index]), -int(newest[index]), place), place


def _fewest_victims(attempt: ReclaimAttempt, rows: Rows, first: Rows, places: Rows) -> Numbers:
    """Return for every node how many pods have to be preempted at least.

    It assumes that each victim frees as much as the largest candidate there.
    """
    columns, fewest = attempt.nodes.columns, np.ones(len(places), np.int64)
    for name, amount in attempt.wanted.items():
        short = amount - attempt.free_on(name, places)
        largest = np.maximum(np.maximum.reduceat(columns.requests(name)[rows], first), 1)
        fewest = np.maximum(fewest, -(-short // largest))
    return fewest


def _created(columns: Columns) -> Numbers:
    made: Numbers = columns.once("created", None, lambda: columns.numbers(pod_fields.created))
    return made


def hopeless_places(attempt: ReclaimAttempt, candidates: Candidates) -> Flags:
    """Return for every node index whether the pending pod is certain to find no room there.

    A queue is preempted from only while it exceeds what it deserves, which limits its victims. Nodes that are not
    flagged may still turn out to be useless.
    """
    columns = attempt.nodes.columns
    hopeless: Flags = np.zeros(len(columns.nodes), np.bool_)
    if attempt.outranks:
        return hopeless
    rows = np.flatnonzero(candidates.preemptable)
    queue = attempt.nodes.pod_index.row_queue[rows]
    most = _most(attempt, rows, queue)
    groups, group = np.unique(columns.node[rows] * len(most) + queue, return_inverse=True)
    place, queue_of = np.divmod(groups, len(most))
    counts = np.minimum(np.bincount(group, minlength=len(groups)), most[queue_of])
    for name, amount in attempt.wanted.items():
        requests = columns.requests(name)
        held = np.bincount(group, requests[rows].astype(np.float64), len(groups))
        largest = np.zeros(len(most))
        np.maximum.at(largest, queue, requests[rows].astype(np.float64))
        freed = np.bincount(place, np.minimum(held, counts * largest[queue_of]), len(columns.nodes))
        hopeless |= np.asarray(freed * (1 + SLACK) < amount - attempt.free[name], np.bool_)
    return hopeless


def _most(attempt: ReclaimAttempt, rows: Rows, queue: Rows) -> Floats:
    """Return for every queue how many of its pods may be preempted at most.

    Each victim reduces something of which the queue exceeds what it deserves.
    """
    every: Floats = np.zeros(attempt.nodes.pod_index.nobody + 1)
    most, mixed = every.copy(), np.zeros(len(every), np.bool_)
    for name in attempt.wanted:
        amounts = attempt.nodes.columns.requests(name)[rows].astype(np.float64)
        some = amounts > 0
        mixed[queue[~some]] = True
        least = np.full(len(every), np.inf)
        np.minimum.at(least, queue[some], amounts[some])
        over = attempt.ledger.over(name).astype(np.float64)
        pods = np.where(over > 0, np.ceil(over / least * (1 + SLACK)), 0)
        every, most = every + pods, np.maximum(most, pods)
    most[mixed] = every[mixed]
    most[attempt.above_ask] = np.inf
    return most

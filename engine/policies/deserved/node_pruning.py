"""Finds nodes whose candidates are certain to be too few, without selecting victims there."""

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.claims import SLACK, Floats


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

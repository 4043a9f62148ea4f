"""Finds nodes whose candidates are certain to be too few, without selecting victims there."""

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.claims import SLACK, Floats


def hopeless_places(question: ReclaimAttempt, candidates: Candidates) -> Flags:
    """Return for every node index whether the pending pod is certain to find no room there.

    A queue is preempted from only while it exceeds what it deserves, which limits its victims. Nodes that are not
    flagged may still turn out to be useless.
    """
    columns, there = question.nodes.columns, question.nodes
    hopeless: Flags = np.zeros(len(columns.nodes), np.bool_)
    if question.outranks:
        return hopeless
    rows = np.flatnonzero(candidates.going)
    queue = there.ground.row_queue[rows]
    most = _most(question, rows, queue)
    groups, group = np.unique(columns.node[rows] * len(most) + queue, return_inverse=True)
    place, queue_of = np.divmod(groups, len(most))
    counts = np.minimum(np.bincount(group, minlength=len(groups)), most[queue_of])
    for name, amount in question.wanted.items():
        requests = columns.requests(name)
        held = np.bincount(group, requests[rows].astype(np.float64), len(groups))
        largest = np.zeros(len(most))
        np.maximum.at(largest, queue, requests[rows].astype(np.float64))
        freed = np.bincount(place, np.minimum(held, counts * largest[queue_of]), len(columns.nodes))
        hopeless |= np.asarray(freed * (1 + SLACK) < amount - question.free[name], np.bool_)
    return hopeless


def _most(question: ReclaimAttempt, rows: Rows, queue: Rows) -> Floats:
    """Return for every queue how many of its pods may be preempted at most.

    Each victim reduces something of which the queue exceeds what it deserves.
    """
    every: Floats = np.zeros(question.nodes.ground.nobody + 1)
    most, mixed = every.copy(), np.zeros(len(every), np.bool_)
    for name in question.wanted:
        amounts = question.nodes.columns.requests(name)[rows].astype(np.float64)
        some = amounts > 0
        mixed[queue[~some]] = True
        least = np.full(len(every), np.inf)
        np.minimum.at(least, queue[some], amounts[some])
        over = question.ledger.over(name).astype(np.float64)
        pods = np.where(over > 0, np.ceil(over / least * (1 + SLACK)), 0)
        every, most = every + pods, np.maximum(most, pods)
    most[mixed] = every[mixed]
    most[question.above_ask] = np.inf
    return most

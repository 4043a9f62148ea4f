"""Nodes of which it is seen at once that all who may be taken there, one after another, are too few."""

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.claims import SLACK, Floats


def hopeless_places(question: ReclaimAttempt, candidates: Candidates) -> Flags:
    """Place -> whether the ask is certain to find no room: a queue gives only as long as it is beyond what it deserves.

    Others may turn out to be of no use either.
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
    """Queue -> how many of its pods may go at most: each takes something off what it has too much of."""
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

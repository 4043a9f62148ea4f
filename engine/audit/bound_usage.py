"""Sum what the bound pods of every queue request, once per snapshot."""

from collections.abc import Iterator
from itertools import accumulate, chain

import numpy as np

from engine.model.columns.node_columns import Columns, Rows
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree

Kind = tuple[str | None, Amounts, int]
"""The queue and requests of alike pods, and their number."""

_DENSE = 4
"""Kinds of pods are counted in a table of all possible kinds if these are at most four times the pods."""


class BoundUsage:
    """What the bound pods of each queue request, terminating pods included.

    The subtree of a queue is one stretch of the tree's order, so running sums in that order give what it uses.
    """

    def __init__(self, columns: Columns, tree: QueueTree) -> None:
        self._tree = tree
        turn, own = tree.turn, dict[str, list[int]]()
        stray = ((pod.queue, pod.requests, 1) for pod in columns.stray)
        for queue, requests, count in chain(held(columns), stray):
            if queue is not None and queue in turn:
                for resource, requested in requests.items():
                    if resource not in own:
                        own[resource] = [0] * len(turn)
                    own[resource][turn[queue]] += count * requested
        self._upto = {resource: [0, *accumulate(amounts)] for resource, amounts in own.items()}
        """Resource -> the sum over the queues before each one in the tree's order; the last entry is the total."""

    def of(self, queue: str, resource: str) -> int:
        """Return what a queue and its descendants use of a resource."""
        upto = self._upto.get(resource)
        first, end = self._tree.span(queue)
        return upto[end] - upto[first] if upto else 0

    def amounts(self, queue: str) -> Amounts:
        """Return what a queue and its descendants use, by resource."""
        first, end = self._tree.span(queue)
        return {resource: upto[end] - upto[first] for resource, upto in self._upto.items()}


def held(columns: Columns, rows: Rows | None = None) -> Iterator[Kind]:
    """Yield queue, requests and number of the pods on nodes (or of some rows) of each kind.

    Pods of one kind are of the same queue and have the same requests.
    """
    queues, requests = columns.queue_kinds, columns.request_kinds
    of_queue, of_requests = (queues.of, requests.of) if rows is None else (queues.of[rows], requests.of[rows])
    kinds = of_queue * len(requests.each) + of_requests
    possible = len(queues.each) * len(requests.each)
    if possible <= _DENSE * len(kinds):
        times = np.bincount(kinds, minlength=possible)
        found = np.flatnonzero(times)
        counts = times[found]
    else:
        found, counts = np.unique(kinds, return_counts=True)
    for kind, count in zip(found.tolist(), counts.tolist(), strict=True):
        queue, request = divmod(kind, len(requests.each))
        yield queues.each[queue].queue, requests.each[request].requests, count

"""Under fair sharing whose ask is decided next."""

from collections.abc import Sequence
from functools import cache

from engine.model.objects import Pod
from engine.model.quota import QuotaTree, share_of
from engine.model.quota.pod_workloads import Gathered
from engine.policies.cohort.pass_reuse import ground_of


def first(at: Gathered, asks: Sequence[Pod]) -> Pod:
    """Of the queue to which the lowest share leads, from the top of its cohorts down; of one queue whose turn it is.

    Source: Kueue's pkg/scheduler, fair_sharing_iterator.go, which looks at the first of every queue likewise.
    """
    tree, usage = at.formed.tree, ground_of(at).usage
    rank = cache(lambda node: share_of(usage, node).rank)
    heads: dict[str, Pod] = {}
    for ask in asks:
        heads.setdefault(ask.queue or "", ask)
    return min(heads.values(), key=lambda ask: ([rank(node) for node in _way(tree, ask.queue or "")], ask.turn))


def _way(tree: QuotaTree, queue: str) -> Sequence[int]:
    """From the top down to a queue; an ask of no queue, of which there is nothing to decide, comes at once."""
    node = tree.queue.get(queue)
    return () if node is None else tuple(reversed((node, *tree.above(node))))

"""Selects the pending pod that fair sharing decides next."""

from collections.abc import Sequence
from functools import cache

from engine.model.objects import Pod
from engine.model.quota import QuotaTree, share_of
from engine.model.quota.pod_workloads import GroupedWorkloads
from engine.policies.cohort.pass_reuse import quota_index_of


def next_pending_pod(at: GroupedWorkloads, asks: Sequence[Pod]) -> Pod:
    """Return the first pod of the queue with the lowest share, comparing shares from the root cohort down.

    The first pod of each queue is the first in ``asks``. Source: Kueue's pkg/scheduler, fair_sharing_iterator.go, which
    also considers only the first workload of every queue.
    """
    tree, usage = at.formed.tree, quota_index_of(at).usage
    rank = cache(lambda node: share_of(usage, node).rank)
    heads: dict[str, Pod] = {}
    for ask in asks:
        heads.setdefault(ask.queue or "", ask)
    return min(
        heads.values(), key=lambda ask: ([rank(node) for node in _path_from_root(tree, ask.queue or "")], ask.turn)
    )


def _path_from_root(tree: QuotaTree, queue: str) -> Sequence[int]:
    """Return the nodes from the root down to a queue.

    The path of an unknown queue is empty, so its pods come first: there is nothing to decide for them.
    """
    node = tree.queue.get(queue)
    return () if node is None else tuple(reversed((node, *tree.above(node))))

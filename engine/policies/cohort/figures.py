"""Reports the figures behind a verdict in Kueue's terms: mode, flavors, and the shares before any preemption."""

from typing import Any

from engine.model.quota import QuotaCluster, share_of
from engine.policies.cohort.search.quota_index import QuotaIndex
from engine.policies.cohort.workload_decision import WorkloadVerdict


def figures(cluster: QuotaCluster, verdict: WorkloadVerdict, *, fair: bool) -> dict[str, Any]:
    """Return the figures by pod set and resource.

    Shares are included only with ``fair`` sharing, because classic preemption does not use them.
    """
    sets = verdict.assignment.sets
    found: dict[str, Any] = {
        "mode": verdict.mode,
        "borrowing": verdict.assignment.borrowing,
        "flavors": {one.pod_set.name: {name: got.flavor for name, got in one.granted.items()} for one in sets},
        "modes": {one.pod_set.name: {name: got.chance.mode for name, got in one.granted.items()} for one in sets},
        "removed_before_fill_back": len(verdict.search.taken),
        "filled_back": len(verdict.search.put_back),
        "counts": {one.pod_set.name: one.count for one in sets},
    }
    return found | {"shares": shares(cluster)} if fair else found


def shares(cluster: QuotaCluster) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the share of every active queue and of every cohort, by kind and name."""
    quota_index = QuotaIndex.of(cluster)
    tree = quota_index.tree
    nodes = {
        "clusterQueues": {name: node for name, node in tree.queue.items() if cluster.queues[name].active},
        "cohorts": tree.cohort,
    }
    return {kind: {name: _share(quota_index, node) for name, node in named.items()} for kind, named in nodes.items()}


def _share(quota_index: QuotaIndex, node: int) -> dict[str, Any]:
    share = share_of(quota_index.usage, node)
    figures = {"weightedShare": share.text, "borrowing": share.borrows}
    return figures | {"dominantResource": share.resource} if share.resource else figures

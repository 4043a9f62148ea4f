"""What a verdict came from, in Kueue's words: mode, flavors, and the shares before anybody goes."""

from typing import Any

from engine.model.quota import QuotaCluster, share_of
from engine.policies.cohort.search.quota_index import QuotaIndex
from engine.policies.cohort.workload_decision import WorkloadVerdict


def figures(cluster: QuotaCluster, verdict: WorkloadVerdict, *, fair: bool) -> dict[str, Any]:
    """By pod set and resource; the shares only with ``fair`` sharing, which alone looks at them."""
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
    """Of every queue that is active, and every cohort."""
    ground = QuotaIndex.of(cluster)
    tree = ground.tree
    nodes = {
        "clusterQueues": {name: node for name, node in tree.queue.items() if cluster.queues[name].active},
        "cohorts": tree.cohort,
    }
    return {kind: {name: _share(ground, node) for name, node in named.items()} for kind, named in nodes.items()}


def _share(ground: QuotaIndex, node: int) -> dict[str, Any]:
    share = share_of(ground.usage, node)
    told = {"weightedShare": share.text, "borrowing": share.borrows}
    return told | {"dominantResource": share.resource} if share.resource else told

"""What queues ask and deserve, where the revision in force divides the cluster by shares."""

from collections.abc import Mapping
from typing import Any

from engine.allocations import narrower
from engine.policies import deserved
from engine.queues import QueueTree
from engine.resources import Amounts, add, total
from engine.snapshot import ClusterState, Snapshot, limits
from scheduler_admin.queues.models import Revision


def divides(revision: Revision) -> bool:
    """Whether a cluster under it is divided by shares."""
    return (revision.policy, revision.dialect) == (deserved.POLICY, deserved.DIALECT)


def quotas(revision: Revision, state: ClusterState, tree: QueueTree) -> dict[str, dict[str, dict[str, Any]]]:
    """Leaf -> what of ClusterStatus.queues is about the ResourceQuota of its namespace; empty under other policies."""
    if not divides(revision):
        return {}
    found = narrower(tree, state.namespaces, limits(state.quotas.values()))
    return {leaf: {"above_quota": one._asdict()} for leaf, one in found.items()}


def standings(revision: Revision, snapshot: Snapshot) -> Mapping[str, deserved.Standing]:
    """Path -> where the queue stands; empty under other policies, and other schedulers' rules."""
    if not divides(revision):
        return {}
    method = deserved.Method(revision.parameters.get("method", deserved.Method.DRF))
    return deserved.standing(snapshot, snapshot.tree, method)


def shares(found: Mapping[str, deserved.Standing], snapshot: Snapshot) -> dict[str, dict[str, Amounts]]:
    """Path -> what of ClusterStatus.queues is about shares, given the ``standings``."""
    if not found:
        return {}
    system = _system(snapshot, snapshot.tree)
    return {
        path: {"requested": add(one.requested, system[path]), "deserved": add(one.deserved, system[path])}
        for path, one in found.items()
    }


def _system(snapshot: Snapshot, tree: QueueTree) -> dict[str, Amounts]:
    """Path -> what the pods of the cluster's own namespace ask there: they deserve just that."""
    held: dict[str, list[Amounts]] = {leaf: [] for leaf in tree.leaves}
    for pod in snapshot.pods:
        if pod.namespace == deserved.SYSTEM and pod.queue in held and not pod.terminating:
            held[pod.queue].append(pod.requests)
    return tree.roll_up({leaf: total(amounts) for leaf, amounts in held.items()})

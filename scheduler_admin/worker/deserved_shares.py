"""What queues ask and deserve, where the revision in force divides the cluster by shares."""

from collections.abc import Mapping

from engine.model.quantities import Amounts, add
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.model.snapshot.resource_quotas import TighterQuota, quota_limits, tighter_quotas
from engine.policies import deserved, within_quotas
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.services.hierarchies import tree_of


def divides(revision: Revision) -> bool:
    """Whether a cluster under it is divided by shares."""
    return within_quotas(revision.policy, revision.dialect)


def quotas(revision: Revision, state: ClusterState) -> dict[str, Amounts]:
    """Namespace -> the most that its ResourceQuotas let it have; empty under other policies, which go on without."""
    return quota_limits(state.quotas.values()) if divides(revision) else {}


def less(revision: Revision, state: ClusterState) -> dict[str, TighterQuota]:
    """Leaf -> its namespace, where that may have less than the tree in force says; empty under other policies."""
    return tighter_quotas(tree_of(revision), state.namespaces, quotas(revision, state))


def standings(revision: Revision, snapshot: Snapshot) -> Mapping[str, deserved.ShareStatus]:
    """Path -> where the queue stands; empty under other policies, and other schedulers' rules."""
    if not divides(revision):
        return {}
    method = deserved.Method(revision.parameters.get("method", deserved.Method.DRF))
    return deserved.share_statuses(snapshot, snapshot.tree, method)


def shares(found: Mapping[str, deserved.ShareStatus], snapshot: Snapshot) -> dict[str, dict[str, Amounts]]:
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
    pods = (pod for pod in snapshot.pods if pod.namespace == deserved.SYSTEM and not pod.terminating)
    return tree.usage((pod.queue, pod.requests) for pod in pods)

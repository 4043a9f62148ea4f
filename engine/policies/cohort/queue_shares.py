"""The shares of queues and cohorts under fair sharing, for a cluster whose pods are read as workloads."""

from collections.abc import Mapping

from engine.model.queue_tree import QueueTree
from engine.model.quota import BorrowedShare, share_of
from engine.model.quota.pod_workloads import group_workloads
from engine.model.snapshot import Snapshot
from engine.policies.cohort.parameters import FairParameters, reading_of
from engine.policies.cohort.pass_reuse import quota_index_of
from engine.policies.common.policy_types import QueueShare, ShareBasis, write_fraction


def queue_shares(snapshot: Snapshot, tree: QueueTree, parameters: FairParameters) -> Mapping[str, QueueShare]:
    """Return the share of each queue by its path. The top of a cohort has none, as it borrows from nobody."""
    at = group_workloads(snapshot, tree, reading_of(parameters))
    nodes, usage = at.formed.tree, quota_index_of(at).usage
    below = (node for node in nodes.order if nodes.parents[node] is not None)
    return {nodes.names[node]: _shown(share_of(usage, node)) for node in below}


def _shown(share: BorrowedShare) -> QueueShare:
    return QueueShare(
        basis=ShareBasis.BORROWED,
        value=share.text,
        weight=write_fraction(share.weight),
        resource=share.resource,
        amount=share.borrowed,
        whole=share.lendable,
        borrows=share.borrows,
    )

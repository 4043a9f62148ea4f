"""The dominant shares of queues: the largest part of the cluster that each uses, divided by its weight."""

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from engine.model.queue_tree import WEIGHT_ONE, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.policy_types import QueueShare, ShareBasis, write_fraction
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.shares.share_index import share_index_of


def queue_shares(snapshot: Snapshot, tree: QueueTree, _parameters: Parameters) -> Mapping[str, QueueShare]:
    """Return the dominant share of each queue by its path, of what ``deserved`` divides."""
    index = share_index_of(snapshot, tree)
    common = lcm(*index.capacity.values())
    scales = {name: common // most for name, most in sorted(index.capacity.items())}

    def share(path: str) -> QueueShare:
        used, weight = index.used[path], tree[path].weight
        resource = max(scales, key=lambda name: used.get(name, 0) * scales[name], default="")
        amount, written = used.get(resource, 0), write_fraction(Fraction(weight, WEIGHT_ONE))
        if not amount:
            return QueueShare(basis=ShareBasis.USED, value="0", weight=written)
        return QueueShare(
            basis=ShareBasis.USED,
            value=write_fraction(Fraction(amount * scales[resource] * WEIGHT_ONE, common * weight))
            if weight
            else "+Inf",
            weight=written,
            resource=resource,
            amount=amount,
            whole=index.capacity[resource],
        )

    return {path: share(path) for path in tree.queues}

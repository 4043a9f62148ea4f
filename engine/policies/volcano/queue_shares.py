"""What each queue of a session deserves, can have, asks and holds, by whichever plugin shares are by."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from engine.model.objects import SharePlugin, VolcanoCluster
from engine.model.quantities import Amounts
from engine.policies.volcano import proportion, queue_hierarchy
from engine.policies.volcano.amounts import SLACK, Fine


class QueueShares(NamedTuple):
    """By queue, of those that take part."""

    deserved: Mapping[str, Fine]
    most: Mapping[str, Fine]
    requests: Mapping[str, Amounts]
    allocated: Mapping[str, Amounts]
    above: Mapping[str, tuple[str, ...]]
    """The queues above one, from the root down; none at all where queues are no tree."""
    leaves: frozenset[str]


def shares(cluster: VolcanoCluster) -> QueueShares:
    """Of a session. Raises HierarchyError."""
    if cluster.settings.plugin is SharePlugin.CAPACITY and cluster.settings.hierarchical:
        tree = queue_hierarchy.QueueHierarchy(cluster)
        return QueueShares(tree.deserved, tree.most, tree.requests, tree.allocated, tree.above, tree.leaves)
    most = proportion.capabilities(cluster, cluster.requests)
    by_request = cluster.settings.plugin is SharePlugin.PROPORTION
    deserved = proportion.deserved(cluster) if by_request else queue_hierarchy.deserved(cluster, most)
    return QueueShares(
        deserved, most, cluster.requests, cluster.allocated, dict.fromkeys(deserved, ()), frozenset(deserved)
    )


def share(allocated: Fine, deserved: Fine, plugin: SharePlugin) -> Fraction:
    """The largest part of what a queue deserves any of; with nothing that it deserves it comes after all others."""
    parts = (Fraction(allocated.get(name, 0), amount) for name, amount in deserved.items() if amount >= SLACK)
    return max(parts, default=Fraction(0 if plugin is SharePlugin.PROPORTION else 1))

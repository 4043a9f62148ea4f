"""Calculates what each queue of a session deserves, can have, requests, and holds, by the configured plugin.

Source: OnSessionOpen of Volcano's plugin proportion, and buildQueueAttrs and buildHierarchicalQueueAttrs of its plugin
capacity.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from engine.model.objects import SharePlugin, VolcanoCluster
from engine.model.quantities import Amounts
from engine.policies.volcano import proportion, queue_hierarchy
from engine.policies.volcano.amounts import SLACK, Fine


class QueueShares(NamedTuple):
    """The amounts of all queues that take part in a session, by queue."""

    deserved: Mapping[str, Fine]
    most: Mapping[str, Fine]
    requests: Mapping[str, Amounts]
    allocated: Mapping[str, Amounts]
    above: Mapping[str, tuple[str, ...]]
    """Queue -> its ancestors, from the root down; empty if the queues form no tree."""
    leaves: frozenset[str]


def shares(cluster: VolcanoCluster) -> QueueShares:
    """Return the amounts of the queues in a session. Raises HierarchyError."""
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
    """Return the largest part that a queue holds of any resource that it deserves.

    If it deserves nothing, its share is 0 with the plugin ``proportion``, and 1 with the plugin ``capacity``.

    Source: updateShare of Volcano's plugins proportion and capacity, and Share of pkg/scheduler/api/helpers.
    """
    parts = (Fraction(allocated.get(name, 0), amount) for name, amount in deserved.items() if amount >= SLACK)
    return max(parts, default=Fraction(0 if plugin is SharePlugin.PROPORTION else 1))

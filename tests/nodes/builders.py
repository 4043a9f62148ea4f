"""Nodes with their pods, as a pass that saw them has stored them."""

from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.nodes.services import follow_nodes
from tests.builders import NOW


class _Watch:
    """Whose memory what was stored is kept under: each pass is another process's first."""


def store(cluster: Cluster, tree: QueueTree, *objects: Node | Pod) -> None:
    """Let a pass store these objects alone."""
    state = ClusterState()
    state.nodes.update({one.name: one for one in objects if isinstance(one, Node)})
    state.pods.update({one.uid: one for one in objects if isinstance(one, Pod)})
    ClusterStatus.objects.get_or_create(cluster=cluster)
    snapshot = state.snapshot(tree, now_ms=NOW)
    follow_nodes(cluster=cluster, watch=_Watch(), snapshot=snapshot)  # type: ignore[arg-type]

"""What is kept of a cluster's queue by its path, and not as history, follows the queue to another path."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from engine.model.queue_tree import QueueTree
from scheduler_admin.clusters.models import Notice, Pause, Window
from scheduler_admin.clusters.safeguards import enforce_scope
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.notifications.models import Shortfall
from scheduler_admin.pending.models import Wait
from scheduler_admin.queues.models import Hierarchy

_ONCE = (Notice.objects, Pause.objects, Shortfall.objects)
"""A queue of a cluster has at most one."""


def follow(hierarchy: Hierarchy, tree: QueueTree, **_signal: Any) -> None:
    """Let everything that names a former path of the tree in force name the path that the queue has now."""
    if not tree.former_paths:
        return
    clusters = list(hierarchy.clusters.all())
    for cluster in clusters:
        enforce_scope.follow(cluster, tree)
    for table in (*_ONCE, Window.objects, Wait.objects):
        rows = table.filter(cluster__in=clusters).order_by()
        for path in rows.values_list("queue", flat=True).distinct():
            if (now := tree.now(path)) == path:
                continue
            if table in _ONCE and rows.filter(queue=now).exists():
                rows.filter(queue=path).delete()
            else:
                rows.filter(queue=path).update(queue=now)
    for saved in SavedFilter.objects.filter(cluster__in=clusters, address__contains="queue="):
        asked = parse_qsl(saved.address, keep_blank_values=True)
        address = urlencode([(name, tree.now(value) if name == "queue" else value) for name, value in asked])
        if dict(parse_qsl(address, keep_blank_values=True)) != dict(asked):
            saved.address = address
            saved.save(update_fields=["address"])

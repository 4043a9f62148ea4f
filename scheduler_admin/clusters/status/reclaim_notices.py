"""Reads of who is told to give back what they use beyond what they deserve."""

from engine.model.queue_paths import is_inside
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster, Notice


def notices_of(user: Who, cluster: Cluster, path: str = "") -> list[Notice]:
    """Those that stand now and that the user may see; of a queue and all below it, where one is named."""
    found = Notice.objects.restrict(user, "view").filter(cluster=cluster, mode=cluster.mode)
    return [notice for notice in found if not path or is_inside(notice.queue, path)]

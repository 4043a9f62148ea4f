"""Whether a cluster can be used as its mode wants: what we know of it ourselves, held against the cluster."""

from django.conf import settings

from engine.cluster.check import Expected, Level, Line, Report, check
from engine.cluster.errors import SettingsError
from engine.cluster.identity import LIMIT_S
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.ownership import holder
from scheduler_admin.clusters.ways import Way
from scheduler_admin.history.models import Decision
from scheduler_admin.queues.services import tree_of


def check_cluster(*, cluster: Cluster, mode: str = "", limit_s: float = LIMIT_S) -> Report:
    """Look at it as ``mode`` wants it, the cluster's own if none is said. Writes nothing; never raises for the cluster.

    In advise, Events count as wanted if the cluster publishes.
    """
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    open_asks = Decision.objects.filter(cluster=cluster).open().values_list("ask_uid", flat=True)
    expected = Expected(
        mode=mode or cluster.mode,
        publish=cluster.publish,
        uid=cluster.uid,
        tree=tree_of(revision) if revision else None,
        owners=frozenset({holder(cluster=cluster, owner=cluster.owner)}),
        open_asks=frozenset(open_asks),
        reviews=cluster.name == settings.TOKEN_REVIEW_CLUSTER,
        single=revision is None or revision.policy != "priority",
    )
    try:
        way = Way.to(cluster).settings()
    except SettingsError as error:
        return Report(expected.mode, (Line("credentials", Level.ERROR, error.message, error.params),))
    return check(way, expected, limit_s=limit_s)

"""Whether a cluster can be used as its mode wants: what we know of it ourselves, held against the cluster."""

from django.conf import settings

from engine.cluster.connecting.identity import LIMIT_S
from engine.cluster.errors import SettingsError
from engine.cluster.inspection.check import CheckLevel, CheckResult, Expected, Report, check
from engine.policies import first_of
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.programs import note_program
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching.ownership import holder
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.worker.acting.seats import opened_seats


def check_cluster(*, cluster: Cluster, mode: str = "", actor: User | None = None, limit_s: float = LIMIT_S) -> Report:
    """Look at it as ``mode`` wants it, the cluster's own if none is said. Never raises for the cluster.

    Nothing is written but who had a program run to sign in.

    In advise, Events count as wanted if the cluster publishes.
    """
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    try:
        way = Way.to(cluster)
        note_program(way=way, actor=actor, target=cluster.name)
    except SettingsError as error:
        return Report(mode or cluster.mode, (CheckResult("credentials", CheckLevel.ERROR, error.sentence),))
    expected = Expected(
        mode=mode or cluster.mode,
        publish=cluster.publish,
        uid=cluster.uid,
        tree=tree_of(revision) if revision else None,
        owners=frozenset({holder(cluster=cluster, owner=cluster.owner)}),
        open_pods=frozenset(seat.owner for seats in opened_seats(cluster) for seat in seats.each),
        reviews=cluster.name == settings.TOKEN_REVIEW_CLUSTER,
        engine=settings.ENGINE_SERVICE_ACCOUNT if way.in_cluster else "",
        single=revision is None or first_of(revision.policy).by_tree,
    )
    return check(way.settings(), expected, limit_s=limit_s)

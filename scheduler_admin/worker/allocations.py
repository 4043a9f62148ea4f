"""Telling the namespaces of a cluster, in the cluster, what they deserve."""

from collections.abc import Iterable, Mapping

from engine.formats.arbitrator.allocations import AllocationInputs, allocations, missing_consumers
from engine.model.decision import Decision
from engine.model.snapshot import ClusterState, Snapshot
from engine.model.snapshot.resource_quotas import TighterQuota
from engine.planning.reclaim_notices import updated_notices
from engine.policies.deserved import ShareStatus
from scheduler_admin.clusters.watching.watchers import Watch

_QUOTAS = "ResourceQuota"


def tell(
    *,
    standings: Mapping[str, ShareStatus],
    watch: Watch,
    state: ClusterState,
    snapshot: Snapshot,
    less: Mapping[str, TighterQuota],
    decisions: Iterable[Decision],
) -> None:
    """Make the Consumers that are missing, and let Allocations say what the pass found; while we lead, and they exist.

    ``standings``: empty where the cluster is not divided by shares; then nothing is told. ``less``: the leaves whose
    namespaces may have less than the tree says. Where it can't be written,
    that is among what is missing.
    """
    health = watch.watcher.health()
    if not standings or not health.arbitrated:
        watch.allocations.trouble = ""
        return
    tree = snapshot.tree
    picture = AllocationInputs(
        tree=tree,
        standings=standings,
        namespaces=state.namespaces,
        notified_ms=updated_notices(snapshot.notices, decisions, snapshot.now_ms),
        less=None if _QUOTAS in health.missing else less,
        now_ms=snapshot.now_ms,
    )
    known = [*state.allocations.values()]
    consumers = missing_consumers(tree, state.namespaces, state.consumers.values())
    watch.allocations.write(consumers, allocations(picture, known), known, watch.leads)

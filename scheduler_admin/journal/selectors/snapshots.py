"""Reads of saved snapshots: which there are, what they hold, as a file, and what a tree would do to them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import Http404

from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot import ClusterState
from engine.planning import bundle, journal
from engine.planning.journal import PassInputs
from engine.planning.masking import mask_names
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.queues.services.hierarchies import decoded


class Saved(NamedTuple):
    """What a saved snapshot holds. Without a tree of its own it is a bare root."""

    state: ClusterState
    moment: PassInputs
    tree: QueueTree


def snapshots_of(user: Who, cluster: Cluster) -> Sequence[SavedSnapshot]:
    """Those of a cluster, newest first, without what they hold."""
    return list(SavedSnapshot.objects.restrict(user, "view").filter(cluster=cluster).defer("blob", "document"))


def find_snapshot(user: Who, cluster: Cluster, pk: int) -> SavedSnapshot:
    """One of a cluster. Raises Http404 for a stranger."""
    rows = SavedSnapshot.objects.restrict(user, "view").select_related("cluster")
    found = rows.filter(cluster=cluster, pk=pk).first()
    if found is None:
        raise Http404
    return found


def saved(snapshot: SavedSnapshot) -> Saved:
    """What it holds. Raises JournalError for one that another version wrote."""
    state, moment = journal.read([bytes(snapshot.blob)])
    return Saved(state, moment, decoded(snapshot.document) if snapshot.document else ROOT_ONLY)


def as_file(snapshot: SavedSnapshot, *, without_names: bool) -> bytes:
    """The zip of engine.planning.bundle, with the tree that belongs to it. Raises JournalError."""
    found = saved(snapshot)
    if without_names:
        found = Saved(*mask_names(*found))
    said: dict[str, Any] = {}
    if snapshot.policy:
        said = {"policy": snapshot.policy, "dialect": snapshot.dialect, "parameters": snapshot.parameters}
    return bundle.pack(found.state, found.moment, found.tree, said)

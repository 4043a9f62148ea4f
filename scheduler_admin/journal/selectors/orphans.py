"""Pods that a change of a tree would leave in no queue, by what is known of the clusters that it decides for."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.model.queue_tree import QueueTree
from engine.planning.journal import CorruptJournalError
from engine.tree import orphans as engine
from engine.tree.orphans import Orphans
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.journal.selectors.journal import live
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import OrphansError, tree_of


def orphans(cluster: Cluster, tree: QueueTree) -> tuple[Orphans, ...] | None:
    """The pods of a cluster, as the last pass saw it, that a tree would leave in no queue; None before the first pass.

    Raises engine.planning.journal.CorruptJournalError.
    """
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    seen = live(cluster) if revision else None
    return engine.orphans(seen.state, tree_of(revision), tree) if seen and revision else None


def sentence(found: Iterable[Orphans]) -> str:
    """How many pods a change of the tree would leave in no queue; there are some."""
    some = list(found)
    running, pending = sum(one.running for one in some), sum(one.pending for one in some)
    run = ngettext("%(n)d running pod", "%(n)d running pods", running) % {"n": running}
    wait = ngettext("%(n)d pending pod", "%(n)d pending pods", pending) % {"n": pending}
    if running and pending:
        return _("%(running)s and %(pending)s would belong to no queue.") % {"running": run, "pending": wait}
    return _("%(pods)s would belong to no queue.") % {"pods": run if running else wait}


def of_hierarchy(hierarchy: Hierarchy, tree: QueueTree) -> dict[str, tuple[Orphans, ...]]:
    """The same of all clusters of a hierarchy that have any, by name. Of a torn journal nothing is known."""
    found: dict[str, tuple[Orphans, ...]] = {}
    for cluster in hierarchy.clusters.order_by("name"):
        with suppress(CorruptJournalError):
            if some := orphans(cluster, tree):
                found[cluster.name] = some
    return found


def refuse(hierarchy: Hierarchy, tree: QueueTree, allow_orphans: bool, **_signal: Any) -> None:
    """Raise OrphansError for a tree that leaves pods in no queue, unless that is allowed."""
    if not allow_orphans and (found := of_hierarchy(hierarchy, tree)):
        raise OrphansError(found)

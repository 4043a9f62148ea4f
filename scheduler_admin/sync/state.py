"""How the cluster's copy of a tree and the revision in force stand to each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from django.db.models import F, Q

from engine.cluster.sync.copies import CopyEffect
from engine.formats import registry
from engine.formats.registry import Format
from engine.formats.tree_json.diff import QueueChange, changes
from engine.formats.written_document import Written
from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.services.hierarchies import decoded, tree_of
from scheduler_admin.sync.models import Copy


class Standing(StrEnum):
    """What is to be said of the two."""

    NONE = "none"
    """The cluster keeps none, as far as is known."""
    UNREADABLE = "unreadable"
    """It is there, and says no tree."""
    IN_SYNC = "in-sync"
    NOT_APPLIED = "not-applied"
    """It says what the revision says, and the scheduler uses something else."""
    OUTDATED = "outdated"
    """It is as it was: the revision in force says something else."""
    CHANGED = "changed-in-cluster"
    """Others changed it; the revision is as it was."""
    DIVERGED = "diverged"
    """Both have changed, or never were the same."""

    @property
    def drifted(self) -> bool:
        """Whether writing takes back what somebody else wrote."""
        return self in (Standing.CHANGED, Standing.DIVERGED, Standing.UNREADABLE)


def standing(copy: Copy, current: Revision | None) -> Standing:
    """Of the copy as it was last seen."""
    if not copy.there or current is None:
        return Standing.NONE
    if not copy.document:
        return Standing.UNREADABLE
    if copy.document == current.document:
        return Standing.NOT_APPLIED if copy.effect == CopyEffect.REJECTED else Standing.IN_SYNC
    if copy.document == copy.agreed:
        return Standing.OUTDATED
    belonging = {copy.agreed, copy.agreed_with.document if copy.agreed_with else ""}
    return Standing.CHANGED if current.document in belonging else Standing.DIVERGED


def troubled(user: Who, clusters: Sequence[Cluster]) -> dict[int, Copy]:
    """Return by cluster (pk) the copies that others changed, or that the scheduler does not use.

    One query, which compares the trees in the database.
    """
    same = Q(document=F("cluster__hierarchy__current__document"))
    changed = ~same & (Q(document="") | ~Q(document=F("agreed"))) & Q(cluster__hierarchy__current__isnull=False)
    rows = Copy.objects.restrict(user, "view").filter(cluster__in=clusters, there=True)
    rows = rows.filter(changed | Q(effect=CopyEffect.REJECTED))
    return {copy.cluster_id: copy for copy in rows.only("cluster", "writer", "written_at", "effect", "effect_note")}


def copied_tree(copy: Copy) -> QueueTree | None:
    """What it says; None where that is no tree."""
    return decoded(copy.document) if copy.document else None


@dataclass(frozen=True)
class Differences:
    """What stands between the two."""

    there: tuple[QueueChange, ...]
    """What others changed in the cluster since the two were last known to belong together."""
    writing: tuple[QueueChange, ...]
    """What writing the revision changes there."""
    placement: bool
    """Whether writing changes the placement rules."""


def differences(copy: Copy, current: Revision) -> Differences | None:
    """None where the copy says no tree."""
    tree, wanted = copied_tree(copy), tree_of(current)
    if tree is None:
        return None
    agreed = decoded(copy.agreed) if copy.agreed else None
    there = changes(agreed, tree) if agreed is not None else ()
    return Differences(there, changes(tree, wanted), tree.placement != wanted.placement)


@lru_cache(maxsize=4)
def _written(form: str, text: str, document: str) -> Written:
    return registry.write(Format(form), text, decoded(document))


def wanted(copy: Copy, current: Revision) -> Written:
    """The copy with its queues made those of the revision; what the tree has no word for stays as the cluster has it.

    Raises ImportFailure for a copy that can't be read, ValueError for a tree that it can't hold.
    """
    return _written(copy.form, copy.text, current.document)

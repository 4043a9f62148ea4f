"""The trees that a cluster's scheduler itself went by: not always the revision that is in force here."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from engine.cluster.sync.copies import CopyEffect
from engine.formats.registry import Format
from engine.model.objects import KUEUE, YUNIKORN_SCHEDULER, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot.queue_assignment import CLUSTER_QUEUE_LABEL
from engine.observation.discovery import yunikorn_namespaces
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.services.hierarchies import decoded, tree_of
from scheduler_admin.sync.models import Copy, UsedTree

SCHEDULERS: Mapping[str, str] = {Format.YUNIKORN: YUNIKORN_SCHEDULER, Format.KUEUE: KUEUE}
"""Who reads copies of a format: kube-scheduler knows no queues, and nobody but us acts by Consumers."""


def note_used(*, copy: Copy, now: datetime) -> None:
    """Note what the copy says as what its scheduler goes by from now on, unless that is known already.

    What the scheduler refuses, or may not have taken over yet, it does not go by; where it can't be asked, it is taken
    to go by its copy.
    """
    taken = copy.effect in (CopyEffect.APPLIED, CopyEffect.UNKNOWN) and copy.there and bool(copy.document)
    if not taken or copy.form not in SCHEDULERS:
        return
    last = UsedTree.objects.filter(cluster=copy.cluster_id).first()
    if last is not None and last.document == copy.document:
        return
    since = min(copy.written_at or copy.changed_at or now, now)
    since = max(since, last.since) if last else since
    UsedTree.objects.create(cluster_id=copy.cluster_id, document=copy.document, since=since)


def tree_used(used: UsedTree) -> QueueTree:
    """What it says."""
    return decoded(used.document)


class UsedTrees:
    """What a cluster's scheduler went by, by the time; the revision in force where that says the same."""

    def __init__(self, cluster: Cluster, revision: Revision) -> None:
        self._revision = revision
        self._rows = list(UsedTree.objects.filter(cluster=cluster).only("since", "cluster"))
        self._known: dict[int, UsedTree | None] = {}

    def other(self, at_ms: int) -> UsedTree | None:
        """What was used at a moment, in milliseconds since 1970; None: the revision, or it is not known."""
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
        row = next((one for one in self._rows if one.since <= at), None)
        if row is None:
            return None
        if row.pk not in self._known:
            self._known[row.pk] = row if row.document != self._revision.document else None
        return self._known[row.pk]

    def tree(self, at_ms: int) -> QueueTree:
        """The tree that was used at a moment, or is taken to have been."""
        other = self.other(at_ms)
        return tree_of(self._revision) if other is None else tree_used(other)


def scheduler_of(cluster: Cluster, revision: Revision) -> str:
    """By whose rules pods are in queues: YuniKorn's or Kueue's where it runs and the tree is its own, else nobody's."""
    form = revision.source_format
    if form not in SCHEDULERS:
        return ""
    told = form == Format.YUNIKORN and bool(cluster.yunikorn_service)
    runs = told or Copy.objects.filter(cluster=cluster, form=form, runs=True).exists()
    return SCHEDULERS[form] if runs else ""


def note_running(*, copy: Copy, pods: Collection[Pod]) -> None:
    """Note whether pods show that whoever reads the copy runs: YuniKorn's own pods, or those that Kueue admitted.

    Once they did it counts as running for as long as the copy is there: it may be away for a moment, or have nothing
    to do, and nobody's pods are to be taken for others' meanwhile.
    """
    seen = _shows_kueue(pods) if copy.form == Format.KUEUE else bool(yunikorn_namespaces(pods))
    runs = copy.form in SCHEDULERS and (seen or (copy.runs and copy.there))
    if runs != copy.runs:
        Copy.objects.filter(pk=copy.pk).update(runs=runs)


def _shows_kueue(pods: Collection[Pod]) -> bool:
    return any(CLUSTER_QUEUE_LABEL in pod.labels for pod in pods)

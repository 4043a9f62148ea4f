"""Writes of saved snapshots: taken from the journal, or read from a file."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engine.cli.forecast import GivenTree, latest_ms, tree_of_document, whole_cluster
from engine.formats.kubernetes.decode import DecodedManifests, DecodeError
from engine.formats.tree_json.canonical import encode_tree
from engine.formats.yaml.manifests import ManifestError, load
from engine.model.notes import ImportFailure
from engine.model.snapshot import ClusterState
from engine.planning import journal
from engine.planning.bundle import Bundle, BundleError, unpack
from engine.planning.journal import JournalError, PassInputs
from engine.policies import UnknownPolicyError, policy
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.translation import text
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.selectors.journal import as_of, live
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.selectors.revisions import in_force_at

MOST_KEPT = 50
"""Of one cluster; each may hold as much as a keyframe of the journal."""
MOST_BYTES = 32_000_000
"""Of a file, and of the text in it: some 10,000 pods, read within seconds in the web process."""


@transaction.atomic
def save_snapshot(*, cluster: Cluster, name: str, actor: User, at: datetime | None = None) -> SavedSnapshot:
    """Keep a cluster as it was last seen, or as it was ``at`` a moment that its journal still tells of.

    With the tree that was in force then. Raises ValidationError.
    """
    try:
        seen = live(cluster) if at is None else as_of(cluster, at)
    except JournalError as error:
        raise ValidationError(_("The cluster state at that time can’t be read.")) from error
    if seen is None:
        told = (
            _("The cluster has not been read yet.")
            if at is None
            else _("The journal does not go back that far. Choose a later time.")
        )
        raise ValidationError(told)
    revision = in_force_at(cluster.hierarchy, seen.at)
    given = (
        {"policy": revision.policy, "dialect": revision.dialect, "parameters": revision.parameters} if revision else {}
    )
    document = revision.document if revision else ""
    return _kept(cluster, name, actor, seen.state, seen.moment, at=seen.at, document=document, **given)


@transaction.atomic
def upload_snapshot(*, cluster: Cluster, name: str, actor: User, data: bytes) -> SavedSnapshot:
    """Keep what a file holds: a saved snapshot as it was downloaded, or objects as kubectl writes them in JSON.

    Raises ValidationError with a sentence for whatever can't be read.
    """
    if len(data) > MOST_BYTES:
        message = _("The file is larger than %(most)s MB. Use the command line, which accepts files of any size.")
        raise ValidationError(message % {"most": MOST_BYTES // 1_000_000})
    try:
        found = unpack(data, MOST_BYTES)
        state, ignored, _unread = _cluster(found)
        given = GivenTree() if found.tree is None else tree_of_document(found.tree)
    except BundleError as error:
        raise ValidationError(text(error.sentence)) from error
    except ImportFailure as error:
        raise ValidationError([f"tree.json: {said(note)}" for note in error.notes]) from error
    if not state.nodes and not state.pods:
        raise ValidationError(_("The file contains no nodes and no pods."))
    moment = found.moment or PassInputs(now_ms=latest_ms(state))
    document = encode_tree(given.tree).decode() if given.tree is not None else ""
    return _kept(
        cluster,
        name,
        actor,
        state,
        moment,
        at=_time(moment),
        uploaded=True,
        left_out=len(ignored),
        document=document,
        **_terms(given),
    )


@transaction.atomic
def delete_snapshot(*, snapshot: SavedSnapshot, actor: User) -> None:
    """Forget it."""
    record(actor=actor, verb="snapshot.delete", target=str(snapshot), details={"cluster": str(snapshot.cluster)})
    snapshot.delete()


def _cluster(found: Bundle) -> DecodedManifests:
    try:
        return whole_cluster(document.obj for document in load(found.objects))
    except (DecodeError, ManifestError) as error:
        raise BundleError("%(problem)s", problem=str(error)) from error


def _time(moment: PassInputs) -> datetime:
    """When it was. Raises ValidationError where no calendar goes so far."""
    try:
        return datetime.fromtimestamp(0, timezone.get_default_timezone()) + timedelta(milliseconds=moment.now_ms)
    except OverflowError as error:
        raise ValidationError(_("The time given in the file is out of range.")) from error


def _terms(given: GivenTree) -> dict[str, Any]:
    """What its tree says of the policy, where that can be used; nothing where it says nothing."""
    if not given.policy:
        return {}
    try:
        policy(given.policy, given.dialect, given.parameters)
    except (UnknownPolicyError, msgspec.ValidationError) as error:
        raise ValidationError(f"tree.json: {error}") from error
    return {"policy": given.policy, "dialect": given.dialect, "parameters": dict(given.parameters)}


def _kept(
    cluster: Cluster, name: str, actor: User, state: ClusterState, moment: PassInputs, **facts: Any
) -> SavedSnapshot:
    if SavedSnapshot.objects.filter(cluster=cluster).count() >= MOST_KEPT:
        raise ValidationError(
            _("A cluster can have at most %(most)s snapshots. Delete one first.") % {"most": MOST_KEPT}
        )
    snapshot = SavedSnapshot(
        cluster=cluster,
        name=name.strip(),
        nodes=len(state.nodes),
        pods=sum(not pod.finished for pod in state.pods.values()),
        blob=journal.encode_keyframe(state, moment),
        author=actor,
        author_name=actor.get_username(),
        **facts,
    )
    snapshot.full_clean()
    snapshot.save()
    verb = "snapshot.upload" if snapshot.uploaded else "snapshot.save"
    record(actor=actor, verb=verb, target=str(snapshot), details={"cluster": cluster.name})
    return snapshot

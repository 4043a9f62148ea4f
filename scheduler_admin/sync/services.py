"""What people ask for: another look, a place to look, and that a revision is written over the copy that they saw."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext as _

from engine.formats import registry
from engine.formats.registry import Format
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import check_reason, name_of, record
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.status.store import mark_news
from scheduler_admin.queues.models import Draft, Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.services.consumers import Consumers, tree_errors
from scheduler_admin.queues.services.hierarchies import terms_of, tree_of
from scheduler_admin.queues.services.imports import import_draft
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.sync.observation import in_force
from scheduler_admin.sync.state import Standing, standing, wanted

LARGEST_CONFIG_MAP = 2**20
"""Bytes of a ConfigMap, by Kubernetes' own validation."""
MOST_SAID = 5
"""Reasons for which a tree is refused, in one sentence."""


class OvertakenError(Exception):
    """The copy, or the revision in force, is no longer the one that was seen. Nothing is asked for."""


def copy_of(cluster: Cluster) -> Copy:
    """The row of a cluster, made where there is none yet."""
    return Copy.objects.get_or_create(cluster=cluster)[0]


def look_now(*, cluster: Cluster) -> None:
    """Let the engine's worker look as soon as it can."""
    Copy.objects.filter(pk=copy_of(cluster).pk).update(due_at=timezone.now())


@transaction.atomic
def place(*, cluster: Cluster, namespace: str, actor: User | None, reason: str) -> Copy:
    """Say in which namespace the ConfigMap is; empty: where YuniKorn's pods run. Raises ValidationError by field."""
    check_reason(reason)
    copy = _locked(cluster)
    before, copy.namespace = copy.namespace, namespace.strip()
    copy.there, copy.due_at = False, timezone.now()
    copy.full_clean()
    copy.save()
    record(
        actor=actor,
        verb="configuration.set-namespace",
        target=cluster.name,
        reason=reason.strip(),
        details={"namespace": [before, copy.namespace]},
    )
    mark_news(cluster.pk)
    return copy


@transaction.atomic
def ask_to_write(
    *,
    cluster: Cluster,
    revision: int,
    version: str,
    overwrite: bool,
    actor: User | None,
    reason: str,
    over: int = 0,
) -> Writing:
    """Store that the revision in force (its pk) is to be written over the copy in that version, and nothing else.

    The engine's worker does it. Without ``overwrite`` nothing that others wrote is taken back. ``over``: the writing
    (its pk) whose clashes were shown, and are confirmed. Raises OvertakenError where either is another by now, and
    ValidationError by field.
    """
    check_reason(reason)
    copy = _locked(cluster)
    current = in_force(copy)
    if current is None or current.pk != revision or copy.version != version:
        raise OvertakenError
    found = standing(copy, current)
    if found in (Standing.NONE, Standing.IN_SYNC, Standing.NOT_APPLIED):
        raise ValidationError(
            _("There is nothing to write: the cluster’s configuration already matches, or it does not exist.")
        )
    if found.drifted and not overwrite:
        raise ValidationError({"overwrite": _("Confirm that you want to overwrite the changes that others made.")})
    writing = _begun(cluster, copy, _text(copy, current), actor, reason)
    writing.revision, writing.confirmed = current, _confirmed(cluster, over, version)
    details = {"digest": current.digest, "overwrites": found.drifted, "over": writing.confirmed}
    return _asked(writing, actor, "configuration.write", details)


@transaction.atomic
def ask_to_put_back(*, cluster: Cluster, version: str, actor: User | None, reason: str) -> Writing:
    """Store that what the scheduler last used is to be written over the copy in that version, which it refuses.

    The revision in force stays in force here. Raises OvertakenError where the copy is another by now, and
    ValidationError by field.
    """
    check_reason(reason)
    copy = _locked(cluster)
    if copy.version != version:
        raise OvertakenError
    if not copy.can_be_put_back:
        raise ValidationError(
            _("There is nothing to restore: it is unknown what the scheduler uses, or the cluster already has it.")
        )
    return _asked(_begun(cluster, copy, copy.good, actor, reason), actor, "configuration.restore", {})


def _begun(cluster: Cluster, copy: Copy, text: str, actor: User | None, reason: str) -> Writing:
    """A writing over the copy as it was seen, not stored yet. Raises ValidationError while another is under way."""
    if cluster.writings.filter(state=Writing.State.IN_PROGRESS).exists():
        raise ValidationError(_("Another write is in progress. Wait until it finishes."))
    return Writing(
        cluster=cluster,
        form=copy.form,
        namespace=copy.namespace,
        onto=copy.version,
        before=copy.text,
        text=text,
        by=actor,
        by_name=name_of(actor),
        reason=reason.strip(),
        at=timezone.now(),
    )


def _asked(writing: Writing, actor: User | None, verb: str, details: dict[str, Any]) -> Writing:
    """Store it, and let the worker come soon."""
    writing.full_clean()
    writing.save()
    cluster = writing.cluster
    Copy.objects.filter(cluster=cluster).update(due_at=timezone.now())
    target = f"{writing.title} → {cluster.name}"
    record(actor=actor, verb=verb, target=target, reason=writing.reason, details={**details, "onto": writing.onto})
    mark_news(cluster.pk)
    return writing


def _text(copy: Copy, current: Revision) -> str:
    """The copy with the revision in it. Raises ValidationError for one that its scheduler would refuse."""
    terms = terms_of(current)
    readers = Consumers((copy.text,) if copy.form == Format.YUNIKORN else ())
    if wrong := tree_errors(tree_of(current), readers, kept=copy.form, policy=terms.policy, dialect=terms.dialect):
        message = _("The cluster’s scheduler would reject the tree: %(why)s")
        raise ValidationError(message % {"why": " ".join(f"{note.path}: {said(note)}" for note in wrong[:MOST_SAID])})
    try:
        text = wanted(copy, current).text
    except ImportFailure as failure:
        found = "; ".join(str(note) for note in failure.notes)
        message = _("The cluster’s configuration cannot be read, so nothing can be written to it: %(why)s")
        raise ValidationError(message % {"why": found}) from None
    except ValueError as error:
        raise ValidationError(str(error)) from None
    if copy.form == Format.YUNIKORN and (size := len(text.encode())) > LARGEST_CONFIG_MAP:
        message = _(
            "The queues.yaml would have %(size)s. Kubernetes limits a ConfigMap to 1 MiB, so it cannot be written."
        )
        raise ValidationError(message % {"size": filesizeformat(size)})
    return text


def take(*, cluster: Cluster, author: User) -> Draft:
    """A draft on the revision in force that says what the copy that was last seen does.

    Raises PermissionDenied for who may change only a part of the tree, ValidationError for a copy that says no tree.
    """
    copy = copy_of(cluster)
    if not copy.there or not copy.document or cluster.hierarchy is None:
        raise ValidationError(
            _("The cluster’s configuration cannot be read as a queue tree, so no draft can be created from it.")
        )
    imported = registry.read(copy.text, Format(copy.form))
    name = _("From the cluster’s configuration")
    return import_draft(hierarchy=cluster.hierarchy, imported=imported, text=copy.text, name=name, author=author)


def _confirmed(cluster: Cluster, over: int, version: str) -> list[dict[str, str]]:
    """The clashes that somebody was shown of this very version."""
    shown = (
        cluster.writings.filter(pk=over, state=Writing.State.NEEDS_CONFIRMATION, onto=version).first() if over else None
    )
    return list(shown.clashes) if shown else []


def _locked(cluster: Cluster) -> Copy:
    return Copy.objects.select_for_update().get(pk=copy_of(cluster).pk)

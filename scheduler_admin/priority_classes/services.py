"""Writes to the PriorityClasses of a cluster: checked before it is asked, and audited when it has done them."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engine.cluster.errors import ClusterError
from engine.cluster.inspection.priority_classes import ChangedError, PriorityClasses, write
from engine.cluster.inspection.refusals import UnknownError
from engine.formats.kubernetes.priority_classes import (
    Fault,
    change_faults,
    creation_faults,
    merge_changes,
    removal_faults,
)
from engine.model.objects import PriorityClass
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.status.priority_classes import KEPT, listed, storable, unlisted
from scheduler_admin.clusters.status.versions import grown
from scheduler_admin.core.translation import text

_REQUEST_S = 5.0
"""Somebody waits: signing in, and each request."""
_ATTEMPTS = 3
Done = TypeVar("Done")
FIELDS = {"never_preempts": "preemption_policy"}
"""Of PriorityClass, by the name that forms and the API have for them; others are called the same."""
_EDITED = ("description", "global_default", "labels", "annotations")


class OvertakenError(Exception):
    """Somebody else changed the class meanwhile, or deleted it. Nothing is changed."""

    def __init__(self, now: PriorityClass | None) -> None:
        super().__init__(str(now))
        self.now = now
        """As it is; None: it is gone."""


class ClashError(Exception):
    """Others changed the same of a class meanwhile. Nothing is changed."""

    def __init__(self, now: PriorityClass, wanted: PriorityClass, fields: tuple[str, ...]) -> None:
        super().__init__(", ".join(fields))
        self.now = now
        self.wanted = wanted
        """The class as it is, with what was wanted over it."""
        self.fields = fields


def create_class(*, cluster: Cluster, wanted: PriorityClass, actor: User | None, reason: str) -> PriorityClass:
    """Make a new class in the cluster. Raises ValidationError by field."""
    _check(creation_faults(wanted, _known(cluster)), reason)
    audit = _auditor(cluster, "class.create", actor, reason, name=wanted.name, value=wanted.value)
    made = _written(cluster, wanted.name, lambda classes: classes.create(wanted), audit)
    _keep(cluster, made.name, made)
    return made


def change_class(
    *, cluster: Cluster, before: PriorityClass, after: PriorityClass, actor: User | None, reason: str
) -> PriorityClass:
    """Change a class in the cluster from what somebody saw to what they want.

    Raises OvertakenError, and ValidationError by field. Without a difference nothing is done.
    """
    _check(change_faults(before, after, _known(cluster)), reason)
    changes = {field: [getattr(one, field) for one in (before, after)] for field in differing(before, after)}
    if not changes:
        return before
    audit = _auditor(cluster, "class.change", actor, reason, name=before.name, changes=changes)
    made = _written(cluster, before.name, lambda classes: classes.change(before, after), audit)
    _keep(cluster, made.name, made)
    return made


def merge_class(
    *, cluster: Cluster, seen: PriorityClass, wanted: PriorityClass, actor: User | None, reason: str
) -> PriorityClass:
    """Change a class from what somebody saw to what they want; what others changed of it meanwhile stays.

    Raises ClashError where that was the same, and as ``change_class``.
    """
    before, after = seen, wanted
    for attempt in range(_ATTEMPTS):
        try:
            return change_class(cluster=cluster, before=before, after=after, actor=actor, reason=reason)
        except OvertakenError as error:
            if error.now is None or error.now.uid != seen.uid or attempt + 1 == _ATTEMPTS:
                raise
            before = error.now
            after, clashes = merge_changes(seen, wanted, before)
            if clashes:
                raise ClashError(before, after, clashes) from None
    raise AssertionError  # the last attempt returns or raises


def delete_class(*, cluster: Cluster, before: PriorityClass, actor: User | None, reason: str) -> None:
    """Delete a class in the cluster; pods that have it stay as they are. Raises as ``change_class``."""
    _check(removal_faults(before.name), reason)
    audit = _auditor(cluster, "class.delete", actor, reason, name=before.name, value=before.value)
    _written(cluster, before.name, lambda classes: classes.delete(before), audit)
    _keep(cluster, before.name, None)


def differing(one: PriorityClass, other: PriorityClass) -> list[str]:
    """The fields that may be changed and in which the two differ."""
    return [field for field in _EDITED if getattr(one, field) != getattr(other, field)]


def _known(cluster: Cluster) -> list[PriorityClass]:
    status = ClusterStatus.objects.filter(cluster=cluster).first()
    if status is None or status.classes is None:
        raise ValidationError(_("The cluster has not been read yet, so its priority classes are unknown."))
    return unlisted(status.classes)


def _check(found: Iterable[Fault], reason: str) -> None:
    wrong: dict[str, list[str]] = {}
    for fault in found:
        field = FIELDS.get(fault.field, fault.field) or "__all__"
        wrong.setdefault(field, []).append(text(fault.message))
    if not reason.strip():
        wrong["reason"] = [_("Enter a reason. Other people will see it.")]
    if wrong:
        raise ValidationError(wrong)


def _written(
    cluster: Cluster,
    name: str,
    act: Callable[[PriorityClasses], Done],
    audit: Callable[..., object],
) -> Done:
    """Do it in the cluster, then write down that it was done, also where that is not known.

    Raises OvertakenError, and ValidationError with a sentence for people. ``act`` runs in another thread: no database.
    """
    try:
        done = write(Way.to(cluster).settings(_REQUEST_S), cluster.uid, act)
    except ChangedError as error:
        _keep(cluster, name, error.now)
        raise OvertakenError(error.now) from None
    except UnknownError as error:
        audit(outcome=str(error))
        raise ValidationError(told(error)) from None
    except ClusterError as error:
        raise ValidationError(told(error)) from None
    audit()
    return done


@transaction.atomic
def _keep(cluster: Cluster, name: str, now: PriorityClass | None) -> None:
    """Show at once what the API server says of a class; None: that it is gone."""
    status = ClusterStatus.objects.select_for_update().get(cluster=cluster)
    others = [one for one in unlisted(status.classes or ()) if one.name != name]
    kept = listed([*others, now] if now else others)
    ClusterStatus.objects.filter(pk=status.pk).update(classes=kept, classes_kept_until=timezone.now() + KEPT, **grown())


def _auditor(cluster: Cluster, verb: str, actor: User | None, reason: str, **details: Any) -> Callable[..., object]:
    """What writes one act down; ``outcome`` says what is odd of it."""

    def audit(**outcome: str) -> object:
        found = storable({**details, **outcome})
        return record(actor=actor, verb=verb, target=cluster.name, reason=reason.strip(), details=found)

    return audit

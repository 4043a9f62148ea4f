"""Credentials that are kept here, sealed: replaced, removed, sealed anew. None of it is ever shown or written down."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from engine.cluster.connecting.credentials import load
from engine.cluster.connecting.identity import identify
from engine.cluster.errors import ClusterError
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import name_of, record
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.connections.sealing import reseal, seal
from scheduler_admin.clusters.models import Cluster, Credentials


@sensitive_variables()
def set_credentials(*, cluster: Cluster, way: Way, actor: User | None, reason: str = "") -> Credentials:
    """Try new credentials, and keep them for the cluster instead of those that it had.

    ``way`` is one by text. Raises ValidationError when they don't hold, or lead to another cluster.
    """
    try:
        way = way.chosen()
        uid, _loaded = identify(way.settings())
    except ClusterError as error:
        raise ValidationError(told(error)) from None
    check_uid(uid, cluster)
    return keep(cluster=cluster, way=way, uid=uid, actor=actor, reason=reason)


@transaction.atomic
@sensitive_variables()
def keep(*, cluster: Cluster, way: Way, uid: str = "", actor: User | None, reason: str = "") -> Credentials:
    """Seal a way's text for the cluster, without a try. Raises ValidationError where there is no key."""
    try:
        sealed, loaded = seal(way.text), load(way.settings())
    except ClusterError as error:
        raise ValidationError(told(error)) from None
    row = Credentials.objects.filter(cluster=cluster).first() or Credentials(cluster=cluster)
    row.sealed, row.kind, row.address, row.context = sealed, loaded.kind, loaded.address, way.context
    row.expires_at, row.set_at, row.set_by = loaded.ends_at, timezone.now(), name_of(actor)
    row.full_clean()
    row.save()
    if uid and not cluster.uid:
        cluster.uid = uid
        cluster.full_clean()
        cluster.save(update_fields=["uid"])
    details = {"kind": row.kind, "address": row.address, "context": row.context}
    if row.expires_at:
        details["expires_at"] = row.expires_at.isoformat()
    record(actor=actor, verb="cluster.credentials", target=cluster.name, reason=reason.strip(), details=details)
    return row


@transaction.atomic
def remove_credentials(*, cluster: Cluster, actor: User | None, reason: str = "") -> bool:
    """Forget them: a kubeconfig on the machine is used again, or our own pod's account. Whether any were kept."""
    removed, _each = Credentials.objects.filter(cluster=cluster).delete()
    if removed:
        record(actor=actor, verb="cluster.credentials.remove", target=cluster.name, reason=reason.strip())
    return bool(removed)


@transaction.atomic
def reseal_all() -> int:
    """Seal every one with the first key, so that the others may go; how many there are. Raises SettingsError."""
    rows = list(Credentials.objects.select_for_update())
    for row in rows:
        row.sealed = reseal(row.sealed)
        row.save(update_fields=["sealed"])
    if rows:
        record(actor=None, verb="credentials.reseal", target="all", details={"count": len(rows)})
    return len(rows)


def check_uid(uid: str, cluster: Cluster | None) -> None:
    """Raise ValidationError when the cluster, which may be a new one, is not the one with that UID, or another is."""
    if cluster and cluster.uid and uid and uid != cluster.uid:
        message = _("These credentials belong to a different cluster, not to %(name)s.")
        raise ValidationError(message % {"name": cluster.name})
    known = Cluster.objects.filter(uid=uid).exclude(uid="").exclude(pk__in=[cluster.pk] if cluster else []).first()
    if known is not None:
        message = _(
            "This is cluster %(name)s, which is already connected. To replace its credentials, use its Connection page."
        )
        raise ValidationError(message % {"name": known.name})

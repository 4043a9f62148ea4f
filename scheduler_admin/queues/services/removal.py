"""Taking a hierarchy away, with all its revisions and drafts."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import check_reason, record
from scheduler_admin.core.words import listed
from scheduler_admin.queues.models import Hierarchy


@transaction.atomic
def delete_hierarchy(*, hierarchy: Hierarchy, actor: User | None, reason: str) -> None:
    """Delete a hierarchy with its revisions and drafts. Raises ValidationError while a cluster uses it."""
    check_reason(reason)
    found = Hierarchy.objects.select_for_update().get(pk=hierarchy.pk)
    if using := [cluster.name for cluster in found.clusters.order_by("name")]:
        message = _("%(name)s is the queue tree of these clusters: %(clusters)s. Remove them first.")
        raise ValidationError(message % {"name": found.name, "clusters": listed(using)})
    details = {"revisions": found.revisions.count(), "drafts": found.drafts.count()}
    record(actor=actor, verb="hierarchy.delete", target=found.name, reason=reason.strip(), details=details)
    found.current = None  # which protects the revision from being deleted
    found.save(update_fields=["current"])
    found.delete()

"""Tenants: created, changed and deleted."""

import json
import re
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.accounts.services.audit import check_reason, record
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import check_seen, keyed

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_PATH = re.compile(r"[^\s.\0]+(\.[^\s.\0]+)*")


@transaction.atomic
def create_tenant(
    *,
    name: str,
    namespaces: Iterable[str] = (),
    subtrees: Iterable[str] = (),
    actor: User | None = None,
    reason: str = "",
) -> Tenant:
    """Create a tenant with its namespaces and its subtrees of queues. Raises ValidationError by field."""
    tenant = Tenant(name=name, namespaces=sorted(set(namespaces)), subtrees=sorted(set(subtrees)))
    _check(tenant)
    tenant.save()
    details = {"namespaces": tenant.namespaces, "subtrees": tenant.subtrees}
    record(actor=actor, verb="tenant.create", target=tenant.name, reason=reason.strip(), details=details)
    return tenant


@transaction.atomic
def change_tenant(
    *,
    tenant: Tenant,
    actor: User | None,
    reason: str,
    name: str | None = None,
    namespaces: Iterable[str] | None = None,
    subtrees: Iterable[str] | None = None,
    seen: str | None = None,
) -> Tenant:
    """Change what is given of a tenant: what its people see and change follows at once.

    ``seen``: ``tenant_tag`` as the actor has read it. Raises ValidationError by field, also without a reason.
    """
    check_reason(reason)
    found = Tenant.objects.select_for_update().get(pk=tenant.pk)
    check_seen(seen, tenant_tag(found))
    before = _facts(found)
    found.name = found.name if name is None else name
    found.namespaces = found.namespaces if namespaces is None else sorted(set(namespaces))
    found.subtrees = found.subtrees if subtrees is None else sorted(set(subtrees))
    _check(found)
    if details := {field: [before[field], now] for field, now in _facts(found).items() if now != before[field]}:
        found.save()
        record(actor=actor, verb="tenant.change", target=before["name"], reason=reason.strip(), details=details)
    return found


@transaction.atomic
def delete_tenant(*, tenant: Tenant, actor: User | None, reason: str, seen: str | None = None) -> None:
    """Delete a tenant with its memberships, group mappings and channels; namespaces and queues stay as they are.

    ``seen``: ``tenant_tag`` as the actor has read it. Raises ValidationError without a reason.
    """
    check_reason(reason)
    found = Tenant.objects.select_for_update().get(pk=tenant.pk)
    check_seen(seen, tenant_tag(found))
    roles = Membership.objects.filter(tenant=found).order_by("user__username").values_list("user__username", "role")
    details = {"namespaces": found.namespaces, "subtrees": found.subtrees, "members": dict(roles)}
    record(actor=actor, verb="tenant.delete", target=found.name, reason=reason.strip(), details=details)
    found.delete()


def goes_with(tenant: Tenant) -> dict[str, int]:
    """Return how many rows are deleted with a tenant, by what they are."""
    return {
        "members": tenant.memberships.count(),
        "mappings": tenant.mappings.count(),
        "channels": tenant.channels.count(),
    }


def tenant_tag(tenant: Tenant) -> str:
    """Return what tells one state of a tenant from another: what belongs to it, and how much goes with it."""
    return keyed(json.dumps([_facts(tenant), goes_with(tenant)]))


def _facts(tenant: Tenant) -> dict[str, Any]:
    return {name: getattr(tenant, name) for name in ("name", "namespaces", "subtrees")}


def _check(tenant: Tenant) -> None:
    """Raise ValidationError, by field, for a tenant that cannot be."""
    wrong: dict[str, list[str]] = {}
    if "/" in tenant.name or tenant.name in {".", ".."}:
        wrong["name"] = [_("A tenant name cannot contain a slash or be “.” or “..”, because it is part of URLs.")]
    namespaces = [each for each in tenant.namespaces if len(each) > limits.NAMESPACE or not _NAMESPACE.fullmatch(each)]
    paths = [each for each in tenant.subtrees if len(each) > limits.QUEUE_PATH or not _PATH.fullmatch(each)]
    if namespaces:
        wrong["namespaces"] = [_("%(name)s is not a valid namespace name.") % {"name": name} for name in namespaces]
    if paths:
        wrong["subtrees"] = [_("%(path)s is not a valid queue path.") % {"path": path} for path in paths]
    try:
        tenant.full_clean()
    except ValidationError as error:
        wrong = {**error.message_dict, **wrong}
    if wrong:
        raise ValidationError(wrong)

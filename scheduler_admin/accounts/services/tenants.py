"""Tenants: made, changed and deleted."""

from collections.abc import Iterable

from django.db import transaction

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services.audit import record


@transaction.atomic
def create_tenant(
    *, name: str, namespaces: Iterable[str] = (), subtrees: Iterable[str] = (), actor: User | None = None
) -> Tenant:
    """A new tenant with its namespaces and its subtrees of queues. Raises ValidationError."""
    tenant = Tenant(name=name, namespaces=sorted(set(namespaces)), subtrees=sorted(set(subtrees)))
    tenant.full_clean()
    tenant.save()
    details = {"namespaces": tenant.namespaces, "subtrees": tenant.subtrees}
    record(actor=actor, verb="tenant.create", target=tenant.name, details=details)
    return tenant

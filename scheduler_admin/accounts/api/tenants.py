"""Tenants: namespaces and subtrees of queues that belong together."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from scheduler_admin.accounts.api.administered import WITH_REASON, AdministeredViewSet
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.selectors import visible_tenants
from scheduler_admin.accounts.services.tenants import change_tenant, create_tenant, delete_tenant
from scheduler_admin.core import limits


class TenantSerializer(serializers.ModelSerializer[Tenant]):
    """A tenant with its namespaces and queues."""

    namespaces = serializers.ListField(child=serializers.CharField(), help_text="Namespaces of the tenant.")
    subtrees = serializers.ListField(
        child=serializers.CharField(), help_text="Queue paths of the tenant; the queues below them are included."
    )

    class Meta:
        model = Tenant
        fields = ["name", "namespaces", "subtrees"]
        extra_kwargs = {"name": {"help_text": "Name of the tenant, without a slash."}}


class TenantsSerializer(serializers.Serializer[Any]):
    """Tenants, by name."""

    results = TenantSerializer(many=True, help_text="Tenants, by name.")


class TenantWriteSerializer(serializers.Serializer[Any]):
    """A tenant to create or change."""

    name = serializers.CharField(max_length=limits.TENANT_NAME, help_text="Name of the tenant, without a slash.")
    namespaces = serializers.ListField(
        child=serializers.CharField(max_length=limits.NAMESPACE), required=False, help_text="Namespaces of the tenant."
    )
    subtrees = serializers.ListField(
        child=serializers.CharField(max_length=limits.QUEUE_PATH),
        required=False,
        help_text="Queue paths of the tenant; the queues below them are included.",
    )


class TenantViewSet(AdministeredViewSet):
    """The tenants that you belong to; staff see all."""

    queries = WITH_REASON
    resource = "tenant", "tenants"
    queryset = Tenant.objects.all()
    serializer_class = TenantSerializer
    list_class = TenantsSerializer
    body_class = TenantWriteSerializer
    lookup_field = "name"
    lookup_value_converter = "str"

    def get_queryset(self) -> QuerySet[Tenant]:
        """Return the tenants that the reader may see."""
        return visible_tenants(self.request.user)

    def make(self, given: dict[str, Any]) -> Tenant:
        """Create a tenant. Its members are users with a membership, or of a group that is mapped to it."""
        return create_tenant(**given, actor=self.user, reason=self.reason)

    def change(self, row: Tenant, given: dict[str, Any]) -> Tenant:
        """Change the name, namespaces or subtrees; lists replace the existing ones."""
        return change_tenant(tenant=row, **given, actor=self.user, reason=self.reason)

    def remove(self, row: Tenant) -> None:
        """Delete a tenant with its memberships, group mappings and channels, but not its namespaces and queues."""
        delete_tenant(tenant=row, actor=self.user, reason=self.reason)

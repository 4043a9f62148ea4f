"""Tenants: namespaces and subtrees of queues that belong together."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from scheduler_admin.accounts.api.administered import WITH_REASON, AdministeredViewSet
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.selectors import visible_tenants
from scheduler_admin.accounts.services.tenants import change_tenant, create_tenant, delete_tenant
from scheduler_admin.core import limits

SUBTREES = "Paths of queues; what lies below belongs too."


class TenantSerializer(serializers.ModelSerializer[Tenant]):
    """Namespaces and subtrees of queues that belong together."""

    namespaces = serializers.ListField(child=serializers.CharField())
    subtrees = serializers.ListField(child=serializers.CharField(), help_text=SUBTREES)

    class Meta:
        model = Tenant
        fields = ["name", "namespaces", "subtrees"]


class TenantsSerializer(serializers.Serializer[Any]):
    """By name."""

    results = TenantSerializer(many=True)


class TenantWriteSerializer(serializers.Serializer[Any]):
    """A tenant as it is to be."""

    name = serializers.CharField(max_length=limits.TENANT_NAME, help_text="Without a slash: addresses are made of it.")
    namespaces = serializers.ListField(child=serializers.CharField(max_length=limits.NAMESPACE), required=False)
    subtrees = serializers.ListField(
        child=serializers.CharField(max_length=limits.QUEUE_PATH), required=False, help_text=SUBTREES
    )


class TenantViewSet(AdministeredViewSet):
    """Those that you belong to; who sees everything gets all."""

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
        return self.locked(visible_tenants(self.request.user))

    def make(self, given: dict[str, Any]) -> Tenant:
        """Create a tenant. Its people are those who have a membership there, or a group that is mapped to it."""
        return create_tenant(**given, actor=self.user, reason=self.reason)

    def change(self, row: Tenant, given: dict[str, Any]) -> Tenant:
        """Change its name, its namespaces or its subtrees: lists are sent whole. Its people see so at once."""
        return change_tenant(tenant=row, **given, actor=self.user, reason=self.reason)

    def remove(self, row: Tenant) -> None:
        """Delete it with its memberships, group mappings and channels; namespaces and queues stay as they are."""
        delete_tenant(tenant=row, actor=self.user, reason=self.reason)

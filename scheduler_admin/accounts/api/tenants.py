"""Tenants: namespaces and subtrees of queues that belong together."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.selectors import visible_tenants
from scheduler_admin.rest.viewsets import Listed, Retrieved

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


class TenantViewSet(Listed, Retrieved):
    """Those that you belong to; who sees everything gets all."""

    actions = {"GET": "view"}
    tag = "site"
    resource = "tenant", "tenants"
    queryset = Tenant.objects.all()
    serializer_class = TenantSerializer
    list_class = TenantsSerializer
    lookup_field = "name"
    lookup_value_converter = "str"

    def get_queryset(self) -> QuerySet[Tenant]:
        """Return the tenants that the reader may see."""
        return visible_tenants(self.request.user)

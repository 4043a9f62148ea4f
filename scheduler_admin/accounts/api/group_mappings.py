"""Group mappings: what groups of other doors are here."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from scheduler_admin.accounts.doors import add_mapping, remove_mapping
from scheduler_admin.accounts.models import GroupMapping
from scheduler_admin.accounts.selectors import tenant_called
from scheduler_admin.core import limits
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import Created, Destroyed, Listed


class MappingSerializer(serializers.Serializer[GroupMapping]):
    """What a group is here."""

    id = serializers.IntegerField(source="pk", read_only=True)
    group = serializers.CharField(
        max_length=limits.GROUP, help_text="Of Kubernetes: kubernetes:group:NAME or kubernetes:user:NAME."
    )
    role = serializers.ChoiceField(GroupMapping.ROLES)
    tenant = serializers.CharField(
        source="tenant.name", allow_null=True, default=None, help_text="Of a tenant or an editor: whose."
    )


class MappingsSerializer(serializers.Serializer[Any]):
    """All mappings, by group."""

    results = MappingSerializer(many=True)


class GroupMappingViewSet(Listed, Created, Destroyed):
    """What groups of other doors are here, by group: staff read it, admins write it."""

    actions = {"GET": "view", "POST": "administer", "DELETE": "administer"}
    queries = {"POST": ReasonParameters, "DELETE": ReasonParameters}
    staff_only = True
    tag = "site"
    resource = "group_mapping", "group_mappings"
    queryset = GroupMapping.objects.all()
    serializer_class = body_class = MappingSerializer
    list_class = MappingsSerializer

    def get_queryset(self) -> QuerySet[GroupMapping]:
        """Return all mappings: who does not see everything gets no further than the declaration."""
        return GroupMapping.objects.select_related("tenant")

    def make(self, given: dict[str, Any]) -> GroupMapping:
        """A group is this from now on, also to those who are signed in."""
        named = given["tenant"]
        tenant = tenant_called((named["name"] if isinstance(named, dict) else named) or "")
        reason = self.asked["reason"]
        return add_mapping(group=given["group"], role=given["role"], tenant=tenant, actor=self.user, reason=reason)

    def remove(self, row: GroupMapping) -> None:
        """The group is that no longer."""
        remove_mapping(mapping=row, actor=self.user, reason=self.asked["reason"])

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


class GroupMappingSerializer(serializers.Serializer[GroupMapping]):
    """The role that the members of a group get."""

    id = serializers.IntegerField(source="pk", read_only=True, help_text="Number of the mapping.")
    group = serializers.CharField(
        max_length=limits.GROUP, help_text="Name of the group, or `kubernetes:group:NAME` or `kubernetes:user:NAME`."
    )
    role = serializers.ChoiceField(GroupMapping.ROLES, help_text="Role of the group's members.")
    tenant = serializers.CharField(
        source="tenant.name",
        allow_null=True,
        default=None,
        help_text="Name of the tenant for roles tenant and editor; null for other roles.",
    )


class GroupMappingsSerializer(serializers.Serializer[Any]):
    """All group mappings, ordered by group."""

    results = GroupMappingSerializer(many=True, help_text="Group mappings, ordered by group.")


class GroupMappingViewSet(Listed, Created, Destroyed):
    """The roles that groups of other sign-in systems get. Staff can read them, admins can change them."""

    actions = {"GET": "view", "POST": "administer", "DELETE": "administer"}
    queries = {"POST": ReasonParameters, "DELETE": ReasonParameters}
    staff_only = True
    tag = "site"
    resource = "group_mapping", "group_mappings"
    queryset = GroupMapping.objects.all()
    serializer_class = body_class = GroupMappingSerializer
    list_class = GroupMappingsSerializer

    def get_queryset(self) -> QuerySet[GroupMapping]:
        """Return all mappings: who does not see everything gets no further than the declaration."""
        return GroupMapping.objects.select_related("tenant")

    def make(self, given: dict[str, Any]) -> GroupMapping:
        """Give the members of a group a role, also those who are signed in."""
        named = given["tenant"]
        tenant = tenant_called((named["name"] if isinstance(named, dict) else named) or "")
        reason = self.asked["reason"]
        return add_mapping(group=given["group"], role=given["role"], tenant=tenant, actor=self.user, reason=reason)

    def remove(self, row: GroupMapping) -> None:
        """Remove the role of a group."""
        remove_mapping(mapping=row, actor=self.user, reason=self.asked["reason"])

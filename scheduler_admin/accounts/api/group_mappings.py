"""Group mappings: what groups of other doors are here."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from scheduler_admin.accounts.api.administered import WITH_REASON, AdministeredViewSet
from scheduler_admin.accounts.doors import add_mapping, change_mapping, remove_mapping
from scheduler_admin.accounts.models import GroupMapping, Tenant
from scheduler_admin.accounts.selectors import tenant_called
from scheduler_admin.core import limits


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


class GroupMappingViewSet(AdministeredViewSet):
    """The roles that groups of other sign-in systems get. Staff can read them, admins can change them."""

    queries = WITH_REASON
    staff_only = True
    deletes_unread = True
    resource = "group_mapping", "group_mappings"
    queryset = GroupMapping.objects.all()
    serializer_class = body_class = GroupMappingSerializer
    list_class = GroupMappingsSerializer

    def get_queryset(self) -> QuerySet[GroupMapping]:
        """Return all mappings: who does not see everything gets no further than the declaration."""
        return GroupMapping.objects.select_related("tenant")

    def make(self, given: dict[str, Any]) -> GroupMapping:
        """Give the members of a group a role, also those who are signed in."""
        given |= {"tenant": _tenant(given["tenant"])}
        return add_mapping(**given, actor=self.user, reason=self.reason)

    def change(self, row: GroupMapping, given: dict[str, Any]) -> GroupMapping:
        """Change the members that are sent; roles change at once, also of those who are signed in."""
        if "tenant" in given:
            given["tenant"] = _tenant(given["tenant"])
        now = {"group": row.group, "role": row.role, "tenant": row.tenant}
        return change_mapping(mapping=row, **(now | given), actor=self.user, reason=self.reason)

    def remove(self, row: GroupMapping) -> None:
        """Remove the role of a group."""
        remove_mapping(mapping=row, actor=self.user, reason=self.reason)


def _tenant(sent: Any) -> Tenant | None:
    """Return the tenant that a body names; None for null. Raises ValidationError."""
    return tenant_called((sent["name"] if isinstance(sent, dict) else sent) or "")

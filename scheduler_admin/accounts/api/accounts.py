"""Who there is, what is whose, and who did what: for those who see everything; of tenants, one's own for all."""

from typing import Any

from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import AuditEvent, Membership, Tenant, User
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.openapi.parts import PROBLEM
from scheduler_admin.rest.pagination import NewestFirst, NumberedPageParameters, PageParameters, next_link
from scheduler_admin.rest.parameters import forward

SUBTREES = "Paths of queues; what lies below belongs too."


class AuditParameters(PageParameters):
    """Filters of the audit log; all that are given must hold."""

    since = UtcField(required=False, help_text="At or after this time, RFC 3339.")
    until = UtcField(required=False, help_text="Before this time, RFC 3339.")
    verb = serializers.CharField(required=False, max_length=50, help_text="What was done: tree.publish, cluster.mode.")
    actor = serializers.CharField(required=False, max_length=150, help_text="Who did it, as the log calls them.")
    target = serializers.CharField(required=False, max_length=255, help_text="To what it was done.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A time range that holds anything."""
        return forward(attrs, "since", "until")


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """Who changed what, when and why."""

    at = UtcField()
    actor = serializers.CharField(source="actor_name")
    details = serializers.DictField(help_text="What was before and after, as the verb has it; `token`: by which.")

    class Meta:
        model = AuditEvent
        fields = ["id", "at", "actor", "verb", "target", "reason", "details"]


class AuditSerializer(serializers.Serializer[Any]):
    """A page of the audit log, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = AuditEventSerializer(many=True)


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


class UsersParameters(NumberedPageParameters):
    """Which users."""

    role = serializers.ChoiceField(User.Role.choices, required=False, help_text="Of the whole site.")
    tenant = serializers.CharField(required=False, max_length=100, help_text="Members of this tenant.")
    service = serializers.BooleanField(
        required=False, default=None, allow_null=True, help_text="Service accounts alone, or people alone."
    )


class MembershipSerializer(serializers.ModelSerializer[Membership]):
    """What somebody is at a tenant."""

    tenant = serializers.CharField(source="tenant.name")

    class Meta:
        model = Membership
        fields = ["tenant", "role"]


class UserSerializer(serializers.ModelSerializer[User]):
    """A person, or a machine's account."""

    name = serializers.CharField(source="username")
    active = serializers.BooleanField(source="is_active", help_text="False: locked out.")
    elsewhere = serializers.SerializerMethodField(help_text="Signs in elsewhere: role and tenants follow from groups.")
    service = serializers.BooleanField(help_text="A machine's account: it has tokens, and no other way in.")
    memberships = MembershipSerializer(many=True)

    class Meta:
        model = User
        fields = ["id", "name", "role", "active", "service", "elsewhere", "memberships"]

    def get_elsewhere(self, user: User) -> bool:
        """By another door."""
        return user.identity is not None


class UsersSerializer(serializers.Serializer[Any]):
    """A page of users, the newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = UserSerializer(many=True)


class _StaffView(ApiView):
    """What these share."""

    staff_only = True


class AuditView(_StaffView):
    """The audit log."""

    actions = {"GET": "view"}

    queries = {"GET": AuditParameters}

    @extend_schema(
        operation_id="list_audit_events",
        tags=["site"],
        parameters=[AuditParameters],
        responses={200: AuditSerializer, **PROBLEM},
    )
    def get(self, request: Request) -> Response:
        """What anybody changed, newest first. Follow `next`."""
        columns = {"since": "at__gte", "until": "at__lt", "actor": "actor_name", "verb": "verb", "target": "target"}
        wanted = {column: self.asked[name] for name, column in columns.items() if name in self.asked}
        found, place = NewestFirst(self.asked, by="at").page(AuditEvent.objects.filter(**wanted))
        return Response(AuditSerializer({"next": next_link(request, place), "results": found}).data)


class TenantsView(ApiView):
    """Tenants."""

    actions = {"GET": "view"}

    @extend_schema(operation_id="list_tenants", tags=["site"], responses={200: TenantsSerializer, **PROBLEM})
    def get(self, request: Request) -> Response:
        """Those that you belong to; who sees everything gets all."""
        del request
        scope, rows = self.scope, Tenant.objects.order_by("name")
        mine = rows if scope.everything else rows.filter(pk__in=scope.tenants)
        return Response(TenantsSerializer({"results": mine}).data)


class UsersView(_StaffView):
    """Users."""

    actions = {"GET": "view"}

    queries = {"GET": UsersParameters}

    @extend_schema(
        operation_id="list_users",
        tags=["site"],
        parameters=[UsersParameters],
        responses={200: UsersSerializer, **PROBLEM},
    )
    def get(self, request: Request) -> Response:
        """People and service accounts with their roles, the newest first. Follow `next`."""
        columns = {"role": "role", "tenant": "tenants__name", "service": "service", "cursor": "pk__lt"}
        wanted = {column: self.asked[name] for name, column in columns.items() if self.asked.get(name) is not None}
        rows = User.objects.filter(**wanted).prefetch_related(
            Prefetch("memberships", Membership.objects.select_related("tenant").order_by("tenant__name"))
        )
        limit = self.asked["limit"]
        found = list(rows.order_by("-pk")[: limit + 1])
        place = found[limit - 1].pk if len(found) > limit else None
        return Response(UsersSerializer({"next": next_link(request, place), "results": found[:limit]}).data)

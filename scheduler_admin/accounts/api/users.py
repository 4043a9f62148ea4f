"""Users: people and machines, with what they are here."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from rest_framework import serializers

from scheduler_admin.accounts.models import Membership, User
from scheduler_admin.core import limits
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.viewsets import Listed, NumberedPages, Retrieved


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
        """Return whether they come in by another door."""
        return user.identity is not None


class UsersSerializer(serializers.Serializer[Any]):
    """A page of users, the newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = UserSerializer(many=True)


class UserFilters(Parameters):
    """Which users."""

    role = Parameter(serializers.ChoiceField(User.Role.choices, help_text="Of the whole site."), "role")
    tenant = Parameter(
        serializers.CharField(max_length=limits.TENANT_NAME, help_text="Members of this tenant."), "tenants__name"
    )
    service = Parameter(
        serializers.BooleanField(default=None, allow_null=True, help_text="Service accounts alone, or people alone."),
        "service",
    )


class UserViewSet(Listed, Retrieved):
    """People and service accounts with their roles, the newest first. Follow `next`."""

    actions = {"GET": "view"}
    queries = {"GET": NumberedPageParameters}
    staff_only = True
    tag = "site"
    resource = "user", "users"
    queryset = User.objects.all()
    serializer_class = UserSerializer
    list_class = UsersSerializer
    filterset_class = UserFilters
    pagination_class = NumberedPages

    def get_queryset(self) -> QuerySet[User]:
        """Return all users with their tenants: who does not see everything gets no further than the declaration."""
        memberships = Membership.objects.select_related("tenant").order_by("tenant__name")
        return User.objects.prefetch_related(Prefetch("memberships", memberships))

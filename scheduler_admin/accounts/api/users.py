"""Users: people and machines, with what they are here."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.api.administered import WITH_REASON, AdministeredViewSet
from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.accounts.selectors import with_role
from scheduler_admin.accounts.services.users import change_user, create_user, delete_user
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import QueryFlagField
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.problems import Unacceptable, pointer
from scheduler_admin.rest.viewsets import NumberedPages


class MembershipSerializer(serializers.ModelSerializer[Membership]):
    """The role of a user in a tenant."""

    tenant = serializers.CharField(source="tenant.name", help_text="Name of the tenant.")

    class Meta:
        model = Membership
        fields = ["tenant", "role"]
        extra_kwargs = {"role": {"help_text": "Role of the user in the tenant."}}


class UserSerializer(serializers.ModelSerializer[User]):
    """A person or a service account."""

    name = serializers.CharField(source="username", help_text="Login name of the user.")
    role = serializers.ChoiceField(User.Role.choices, source="site_role", help_text="Role on the whole site.")
    active = serializers.BooleanField(source="is_active", help_text="False if the user is locked out.")
    email = serializers.CharField(help_text="Email address; empty if none.")
    externally_managed = serializers.SerializerMethodField(
        help_text="True if the user signs in through an identity provider that manages roles."
    )
    service_account = serializers.BooleanField(
        help_text="True for a service account, which can use only API tokens.", source="service"
    )
    memberships = MembershipSerializer(many=True, help_text="Memberships in tenants.")

    class Meta:
        model = User
        fields = ["id", "name", "role", "active", "email", "service_account", "externally_managed", "memberships"]
        extra_kwargs = {"id": {"help_text": "Number of the user."}}

    def get_externally_managed(self, user: User) -> bool:
        """Return whether they come in by another door."""
        return user.identity is not None


class UsersSerializer(serializers.Serializer[Any]):
    """A page of users, newest first."""

    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = UserSerializer(many=True, help_text="Users, newest first.")


class UserWriteSerializer(serializers.Serializer[Any]):
    """A user to create or change. The password is never returned."""

    name = serializers.CharField(source="username", max_length=limits.USER_NAME, help_text="Login name of the user.")
    role = serializers.ChoiceField(User.Role.choices, required=False, help_text="Role on the whole site.")
    active = serializers.BooleanField(required=False, help_text="False if the user is locked out.")
    email = serializers.EmailField(required=False, allow_blank=True, help_text="Email address; empty if none.")
    password = serializers.CharField(
        required=False,
        write_only=True,
        trim_whitespace=False,
        max_length=limits.PASSWORD,
        help_text="Password of a local user; without one, only API tokens work.",
    )
    memberships = MembershipSerializer(
        many=True, required=False, help_text="All memberships of the user; they replace the existing ones."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return what may be sent: to change somebody, all but the name."""
        fields = super().get_fields()
        return {name: field for name, field in fields.items() if name != "name"} if self.partial else fields


class UserFilters(Parameters):
    """Which users."""

    role = Parameter(serializers.ChoiceField(User.Role.choices, help_text="Role on the whole site."), method="of_role")
    tenant = Parameter(
        serializers.CharField(max_length=limits.TENANT_NAME, help_text="Name of a tenant whose members are listed."),
        "tenants__name",
    )
    service_account = Parameter(
        QueryFlagField(help_text="True for service accounts only, false for people only."),
        "service",
    )

    def of_role(self, rows: QuerySet[User], name: str, role: str) -> QuerySet[User]:
        """Return the users with a role."""
        del name
        return rows.filter(with_role(role))


class UserViewSet(AdministeredViewSet):
    """People and service accounts with their roles, newest first. Follow `next`."""

    queries = {"GET": NumberedPageParameters, **WITH_REASON}
    staff_only = True
    resource = "user", "users"
    queryset = User.objects.all()
    serializer_class = UserSerializer
    list_class = UsersSerializer
    body_class = UserWriteSerializer
    filterset_class = UserFilters
    pagination_class = NumberedPages

    def get_queryset(self) -> QuerySet[User]:
        """Return all users with their tenants: who does not see everything gets no further than the declaration."""
        memberships = Membership.objects.select_related("tenant").order_by("tenant__name")
        return User.objects.prefetch_related(Prefetch("memberships", memberships))

    @sensitive_variables()
    def create(self, request: Request, **place: Any) -> Response:
        """Create a user: no error report shows the password."""
        return super().create(request, **place)

    @sensitive_variables()
    def partial_update(self, request: Request, **place: Any) -> Response:
        """Change a user: no error report shows the password."""
        return super().partial_update(request, **place)

    @sensitive_variables()
    def make(self, given: dict[str, Any]) -> User:
        """Create a local user, with `memberships` if needed."""
        roles = _roles(given.pop("memberships", []))
        own, edits = ([tenant for tenant, role in roles.items() if role == one] for one in Membership.Role.values)
        return create_user(tenants=own, edits=edits, actor=self.user, reason=self.reason, **given)

    @sensitive_variables()
    def change(self, row: User, given: dict[str, Any]) -> User:
        """Change the members that are sent; `memberships` replace the existing ones.

        You cannot change your own role, and one active admin must remain. Role and memberships of externally managed
        users follow from groups.
        """
        if "memberships" in given:
            given["memberships"] = _roles(given["memberships"])
        changed = change_user(user=row, actor=self.user, reason=self.reason, **given)
        return self.get_queryset().get(pk=changed.pk)

    def remove(self, row: User) -> None:
        """Delete a user with their tokens and saved filters; recorded changes keep the name."""
        delete_user(user=row, actor=self.user, reason=self.reason)


def _roles(sent: list[dict[str, Any]]) -> dict[Tenant, str]:
    """Return the tenants that memberships name, with the role there. Raises Unacceptable for one that is not there."""
    names = [each["tenant"]["name"] for each in sent]
    known = {tenant.name: tenant for tenant in Tenant.objects.filter(name__in=names)}
    wrong = [
        {
            "detail": _("Specify this only once.") if name in known else _("This tenant does not exist."),
            "pointer": pointer("memberships", index, "tenant"),
        }
        for index, name in enumerate(names)
        if name not in known or name in names[:index]
    ]
    if wrong:
        raise Unacceptable(wrong)
    return {known[each["tenant"]["name"]]: each.get("role", Membership.Role.TENANT) for each in sent}

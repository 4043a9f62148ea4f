"""Users: people and machines, with what they are here."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
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
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.problems import Unacceptable, pointer
from scheduler_admin.rest.viewsets import NumberedPages

_LONGEST_PASSWORD = 1000


class MembershipSerializer(serializers.ModelSerializer[Membership]):
    """What somebody is at a tenant."""

    tenant = serializers.CharField(source="tenant.name")

    class Meta:
        model = Membership
        fields = ["tenant", "role"]


class UserSerializer(serializers.ModelSerializer[User]):
    """A person, or a machine's account."""

    name = serializers.CharField(source="username")
    role = serializers.ChoiceField(User.Role.choices, source="site_role")
    active = serializers.BooleanField(source="is_active", help_text="False: locked out.")
    email = serializers.CharField()
    elsewhere = serializers.SerializerMethodField(help_text="Signs in elsewhere: role and tenants follow from groups.")
    service = serializers.BooleanField(help_text="A machine's account: it has tokens, and no other way in.")
    memberships = MembershipSerializer(many=True)

    class Meta:
        model = User
        fields = ["id", "name", "role", "active", "email", "service", "elsewhere", "memberships"]

    def get_elsewhere(self, user: User) -> bool:
        """Return whether they come in by another door."""
        return user.identity is not None


class UsersSerializer(serializers.Serializer[Any]):
    """A page of users, the newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = UserSerializer(many=True)


class UserWriteSerializer(serializers.Serializer[Any]):
    """A user as they are to be. The password is only written: no answer has it, and nothing keeps it as it is."""

    name = serializers.CharField(
        source="username", max_length=limits.USER_NAME, help_text="What they sign in by; it stays."
    )
    role = serializers.ChoiceField(User.Role.choices, required=False, help_text="Of the whole site; left out: tenant.")
    active = serializers.BooleanField(required=False, help_text="False: locked out.")
    email = serializers.EmailField(required=False, allow_blank=True)
    password = serializers.CharField(
        required=False,
        write_only=True,
        trim_whitespace=False,
        max_length=_LONGEST_PASSWORD,
        help_text="Of a local user. Without one, they sign in by token alone.",
    )
    memberships = MembershipSerializer(many=True, required=False, help_text="All that there are to be.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return what may be sent: to change somebody, all but the name."""
        fields = super().get_fields()
        return {name: field for name, field in fields.items() if name != "name"} if self.partial else fields


class UserFilters(Parameters):
    """Which users."""

    role = Parameter(serializers.ChoiceField(User.Role.choices, help_text="Of the whole site."), method="of_role")
    tenant = Parameter(
        serializers.CharField(max_length=limits.TENANT_NAME, help_text="Members of this tenant."), "tenants__name"
    )
    service = Parameter(
        serializers.BooleanField(default=None, allow_null=True, help_text="Service accounts alone, or people alone."),
        "service",
    )

    def of_role(self, rows: QuerySet[User], name: str, role: str) -> QuerySet[User]:
        """Return the users with a role."""
        del name
        return rows.filter(with_role(role))


class UserViewSet(AdministeredViewSet):
    """People and service accounts with their roles, the newest first. Follow `next`."""

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
        return self.locked(User.objects.prefetch_related(Prefetch("memberships", memberships)))

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
        """Create a local user. With `memberships`, they belong to tenants from the start."""
        roles = _roles(given.pop("memberships", []))
        own, edits = ([tenant for tenant, role in roles.items() if role == one] for one in Membership.Role.values)
        with _as_sent():
            return create_user(tenants=own, edits=edits, actor=self.user, reason=self.reason, **given)

    @sensitive_variables()
    def change(self, row: User, given: dict[str, Any]) -> User:
        """Change what is given: `memberships` are all that there are to be.

        Nobody changes their own role, and one active admin stays. The role and memberships of who signs in elsewhere
        follow from groups.
        """
        if "memberships" in given:
            given["memberships"] = _roles(given["memberships"])
        with _as_sent():
            changed = change_user(user=row, actor=self.user, reason=self.reason, **given)
        return self.get_queryset().get(pk=changed.pk)

    def remove(self, row: User) -> None:
        """Delete somebody with their tokens and saved filters; what they did keeps their name."""
        delete_user(user=row, actor=self.user, reason=self.reason)


def _roles(sent: list[dict[str, Any]]) -> dict[Tenant, str]:
    """Return the tenants that memberships name, with the role there. Raises Unacceptable for one that is not there."""
    names = [each["tenant"]["name"] for each in sent]
    known = {tenant.name: tenant for tenant in Tenant.objects.filter(name__in=names)}
    wrong = [
        {
            "detail": _("Give this once.") if name in known else _("There is no such tenant."),
            "pointer": pointer("memberships", index, "tenant"),
        }
        for index, name in enumerate(names)
        if name not in known or name in names[:index]
    ]
    if wrong:
        raise Unacceptable(wrong)
    return {known[each["tenant"]["name"]]: each.get("role", Membership.Role.TENANT) for each in sent}


@contextmanager
def _as_sent() -> Iterator[None]:
    """Name the fields of the model as the body does, where one of them is wrong."""
    try:
        yield
    except ValidationError as error:
        if not hasattr(error, "error_dict"):
            raise
        sent = {"username": "name", "is_active": "active"}
        raise ValidationError({sent.get(name, name): each for name, each in error.message_dict.items()}) from None

"""Reads on accounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import ApiToken, Membership, Site, Tenant, User
from scheduler_admin.accounts.scopes import Who, scope_by_role, scope_of
from scheduler_admin.accounts.services.tokens import PREFIX, digest_of


@sensitive_variables("plaintext")
def usable_token(plaintext: str, *, now: datetime) -> ApiToken | None:
    """The token with its user, whom it limits; None if unknown, expired, or the user may not sign in.

    One that was last used under a former key is still found by it.
    """
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    token = (
        ApiToken.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), user__is_active=True)
        .select_related("user")
        .filter(digest__in=[digest_of(plaintext, key=key) for key in keys])
        .first()
    )
    if token is not None:
        token.user.token = token
    return token


def tokens(username: str = "") -> list[ApiToken]:
    """All tokens, or a user's, with their users: the oldest first."""
    rows = ApiToken.objects.select_related("user").order_by("user__username", "created_at", "pk")
    return list(rows.filter(user__username=username) if username else rows)


def site() -> Site:
    """What holds for the whole site."""
    return Site.objects.first() or Site()


def needs_second(user: User) -> bool:
    """Whether somebody else has to approve what the user publishes: of those who edit everything, or a subtree.

    A token that is good for a subtree alone makes no admin an editor.
    """
    found = site()
    return found.second_for_admins if scope_by_role(user, "edit").everything else found.second_for_editors


def administrators() -> QuerySet[User]:
    """Return the people who administer the site and are not locked out. No service account is among them."""
    return User.objects.filter(with_role(User.Role.ADMIN), is_active=True, service=False)


def with_role(role: str) -> Q:
    """Return the condition for users with a role on the whole site: a superuser is an admin, and nothing else."""
    admin = Q(is_superuser=True)
    return Q(role=role) | admin if role == User.Role.ADMIN else Q(role=role) & ~admin


def visible_tenants(user: Who) -> QuerySet[Tenant]:
    """Return the tenants that the user belongs to, by name; who sees everything gets all."""
    scope, rows = scope_of(user, "view"), Tenant.objects.order_by("name")
    return rows if scope.everything else rows.filter(pk__in=scope.tenants)


def tenant_called(name: str) -> Tenant | None:
    """The tenant of that name, None for an empty one. Raises ValidationError where there is none."""
    found = Tenant.objects.filter(name=name).first()
    if name and found is None:
        raise ValidationError({"tenant": _("This tenant does not exist.")})
    return found


OF_ORIGIN = {
    User.Origin.LOCAL: Q(identity=None, service=False),
    User.Origin.PROVIDER: Q(identity__startswith="oidc "),
    User.Origin.KUBERNETES: Q(identity__startswith="kubernetes "),
    User.Origin.SERVICE: Q(service=True),
}
"""The condition for users who sign in this way."""


@dataclass(frozen=True)
class UserFilters:
    """Which users a list shows, as its address says it. Unknown words count as not said."""

    text: str = ""
    role: str = ""
    origin: str = ""
    tenant: str = ""
    state: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "UserFilters":
        """Read them from a page's query."""
        known = {"role": User.Role.values, "origin": User.Origin.values, "state": ["active", "inactive"]}
        given = {name: query.get(name, "") for name in known}
        return cls(
            text=query.get("q", "").strip(),
            tenant=query.get("tenant", "").strip(),
            **{name: word if word in known[name] else "" for name, word in given.items()},
        )

    @property
    def filtering(self) -> bool:
        """Whether anything is left out."""
        return bool(self.text or self.role or self.origin or self.tenant or self.state)

    def rows(self) -> QuerySet[User]:
        """Return the users with their memberships, by name."""
        found = User.objects.order_by("username").prefetch_related(
            Prefetch("memberships", Membership.objects.select_related("tenant").order_by("tenant__name"))
        )
        if self.text:
            found = found.filter(Q(username__icontains=self.text) | Q(email__icontains=self.text))
        if self.role:
            found = found.filter(with_role(self.role))
        if self.origin:
            found = found.filter(OF_ORIGIN[User.Origin(self.origin)])
        if self.tenant:
            found = found.filter(memberships__tenant__name=self.tenant)
        return found.filter(is_active=self.state == "active") if self.state else found


@dataclass(frozen=True)
class TokenFilters:
    """Which tokens a list shows, as its address says it. Unknown words count as not said."""

    text: str = ""
    state: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "TokenFilters":
        """Read them from a page's query."""
        state = query.get("state", "")
        known = state if state in ("valid", "expired", "unused") else ""
        return cls(text=query.get("q", "").strip(), state=known)

    @property
    def filtering(self) -> bool:
        """Whether anything is left out."""
        return bool(self.text or self.state)

    def rows(self) -> QuerySet[ApiToken]:
        """Return the tokens with their owners, the newest first."""
        found, now = ApiToken.objects.select_related("user").order_by("-pk"), timezone.now()
        if self.text:
            by_name = Q(name__icontains=self.text) | Q(user__username__icontains=self.text)
            found = found.filter(by_name | Q(prefix__startswith=self.text[:PREFIX]))
        if self.state == "unused":
            return found.filter(last_used_at=None)
        expired = Q(expires_at__lte=now)
        return found.filter(expired if self.state == "expired" else ~expired) if self.state else found

"""People and machines: made, changed and deleted."""

from collections.abc import Iterable, Mapping

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.accounts.services.audit import record

_LONGEST_SERVICE = 100
"""Its name has to fit, with that before it, where people's names do."""


@transaction.atomic
@sensitive_variables("password")
def create_user(
    *,
    username: str,
    password: str | None = None,
    role: str = User.Role.TENANT,
    tenants: Iterable[Tenant] = (),
    edits: Iterable[Tenant] = (),
    email: str = "",
    service: bool = False,
    actor: User | None = None,
) -> User:
    """A new user; without a password it signs in by token only. Raises ValidationError.

    ``edits``: tenants whose subtrees it changes, beside those that it only belongs to. ``service``: a machine's.
    """
    user = User(username=User.normalize_username(username), email=email, role=role, service=service)
    if password is None:
        user.set_unusable_password()
    else:
        validate_password(password, user)
        user.set_password(password)
    user.full_clean()
    user.save()
    roles = dict.fromkeys(tenants, Membership.Role.TENANT) | dict.fromkeys(edits, Membership.Role.EDITOR)
    set_memberships(user=user, roles=roles)
    record(
        actor=actor,
        verb="user.create",
        target=user.get_username(),
        details={
            "role": str(role),
            "tenants": {tenant.name: str(mine) for tenant, mine in roles.items()},
            **({"service": True} if service else {}),
        },
    )
    return user


@transaction.atomic
def service_account(*, name: str, role: str = "", actor: User | None = None) -> User:
    """The machine's account of that name; with a ``role`` for the whole site it is made if there is none.

    Raises ValidationError: for a person's name, an account of another role, or no role for a new one.
    """
    found = User.objects.filter(username=name).first()
    if found is None and not role:
        raise ValidationError({"role": _("There is no service account %(name)s yet: give it a role.") % {"name": name}})
    if len(name) > _LONGEST_SERVICE:
        raise ValidationError({"username": _("This name is too long.")})
    if found is None:
        return create_user(username=name, role=role, service=True, actor=actor)
    if not found.service:
        raise ValidationError({"username": _("%(name)s is a person, not a service account.") % {"name": name}})
    if role and role != found.role:
        raise ValidationError({"role": _("%(name)s has the role %(role)s.") % {"name": name, "role": found.role}})
    return found


@transaction.atomic
def set_memberships(*, user: User, roles: Mapping[Tenant, str]) -> None:
    """Make a user a member of these tenants, in these roles, and of no others. Raises ValidationError."""
    user.memberships.exclude(tenant__in=roles).delete()
    for tenant, role in roles.items():
        found = Membership.objects.filter(user=user, tenant=tenant).first() or Membership(user=user, tenant=tenant)
        found.role = role
        found.full_clean()
        found.save()

"""People and machines: created, changed and deleted."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from axes.utils import reset
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError, RestrictedError
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.accounts.selectors import administrators
from scheduler_admin.accounts.services.audit import check_reason, record
from scheduler_admin.accounts.services.passwords import set_password
from scheduler_admin.core.entity_tags import check_seen, keyed

_LONGEST_SERVICE = 100
"""Its name has to fit, with that before it, where people's names do."""
Roles = Mapping[Tenant, str]
"""Tenant -> role there."""


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
    active: bool = True,
    service: bool = False,
    actor: User | None = None,
    reason: str = "",
) -> User:
    """Create a user; without a password it signs in by token only. Raises ValidationError by field.

    ``edits``: tenants whose subtrees it changes, beside those that it only belongs to. ``service``: a machine's.
    """
    user = User(username=User.normalize_username(username), email=email, role=role, service=service, is_active=active)
    user.set_unusable_password()
    if password is not None:
        set_password(user, password)
    user.full_clean()
    user.save()
    roles = dict.fromkeys(tenants, Membership.Role.TENANT) | dict.fromkeys(edits, Membership.Role.EDITOR)
    set_memberships(user=user, roles=roles)
    details = {
        "role": str(role),
        "tenants": _named(roles),
        **({} if active else {"active": False}),
        **({"email": email} if email else {}),
        **({"service": True} if service else {}),
    }
    record(actor=actor, verb="user.create", target=user.get_username(), reason=reason.strip(), details=details)
    return user


@transaction.atomic
@sensitive_variables("password")
def change_user(
    *,
    user: User,
    actor: User | None,
    reason: str,
    role: str | None = None,
    active: bool | None = None,
    email: str | None = None,
    password: str | None = None,
    memberships: Roles | None = None,
    seen: str | None = None,
) -> User:
    """Change what is given of a user; ``memberships`` are all that there are to be. ``seen``: ``user_tag`` as read.

    Raises ValidationError by field, also without a reason, for who changes their own role or locks themself out, and
    where no admin would be left.
    """
    check_reason(reason)
    admins = locked_admins()
    found = User.objects.select_for_update().get(pk=user.pk)
    check_seen(seen, user_tag(found))
    before = _facts(found)
    _check_ways_in(found, before, role=role, memberships=memberships, password=password)
    if role is not None and role != found.site_role:
        found.role = role
        found.is_superuser = found.is_staff = False  # of whom createsuperuser made an admin
    found.is_active = found.is_active if active is None else active
    found.email = found.email if email is None else email
    if password is not None:
        set_password(found, password)
    found.full_clean()
    _check_own(found, before, actor)
    _check_admins(found, admins, demoted=found.site_role != User.Role.ADMIN, deactivated=not found.is_active)
    found.save()
    if memberships is not None:
        set_memberships(user=found, roles=memberships)
    details: dict[str, Any] = {
        field: [before[field], now] for field, now in _facts(found).items() if now != before[field]
    }
    if password is not None:
        details["password"] = "changed"  # noqa: S105 - that it was, not to what
        reset(username=found.username)  # whoever was locked out with a forgotten one comes in with this one
    if details:
        record(actor=actor, verb="user.change", target=found.get_username(), reason=reason.strip(), details=details)
    return found


@transaction.atomic
def delete_user(*, user: User, actor: User | None, reason: str, seen: str | None = None) -> None:
    """Delete a user with their tokens, memberships and saved filters; what they did keeps their name.

    ``seen``: ``user_tag`` as the actor has read it.

    Raises ValidationError without a reason, for who deletes themself, where no admin would be left, and where something
    else needs the account.
    """
    check_reason(reason)
    admins = locked_admins()
    found = User.objects.select_for_update().get(pk=user.pk)
    check_seen(seen, user_tag(found))
    if actor is not None and actor.pk == found.pk:
        raise ValidationError(_("You cannot delete your own account. Ask another admin."))
    _check_admins(found, admins)
    record(actor=actor, verb="user.delete", target=found.get_username(), reason=reason.strip(), details=_facts(found))
    try:
        found.delete()
    except (ProtectedError, RestrictedError) as error:
        raise ValidationError(
            _(
                "%(name)s’s account cannot be deleted, because stored records refer to it. Deactivate the "
                "account instead."
            )
            % {"name": found}
        ) from error


@transaction.atomic
def add_member(*, tenant: Tenant, username: str, role: str, actor: User | None, reason: str) -> User:
    """Give a user a role at a tenant, beside what they are at others.

    Raises ValidationError by field, also for a name that nobody has, and for those whose tenants follow from groups.
    """
    found = User.objects.select_for_update().filter(username=username).first()
    if found is None:
        raise ValidationError({"user": _("User %(name)s does not exist.") % {"name": username}})
    roles: dict[Tenant, str] = {
        each.tenant: each.role for each in Membership.objects.filter(user=found).select_related("tenant")
    }
    return change_user(user=found, actor=actor, reason=reason, memberships=roles | {tenant: role})


@transaction.atomic
def service_account(*, name: str, role: str = "", actor: User | None = None) -> User:
    """The machine's account of that name; with a ``role`` for the whole site it is made if there is none.

    Raises ValidationError: for a person's name, an account of another role, or no role for a new one.
    """
    found = User.objects.filter(username=name).first()
    if found is None and not role:
        raise ValidationError(
            {"role": _("Service account %(name)s does not exist yet. Specify a role to create it.") % {"name": name}}
        )
    if len(name) > _LONGEST_SERVICE:
        raise ValidationError({"username": _("This name is too long.")})
    if found is None:
        return create_user(username=name, role=role, service=True, actor=actor)
    if not found.service:
        raise ValidationError(
            {"username": _("%(name)s is a person’s account, not a service account.") % {"name": name}}
        )
    if role and role != found.role:
        raise ValidationError(
            {"role": _("%(name)s already exists with the role %(role)s.") % {"name": name, "role": found.role}}
        )
    return found


@transaction.atomic
def set_memberships(*, user: User, roles: Roles) -> None:
    """Make a user a member of these tenants, in these roles, and of no others. Raises ValidationError."""
    user.memberships.exclude(tenant__in=roles).delete()
    for tenant, role in roles.items():
        found = Membership.objects.filter(user=user, tenant=tenant).first() or Membership(user=user, tenant=tenant)
        found.role = role
        found.full_clean()
        found.save()


def locked_admins() -> set[int]:
    """Return the keys of all active admins, whom nobody else changes until this is done."""
    return set(administrators().select_for_update().order_by("pk").values_list("pk", flat=True))


def _check_admins(
    user: User, admins: set[int], *, demoted: bool | None = None, deactivated: bool | None = None
) -> None:
    """Raise ValidationError where no active admin would be left: at the field that says so, or for the whole."""
    if admins != {user.pk} or (demoted is False and deactivated is False):
        return
    wrong = _("%(name)s is the last active admin. Make another user an admin first.") % {"name": user}
    raise ValidationError({"role": wrong} if demoted else {"active": wrong} if deactivated else wrong)


def _check_own(user: User, before: Mapping[str, Any], actor: User | None) -> None:
    """Raise ValidationError for who changes their own role or locks themself out."""
    if actor is None or actor.pk != user.pk:
        return
    if user.site_role != before["role"]:
        raise ValidationError({"role": _("You cannot change your own role. Ask another admin.")})
    if not user.is_active:
        raise ValidationError({"active": _("You cannot deactivate your own account. Ask another admin.")})


@sensitive_variables("password")
def _check_ways_in(
    user: User, before: Mapping[str, Any], *, role: str | None, memberships: Roles | None, password: str | None
) -> None:
    """Raise ValidationError for what follows from groups, and for a password of who has none."""
    wrong = {}
    if user.identity is not None:
        follows = _("%(name)s signs in through an external provider, so their groups determine this.") % {"name": user}
        if role is not None and role != before["role"]:
            wrong["role"] = follows
        if memberships is not None and _named(memberships) != before["tenants"]:
            wrong["memberships"] = follows
        if password is not None:
            wrong["password"] = _("%(name)s signs in through an external provider and has no password here.") % {
                "name": user
            }
    if user.service and password is not None:
        wrong["password"] = _("%(name)s is a service account. It has tokens and no password.") % {"name": user}
    if wrong:
        raise ValidationError(wrong)


def _facts(user: User) -> dict[str, Any]:
    """Return what the audit log says of a user, without the password."""
    roles = Membership.objects.filter(user=user).select_related("tenant").order_by("tenant__name")
    return {
        "role": user.site_role,
        "active": user.is_active,
        "email": user.email,
        "tenants": _named({one.tenant: one.role for one in roles}),
    }


def user_tag(user: User) -> str:
    """Return what tells one state of a user from another: what they are, their password, and what goes with them."""
    goes = [user.api_tokens.count(), user.workload_identities.count()]
    return keyed(json.dumps([user.username, _facts(user), user.password, user.service, goes]))


def _named(roles: Roles) -> dict[str, str]:
    return {tenant.name: str(role) for tenant, role in roles.items()}

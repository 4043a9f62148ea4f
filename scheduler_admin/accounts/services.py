"""Writes on accounts: every one is checked in full, done in a transaction, and written to the audit log."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import ApiToken, AuditEvent, Membership, Site, Tenant, User

TOKEN_MARK = "sa_"  # noqa: S105 - the part that is no secret
"""How every token begins, so that scanners for leaked secrets can tell it."""
PREFIX = 12
"""How much of a token is kept in the clear, to tell it by: 54 random bits that leave 202 unknown."""
DEFAULT_LIFETIME = timedelta(days=90)
"""A token that leaked unseen is good for a season at most."""
_TOUCH_EVERY = timedelta(minutes=1)
"""A row per request would make every read a write."""


def digest_of(plaintext: str) -> str:
    """What is stored of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(plaintext.encode()).hexdigest()


COMMAND_LINE = "command line"


def name_of(actor: User | None) -> str:
    """What somebody is called in what they did. Nobody means that it was done on the command line."""
    return actor.get_username() if actor else COMMAND_LINE


def record(
    *,
    actor: User | None,
    verb: str,
    target: str,
    reason: str = "",
    details: Mapping[str, Any] | None = None,
    by: str = "",
) -> AuditEvent:
    """Write down who did what, when and why, and by which token. ``by``: what did it where nobody did."""
    token = {"token": actor.token.prefix} if actor and actor.token else {}
    event = AuditEvent(
        actor=actor,
        actor_name=by or name_of(actor),
        verb=verb,
        target=target,
        reason=reason,
        details={**(details or {}), **token},
    )
    event.full_clean(exclude=[] if actor else ["actor"])  # the column may be null, a form may not leave it blank
    event.save()
    return event


@transaction.atomic
@sensitive_variables()
def create_token(
    *,
    user: User,
    name: str,
    scopes: Iterable[str] = (ApiToken.Scope.READ,),
    subtree: str = "",
    lifetime: timedelta | None = DEFAULT_LIFETIME,
    actor: User | None = None,
) -> tuple[ApiToken, str]:
    """A new token and its plaintext, which is shown once and kept nowhere. Without a lifetime it never expires.

    Raises ValidationError.
    """
    plaintext = TOKEN_MARK + secrets.token_urlsafe(32)
    token = ApiToken(
        user=user,
        name=name,
        prefix=plaintext[:PREFIX],
        digest=digest_of(plaintext),
        scopes=sorted(set(scopes)),
        subtree=subtree,
        expires_at=_end_of(lifetime),
    )
    token.full_clean()
    token.save()
    expiry = token.expires_at.isoformat() if token.expires_at else None
    record(
        actor=actor,
        verb="token.create",
        target=user.get_username(),
        details={**_named(token), "scopes": token.scopes, "subtree": subtree, "expires_at": expiry},
    )
    return token, plaintext


def _end_of(lifetime: timedelta | None) -> datetime | None:
    if lifetime is None:
        return None
    if lifetime <= timedelta():
        raise ValidationError({"expires_at": _("This time has passed.")})
    try:
        return timezone.now() + lifetime
    except OverflowError as error:
        raise ValidationError({"expires_at": _("This is too long.")}) from error


def _named(token: ApiToken) -> dict[str, str]:
    """What tells a token from others, and is no secret."""
    return {"name": token.name, "prefix": token.prefix}


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User | None = None, reason: str = "") -> None:
    """Delete a token; the next request with it is refused."""
    record(
        actor=actor,
        verb="token.revoke",
        target=token.user.get_username(),
        reason=reason,
        details=_named(token),
    )
    token.delete()


def touch_token(*, token: ApiToken, now: datetime) -> bool:
    """Note that a token was used, at most once a minute. Whether this call wrote it."""
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - _TOUCH_EVERY)
    if token.last_used_at is not None and token.last_used_at > now - _TOUCH_EVERY:
        return False
    return ApiToken.objects.filter(due, pk=token.pk).update(last_used_at=now) == 1


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
    actor: User | None = None,
) -> User:
    """A new user; without a password it signs in by token only. Raises ValidationError.

    ``edits``: tenants whose subtrees it changes, beside those that it only belongs to.
    """
    user = User(username=User.normalize_username(username), email=email, role=role)
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
        details={"role": str(role), "tenants": {tenant.name: str(mine) for tenant, mine in roles.items()}},
    )
    return user


@transaction.atomic
def set_memberships(*, user: User, roles: Mapping[Tenant, str]) -> None:
    """Make a user a member of these tenants, in these roles, and of no others. Raises ValidationError."""
    user.memberships.exclude(tenant__in=roles).delete()
    for tenant, role in roles.items():
        found = Membership.objects.filter(user=user, tenant=tenant).first() or Membership(user=user, tenant=tenant)
        found.role = role
        found.full_clean()
        found.save()


@transaction.atomic
def create_tenant(
    *, name: str, namespaces: Iterable[str] = (), subtrees: Iterable[str] = (), actor: User | None = None
) -> Tenant:
    """A new tenant with its namespaces and its subtrees of queues. Raises ValidationError."""
    tenant = Tenant(name=name, namespaces=sorted(set(namespaces)), subtrees=sorted(set(subtrees)))
    tenant.full_clean()
    tenant.save()
    details = {"namespaces": tenant.namespaces, "subtrees": tenant.subtrees}
    record(actor=actor, verb="tenant.create", target=tenant.name, details=details)
    return tenant


@transaction.atomic
def change_site(*, actor: User | None = None, reason: str, **settings: str | bool) -> Site:
    """Set some of the site's ``settings``, by the names of its fields.

    Raises ValidationError by field, also without a reason.
    """
    check_reason(reason)
    found = Site.objects.select_for_update().first() or Site()
    before = {name: getattr(found, name) for name in settings}
    for name, value in settings.items():
        setattr(found, name, value)
    found.full_clean()
    if details := {name: [before[name], value] for name, value in settings.items() if value != before[name]}:
        found.save()
        record(actor=actor, verb="site.change", target="*", reason=reason.strip(), details=details)
    return found


def check_reason(reason: str) -> None:
    """Raise ValidationError where nobody says why."""
    if not reason.strip():
        raise ValidationError({"reason": _("Say why: others will read it.")})

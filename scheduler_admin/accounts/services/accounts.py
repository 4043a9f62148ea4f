"""Writes on accounts: every one is checked in full, done in a transaction, and written to the audit log."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
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


@sensitive_variables()
def digest_of(plaintext: str, *, key: str | None = None) -> str:
    """What is stored of a token, by SECRET_KEY or a former ``key``: a stolen table alone tells nobody what is good.

    256 random bits need no slow hash.
    """
    return salted_hmac("scheduler_admin.accounts.token", plaintext, secret=key, algorithm="sha256").hexdigest()


COMMAND_LINE = "command line"
SERVICE = "service account"
_LONGEST_SERVICE = 100
"""Its name has to fit, with that before it, where people's names do."""


def name_of(actor: User | None) -> str:
    """What somebody is called in what they did: no person's name has a blank. Nobody means the command line."""
    if actor is None:
        return COMMAND_LINE
    return f"{SERVICE} {actor.get_username()}" if actor.service else actor.get_username()


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


def touch_token(*, token: ApiToken, digest: str, now: datetime) -> bool:
    """Note that a token was used, at most once a minute, with its digest by today's key. Whether this call wrote it.

    Where the database takes no writes now, the next use notes it: nobody who only reads waits for a lock.
    """
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - _TOUCH_EVERY) | ~Q(digest=digest)
    if token.digest == digest and token.last_used_at is not None and token.last_used_at > now - _TOUCH_EVERY:
        return False
    try:
        with _not_waiting_for_locks():
            return ApiToken.objects.filter(due, pk=token.pk).update(last_used_at=now, digest=digest) == 1
    except OperationalError:
        return False


@contextmanager
def _not_waiting_for_locks() -> Iterator[None]:
    """SQLite has one lock for all who write; PostgreSQL has one for each row, and for the table while it is altered."""
    if connection.vendor != "sqlite":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '1ms'")
            yield
        return
    with connection.cursor() as cursor:
        patience_ms = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience_ms}")


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

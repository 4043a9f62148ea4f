"""Tokens for the REST API: made, used and revoked."""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.services.audit import record

TOKEN_MARK = "sa_"  # noqa: S105 - the part that is no secret
"""How every token begins, so that scanners for leaked secrets can tell it."""
PREFIX = 12
"""How much of a token is kept in the clear, to tell it by: 54 random bits that leave 202 unknown."""
DEFAULT_LIFETIME = timedelta(days=90)
"""A token that leaked unseen is good for a season at most."""
TOUCH_EVERY = timedelta(minutes=1)
"""A row per request would make every read a write."""


@sensitive_variables()
def digest_of(plaintext: str, *, key: str | None = None) -> str:
    """What is stored of a token, by SECRET_KEY or a former ``key``: a stolen table alone tells nobody what is good.

    256 random bits need no slow hash.
    """
    return salted_hmac("scheduler_admin.accounts.token", plaintext, secret=key, algorithm="sha256").hexdigest()


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
        raise ValidationError({"expires_at": _("This time is in the past.")})
    try:
        return timezone.now() + lifetime
    except OverflowError as error:
        raise ValidationError({"expires_at": _("The lifetime is too long.")}) from error


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
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - TOUCH_EVERY) | ~Q(digest=digest)
    if token.digest == digest and token.last_used_at is not None and token.last_used_at > now - TOUCH_EVERY:
        return False
    try:
        with not_waiting_for_locks():
            return ApiToken.objects.filter(due, pk=token.pk).update(last_used_at=now, digest=digest) == 1
    except OperationalError:
        return False


@contextmanager
def not_waiting_for_locks() -> Iterator[None]:
    """Fail at once where a row is locked.

    SQLite has one lock for all who write; PostgreSQL has one for each row, and for the table while it is altered.
    """
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

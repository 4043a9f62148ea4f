"""Reads on accounts."""

from datetime import datetime

from django.db.models import Q
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import ApiToken
from scheduler_admin.accounts.services import digest_of


@sensitive_variables("plaintext")
def usable_token(plaintext: str, *, now: datetime) -> ApiToken | None:
    """The token with its user; None if unknown, expired, or the user may not sign in."""
    return (
        ApiToken.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), user__is_active=True)
        .select_related("user")
        .filter(digest=digest_of(plaintext))
        .first()
    )

"""ID tokens of pipelines as a way in: whose a token is, by its signature and its claims.

Nothing is asked of an issuer that no workload identity names, and no token is kept, logged or repeated.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import jwt
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import WorkloadIdentity, WorkloadToken
from scheduler_admin.accounts.workloads.claims import match, specificity
from scheduler_admin.accounts.workloads.issuers import key_of
from scheduler_admin.core import limits

ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"},
)
"""None that needs no key, and none whose key the issuer would share with us."""
LONGEST = 16_384
"""Characters of a token."""
_SKEW_S = 60
"""Clocks of two machines differ."""
_NEEDED = ("iss", "sub", "aud", "exp")


class UnverifiedError(Exception):
    """A token of a known issuer that is not good. ``str()`` of it is a sentence without the token."""


@sensitive_variables()
def workload_token(token: str, before_asking: Callable[[], None]) -> WorkloadToken | None:
    """Return what an ID token allows; None for what is no token of an issuer that a workload identity names.

    ``before_asking`` may raise, and so keep the issuer from being asked. Raises UnverifiedError for a token that is not
    good, IssuerError where the issuer's keys cannot be read.
    """
    identities = _of_issuer(token)
    if not identities:
        return None
    claims = _verified(token, identities, before_asking)
    audiences = {claims["aud"]} if isinstance(claims["aud"], str) else set(claims["aud"])
    fitting = [each for each in identities if each.audience in audiences and match(each.claims, claims)]
    if not fitting:
        raise UnverifiedError(_("This token is valid, but no workload identity matches its claims."))
    best = max(fitting, key=lambda each: (*specificity(each.claims), -each.pk))
    expires_at = datetime.fromtimestamp(int(claims["exp"]), UTC)
    found = WorkloadToken(best, str(claims["sub"])[: limits.SUBJECT], expires_at)
    best.user.token = found
    return found


@sensitive_variables()
def _of_issuer(token: str) -> list[WorkloadIdentity]:
    """Return the identities of the issuer that a token names, before anything of it is believed."""
    if token.count(".") != 2 or len(token) > LONGEST:  # noqa: PLR2004 - a JWT
        return []
    try:
        issuer = jwt.decode(token, options={"verify_signature": False}).get("iss")
    except (jwt.PyJWTError, ValueError, RecursionError):
        return []
    if not isinstance(issuer, str) or "\0" in issuer or len(issuer) > limits.ISSUER:
        return []
    rows = WorkloadIdentity.objects.filter(issuer=issuer, user__is_active=True, user__service=True)
    return list(rows.select_related("user").order_by("pk"))


@sensitive_variables()
def _verified(token: str, identities: list[WorkloadIdentity], before_asking: Callable[[], None]) -> dict[str, Any]:
    """Return the claims of a token that its issuer signed, for us, and that is in time. Raises UnverifiedError."""
    header, issuer = jwt.get_unverified_header(token), identities[0].issuer
    if header.get("alg") not in ALGORITHMS:
        raise UnverifiedError(_("This token is signed with an algorithm that is not accepted."))
    key = key_of(issuer, header, before_asking)
    if key is None:
        raise UnverifiedError(_("The issuer does not have the key with which this token is signed."))
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[header["alg"]],
            audience=sorted({each.audience for each in identities}),
            issuer=issuer,
            leeway=_SKEW_S,
            options={"require": list(_NEEDED)},
        )
    except jwt.ExpiredSignatureError:
        raise UnverifiedError(_("This token has expired.")) from None
    except jwt.InvalidAudienceError:
        raise UnverifiedError(_("This token is for another audience.")) from None
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
        raise UnverifiedError(_("This token could not be verified.")) from None
    return claims

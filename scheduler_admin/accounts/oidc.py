"""Signing in at an OpenID provider: who its ID token says that somebody is.

mozilla-django-oidc does the flow, with state, nonce and PKCE; what it leaves open is closed here. It looks a person up
by their e-mail, which another may have too, and checks of the token only signature and nonce.
"""

import json
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from time import monotonic
from typing import Any

import jwt
import requests
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.utils.translation import gettext_noop
from django.views.decorators.debug import sensitive_variables
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from scheduler_admin.accounts.doors import KUBERNETES, UnmappedError, admit
from scheduler_admin.accounts.models import User

_SKEW_S = 60
"""Clocks of two machines differ."""
_NEEDED = ("iss", "sub", "aud", "exp", "iat", "nonce")
MOST_GROUPS = 500
"""More are of no use to anybody, and a row has to hold them."""


MOST_BYTES = 1024 * 1024
"""Of an answer of the provider, unpacked."""
LONGEST_S = 30
"""From the question to the end of the answer."""
_PIECE = 16 * 1024


class SignInError(Exception):
    """Somebody could not be signed in; ``sentence`` says why, as a message id, and names nothing secret."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Backend(OIDCAuthenticationBackend):  # type: ignore[misc]  # the library has no types
    """Who comes back from the provider with a code."""

    @sensitive_variables()
    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> User | None:
        """The user for a code and its nonce; None where nobody comes from a provider. Raises SignInError."""
        if not settings.OIDC_ISSUER or "nonce" not in kwargs:
            return None
        try:
            user: User | None = super().authenticate(request, **kwargs)
        except requests.RequestException as error:
            raise SignInError(
                gettext_noop("The identity provider did not respond as expected. Try again later.")
            ) from error
        except jwt.ExpiredSignatureError as error:
            raise SignInError(gettext_noop("The identity provider’s response has expired. Sign in again.")) from error
        except (jwt.PyJWTError, SuspiciousOperation, KeyError, TypeError, ValueError) as error:
            raise SignInError(
                gettext_noop(
                    "The identity provider’s response could not be verified. If this happens again, tell an admin."
                )
            ) from error
        except UnmappedError as error:
            raise SignInError(
                gettext_noop("None of your groups at the identity provider has a role here. Ask an admin to add one.")
            ) from error
        return user

    @sensitive_variables()
    def get_token(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The tokens for a code. Raises requests.RequestException. The library's reads without end."""
        return _answer("POST", settings.OIDC_OP_TOKEN_ENDPOINT, data=payload)

    @sensitive_variables()
    def retrieve_matching_jwk(self, token: str) -> jwt.PyJWK:
        """The provider's key that a token names. Raises SuspiciousOperation. The library's reads without end."""
        header = jwt.get_unverified_header(token)
        keys = _answer("GET", settings.OIDC_OP_JWKS_ENDPOINT)["keys"]
        found = [one for one in keys if one["kid"] == header["kid"] and one.get("alg", header["alg"]) == header["alg"]]
        if not found:
            raise SuspiciousOperation
        return jwt.PyJWK(found[-1])

    @sensitive_variables()
    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """The claims of an ID token that is this provider's, for us, in time, and of the sign-in that was begun."""
        claims: dict[str, Any] = jwt.decode(
            token,
            self.retrieve_matching_jwk(token),
            algorithms=[settings.OIDC_RP_SIGN_ALGO],
            audience=settings.OIDC_RP_CLIENT_ID,
            issuer=settings.OIDC_ISSUER,
            leeway=_SKEW_S,
            options={"require": list(_NEEDED)},
        )
        if not secrets.compare_digest(str(claims["nonce"]), str(kwargs.get("nonce"))):
            raise SuspiciousOperation
        if claims.get("azp", settings.OIDC_RP_CLIENT_ID) != settings.OIDC_RP_CLIENT_ID:
            raise SuspiciousOperation
        return claims

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        """By issuer and subject alone, never by name or e-mail. Raises UnmappedError."""
        del access_token, id_token
        verified = payload.get("email_verified", True) is True
        return admit(
            identity=f"oidc {payload['iss']} {payload['sub']}",
            name=str(payload.get("preferred_username") or payload.get("email") or payload["sub"]),
            email=str(payload.get("email") or "") if verified else "",
            groups=_groups(payload.get(settings.OIDC_GROUPS_CLAIM)),
        )

    def get_user(self, user_id: int) -> User | None:
        """As Django's own: not who was locked out."""
        found: User | None = ModelBackend.get_user(self, user_id)
        return found


@sensitive_variables()
def _answer(method: str, address: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the provider answers, in JSON. Raises requests.RequestException, also for more than there can be to say."""
    until, body = monotonic() + LONGEST_S, b""
    with requests.request(method, address, data=data, timeout=settings.OIDC_TIMEOUT, stream=True) as response:
        if response.status_code != HTTPStatus.OK:
            raise requests.HTTPError(f"{address} answers {response.status_code}")
        for piece in response.iter_content(_PIECE):
            body += piece
            if len(body) > MOST_BYTES or monotonic() > until:
                raise requests.ConnectionError(f"{address} answers without end")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise TypeError("not an object")
    return found


def _groups(claim: Any) -> list[str]:
    """Some providers send a single group as a text. None of them speaks for Kubernetes."""
    given = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return [one for one in given[:MOST_GROUPS] if isinstance(one, str) and not one.startswith(KUBERNETES)]

"""`Authorization: Bearer sa_...`: who asks, by the digest of a token."""

from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.selectors import usable_token
from scheduler_admin.accounts.services import touch_token


class TokenAuthentication(BaseAuthentication):
    """Signs in by token. A request without a bearer token is left to the session."""

    @sensitive_variables()
    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The token's user and the token. Raises AuthenticationFailed for a token that is not good."""
        scheme, _space, plaintext = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        now = timezone.now()
        token = usable_token(plaintext.decode("latin-1").strip(), now=now)
        if token is None:
            raise AuthenticationFailed(_("This token is unknown, expired or revoked."))
        touch_token(token=token, now=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """What a 401 says in WWW-Authenticate (RFC 6750)."""
        tried = get_authorization_header(request).partition(b" ")[0].lower() == b"bearer"
        return 'Bearer realm="api", error="invalid_token"' if tried else 'Bearer realm="api"'

"""`Authorization: Bearer ...`: who asks, by a token of ours, by the ID token of a pipeline, or by one of a cluster."""

from http import HTTPStatus

from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.request import Request

from engine.cluster.errors import ClusterError
from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.selectors import usable_token
from scheduler_admin.accounts.services.tokens import TOKEN_MARK, digest_of, touch_token
from scheduler_admin.accounts.services.workload_identities import touch_identity
from scheduler_admin.accounts.workloads.issuers import IssuerError
from scheduler_admin.accounts.workloads.verification import UnverifiedError, workload_token
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.connections.token_reviews import bearer
from scheduler_admin.rest.throttling import count_address, refuse_beyond


class NotReviewed(APIException):
    """The cluster or the issuer whose tokens are good here can't be asked."""

    kind = "token-not-verified"
    status_code = HTTPStatus.SERVICE_UNAVAILABLE


class TokenAuthentication(BaseAuthentication):
    """Signs in by token. A request without a bearer token is left to the session."""

    @sensitive_variables()
    def authenticate(self, request: Request) -> tuple[User, ApiToken | None] | None:
        """The token's user, and the token where it is ours.

        Raises AuthenticationFailed for one that is not good, TooMany and NotReviewed for one that is not looked at now.
        """
        scheme, _space, plaintext = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        given, now = plaintext.decode("latin-1").strip(), timezone.now()
        token = usable_token(given, now=now)
        if token is not None:
            touch_token(token=token, digest=digest_of(given), now=now)
            return token.user, token
        if given.startswith(TOKEN_MARK):
            raise AuthenticationFailed(_("This token is unknown, expired, or revoked."))
        if user := _of_workload(given, request) or _of_cluster(given, request):
            return user, None
        raise AuthenticationFailed(_("This token is unknown, expired, or revoked."))

    def authenticate_header(self, request: Request) -> str:
        """What a 401 says in WWW-Authenticate (RFC 6750)."""
        tried = get_authorization_header(request).partition(b" ")[0].lower() == b"bearer"
        return 'Bearer realm="api", error="invalid_token"' if tried else 'Bearer realm="api"'


@sensitive_variables()
def _of_workload(token: str, request: Request) -> User | None:
    """The service account that the ID token of a pipeline stands for. Before its issuer is asked, it is counted."""
    try:
        found = workload_token(token, before_asking=lambda: refuse_beyond(count_address(request)))
    except UnverifiedError as error:
        raise AuthenticationFailed(str(error)) from None
    except IssuerError as error:
        raise NotReviewed(_("The issuer of the token could not be asked. %(why)s") % {"why": str(error)}) from None
    if found is None:
        return None
    touch_identity(found, timezone.now())
    return found.identity.user


@sensitive_variables()
def _of_cluster(token: str, request: Request) -> User | None:
    """The user whom a token of a cluster stands for. Before the cluster is asked, the request is counted."""
    try:
        return bearer(token, before_asking=lambda: refuse_beyond(count_address(request)))
    except ClusterError as error:
        raise NotReviewed(_("The cluster could not verify the token. %(why)s") % {"why": told(error)}) from None

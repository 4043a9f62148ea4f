"""Tokens of a cluster's service accounts and users as a way in: reviewed by the cluster, remembered for a minute."""

from collections.abc import Callable

from django.conf import settings
from django.core.cache import cache
from django.utils.crypto import salted_hmac
from django.views.decorators.debug import sensitive_variables

from engine.cluster.connecting.token_review import review
from engine.cluster.errors import SettingsError
from engine.model.message import gettext_noop
from scheduler_admin.accounts.doors import KUBERNETES, IdentityError, UnmappedError, admit
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.models import Cluster

REMEMBERED_S = 60
"""So long a token goes on being good here after it was revoked there."""
_LONGEST = 8_192
_REQUEST_S = 5.0
"""Somebody waits: signing in, and each request."""
_NOBODY = 0


@sensitive_variables()
def bearer(token: str, before_asking: Callable[[], None]) -> User | None:
    """The user whom a token of the chosen cluster stands for; None where it is none of its, or of nobody known here.

    ``before_asking`` may raise, and so keep the cluster from being asked. Raises ClusterError when that can't be asked.
    What it says, good or bad, is remembered; the token itself is neither kept nor logged.
    """
    if not settings.TOKEN_REVIEW_CLUSTER or token.count(".") != 2 or len(token) > _LONGEST:  # noqa: PLR2004 - a JWT
        return None
    key = f"token-review:{salted_hmac('token-review', token, algorithm='sha256').hexdigest()}"
    known: int | None = cache.get(key)
    if known is None:
        before_asking()
        known = _reviewed(token)
        cache.set(key, known, REMEMBERED_S)
    return User.objects.filter(pk=known, is_active=True).first()


@sensitive_variables()
def _reviewed(token: str) -> int:
    """The user's key, _NOBODY for a token that is not good."""
    name = settings.TOKEN_REVIEW_CLUSTER
    cluster = Cluster.objects.select_related("credentials").filter(name=name).first()
    if cluster is None:
        raise SettingsError(
            gettext_noop("The cluster %(name)s, configured for token reviews, does not exist."), name=name
        )
    found = review(Way.to(cluster).settings(_REQUEST_S), token, tuple(settings.TOKEN_REVIEW_AUDIENCES))
    if found is None:
        return _NOBODY
    groups = [f"{KUBERNETES}user:{found.username}", *(f"{KUBERNETES}group:{group}" for group in found.groups)]
    try:
        return admit(identity=f"kubernetes {name} {found.username}", name=found.username, groups=groups).pk
    except (UnmappedError, IdentityError):
        return _NOBODY

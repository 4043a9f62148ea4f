"""Tokens that people, and tokens, make for themselves: none may do more, or live longer, than who makes it.

An admin makes those of service accounts.
"""

from collections.abc import Iterable
from datetime import timedelta
from types import EllipsisType

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from engine.model.queue_paths import is_inside
from scheduler_admin.accounts.models import ApiToken, User, WorkloadToken
from scheduler_admin.accounts.scopes import ALLOWING, Scope, allows, scope_by_role, scope_of
from scheduler_admin.accounts.services.tokens import DEFAULT_LIFETIME, create_token
from scheduler_admin.core.entity_tags import keyed

MOST = 50
"""Of one user."""


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """Those that the user may know of: their own, and who administers the site everybody's; the newest first."""
    rows = ApiToken.objects.select_related("user").order_by("-pk")
    return rows if scope_of(user, "administer").everything else rows.filter(user=user)


@transaction.atomic
@sensitive_variables()
def make_own(
    *,
    user: User,
    name: str,
    scopes: Iterable[str],
    subtree: str | None = None,
    lifetime: timedelta | EllipsisType | None = ...,
    seen: str | None = None,
) -> tuple[ApiToken, str]:
    """A new token of the user's, and its plaintext. What is left out is as in the token that makes it, if one does.

    ``seen``: ``tokens_tag`` as the user has read it. Raises ValidationError by field.
    """
    maker, wanted = user.token, list(scopes)
    _check_room(User.objects.select_for_update().get(pk=user.pk), seen)
    if subtree is None:
        subtree = maker.subtree if maker else ""
    left = maker.expires_at - timezone.now() if maker and maker.expires_at else None
    if isinstance(lifetime, EllipsisType):
        lifetime = DEFAULT_LIFETIME if left is None else min(DEFAULT_LIFETIME, left)
    if left is not None and (lifetime is None or lifetime > left):
        raise ValidationError({"days": _("The new token cannot be valid longer than the token that creates it.")})
    _check_within(maker, wanted, subtree)
    return create_token(user=user, name=name, scopes=wanted, subtree=subtree, lifetime=lifetime, actor=user)


@transaction.atomic
@sensitive_variables()
def make_for_service(
    *,
    account: User,
    name: str,
    scopes: Iterable[str],
    subtree: str,
    lifetime: timedelta | None,
    actor: User,
    seen: str | None = None,
) -> tuple[ApiToken, str]:
    """A new token of a service account, and its plaintext. ``seen``: ``tokens_tag`` as the actor has read it.

    Raises ValidationError by field, also for a person's account.
    """
    found = User.objects.select_for_update().get(pk=account.pk)
    if not found.service:
        raise ValidationError(_("%(name)s is a person’s account, not a service account.") % {"name": found})
    _check_room(found, seen)
    return create_token(user=found, name=name, scopes=scopes, subtree=subtree, lifetime=lifetime, actor=actor)


def useful_scopes(user: User) -> list[ApiToken.Scope]:
    """Return the scopes with which a token of the user may do more than with others: all include reading."""
    may = {action for action in ALLOWING if scope_by_role(user, action) != Scope()}
    return [
        scope
        for scope in ApiToken.Scope
        if scope == ApiToken.Scope.READ
        or any(scope in allowing for action, allowing in ALLOWING.items() if action in may and action != "view")
    ]


def tokens_tag(user: User) -> str:
    """Return what tells whether a user got a token meanwhile."""
    return keyed(repr(list(user.api_tokens.order_by("pk").values_list("pk", flat=True))))


def _check_room(user: User, seen: str | None) -> None:
    if user.api_tokens.count() >= MOST:
        raise ValidationError(
            _("You already have %(most)s tokens, which is the maximum. Revoke one first.") % {"most": MOST}
        )
    if seen is not None and seen != tokens_tag(user):
        sentence = _(
            "The tokens have changed since this form was opened. If you still want another token, send the form again."
        )
        raise ValidationError(sentence, code="clash")


def _check_within(maker: ApiToken | WorkloadToken | None, scopes: Iterable[str], subtree: str) -> None:
    if maker is None:
        return
    wrong = {}
    if beyond := [scope for scope in scopes if not _includes(maker, scope)]:
        wrong["scopes"] = _("The token that creates it does not have these scopes: %(scopes)s.") % {
            "scopes": ", ".join(beyond)
        }
    if maker.subtree and not is_inside(subtree, maker.subtree):
        wrong["subtree"] = _("The queue path must be inside %(subtree)s.") % {"subtree": maker.subtree}
    if wrong:
        raise ValidationError(wrong)


def covers(maker: ApiToken | WorkloadToken | None, token: ApiToken) -> bool:
    """Whether a token may do no more than the one that a request comes with; None: it came without one."""
    if maker is None or maker.key == token.key:
        return True
    inside = not maker.subtree or is_inside(token.subtree, maker.subtree)
    return inside and all(_includes(maker, scope) for scope in token.scopes)


def _includes(maker: ApiToken | WorkloadToken, scope: str) -> bool:
    """Whether the token allows all that a scope does."""
    return all(allows(maker, action) for action, allowing in ALLOWING.items() if scope in allowing)

"""Passwords of local users: set by an admin, or changed by whoever has one."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import record

_LEGIBLE = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that people do not take for one another."""


def generated_password() -> str:
    """Return a new password of 92 random bits, which people can read out."""
    return get_random_string(16, _LEGIBLE)


@sensitive_variables("password")
def set_password(user: User, password: str) -> None:
    """Set a password that Django's validators let pass, on the object alone. Raises ValidationError by field."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from None
    user.set_password(password)


@transaction.atomic
@sensitive_variables("password")
def change_own_password(*, user: User, password: str) -> User:
    """Change one's own password, whose present one was checked. All other sessions of the user end.

    Raises ValidationError by field, also for who has none here.
    """
    found = User.objects.select_for_update().get(pk=user.pk)
    if not has_password(found):
        raise ValidationError({"password": _("You do not sign in with a password here.")})
    set_password(found, password)
    found.save(update_fields=["password"])
    record(actor=user, verb="user.change", target=found.get_username(), details={"password": "changed"})
    return found


def has_password(user: User) -> bool:
    """Return whether somebody signs in with a password here."""
    return user.identity is None and not user.service and user.has_usable_password()

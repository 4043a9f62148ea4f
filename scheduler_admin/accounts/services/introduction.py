"""The introduction on the first page of a person: shown from the first sign-in on, until its reader closes it."""

from django.db.models import QuerySet

from scheduler_admin.accounts.models import User


def open_at_first_sign_in(user: User) -> None:
    """Show the introduction to somebody who never signed in before. Call this before the sign-in is recorded."""
    if user.last_login is None:
        user.introduction_open = True
        _row(user).update(introduction_open=True)


def close_introduction(*, user: User) -> None:
    """Show the introduction no more, on whichever machine the user signs in."""
    _row(user).update(introduction_open=False)


def _row(user: User) -> QuerySet[User]:
    """Return the one row, of which no other column is written: an admin may be changing it now."""
    return User.objects.filter(pk=user.pk)

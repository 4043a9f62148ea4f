"""Answers kept for requests that may be sent again: who begins one, what it came to, and when it is forgotten."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from scheduler_admin.accounts.models import KeptAnswer, User

KEPT = timedelta(days=1)
LONGEST_RUN = timedelta(minutes=5)
"""What runs for longer has died with its process."""


def begin(*, user: User, key: str, fingerprint: str, now: datetime) -> tuple[KeptAnswer, bool]:
    """The answer under the user's key, and whether the caller has to work it out: of two at once only one has."""
    new = {"fingerprint": fingerprint, "begun_at": now}
    found, created = KeptAnswer.objects.get_or_create(user=user, key=key, defaults=new)
    past = now - (LONGEST_RUN if found.status is None else KEPT)
    if created or found.begun_at > past:
        return found, created
    anew = KeptAnswer.objects.filter(pk=found.pk, begun_at=found.begun_at)
    taken = anew.update(**new, status=None, headers={}, body="") == 1
    found.refresh_from_db()
    return found, taken


def keep(*, answer: KeptAnswer, status: int, headers: Mapping[str, str], body: str) -> None:
    """What it came to."""
    mine = KeptAnswer.objects.filter(pk=answer.pk, begun_at=answer.begun_at)
    mine.update(status=status, headers=dict(headers), body=body)


def forget(*, answer: KeptAnswer) -> None:
    """It came to nothing, and may be tried again."""
    KeptAnswer.objects.filter(pk=answer.pk, begun_at=answer.begun_at).delete()


def forget_old(*, now: datetime) -> None:
    """Delete what is past its time."""
    KeptAnswer.objects.filter(begun_at__lt=now - KEPT).delete()

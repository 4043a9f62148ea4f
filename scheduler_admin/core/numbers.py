"""Numbers and times as addresses and forms say them."""

from datetime import UTC, datetime

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

_DIGITS = 18
"""Any number of so many is a bigint."""


def read_number(text: str) -> int:
    """A number that somebody sent; what is none, or beyond all bounds, is 0, which nothing is counted by."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else 0


def read_time(text: str) -> datetime:
    """A moment as it was typed, in UTC where no zone is named. Raises ValidationError for what is none."""
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise ValidationError(
            _("%(text)s is not a valid time. Use a format such as 2026-11-22T10:00:00Z.") % {"text": text}
        )
    return found if timezone.is_aware(found) else timezone.make_aware(found, UTC)

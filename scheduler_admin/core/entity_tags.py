"""Tags of what an answer says: keyed, so that nobody can try out what they may not see until the tag comes out."""

from django.core.exceptions import ValidationError
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

_SALT = "scheduler_admin.core.entity_tags"
_LENGTH = 32
"""Hexadecimal digits, 128 bits."""


def entity_tag(said: str | bytes) -> str:
    """Return an ETag (RFC 9110), with its quotes, of what an answer says."""
    return f'"{keyed(said)}"'


def keyed(said: str | bytes) -> str:
    """Return 32 hexadecimal digits that stand for what is said.

    It is keyed with SECRET_KEY, and so is another one after the key has changed. A plain hash would tell its reader
    of everything that went into it: figures have few digits, and a computer tries out all of them within a second.
    """
    return salted_hmac(_SALT, said, algorithm="sha256").hexdigest()[:_LENGTH]


def check_seen(seen: str | None, now: str) -> None:
    """Raise ValidationError with the code ``clash`` where something is no longer as its reader saw it.

    None: its reader compared it already, or does not mind.
    """
    if seen is not None and seen != now:
        sentence = _(
            "Someone else changed this in the meantime. The page shows it as it is now; send the form again to confirm."
        )
        raise ValidationError(sentence, code="clash")

"""The time of a pod's last checkpoint, after which its work would be lost."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

import msgspec

from engine.formats.untrusted_text import kept_text

CHECKPOINT_ANNOTATION = "scheduler-admin.io/last-checkpoint"
"""Annotation with a time in the format of RFC 3339: ``2026-01-01T12:00:00Z``."""
_LONGEST_ODD = 64
_Time = Annotated[datetime, msgspec.Meta(tz=True)]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Checkpoint(NamedTuple):
    """The time of the last checkpoint or, if the annotation can't be read, the beginning of its text."""

    at: datetime | None = None
    odd: str = ""


def checkpoint(annotations: Mapping[str, str]) -> Checkpoint:
    """Return the last checkpoint in a pod's annotations; both fields are empty if there is none."""
    text = annotations.get(CHECKPOINT_ANNOTATION)
    if not text:
        return Checkpoint()
    try:
        at = msgspec.convert(text, _Time).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError):  # OverflowError: the year is out of range once in UTC
        at = None
    if at is None or at < _EPOCH:
        return Checkpoint(odd=kept_text(text, _LONGEST_ODD))
    return Checkpoint(at)

"""What a pod says of its last checkpoint: the moment from which on its work would have to be done again."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

import msgspec

from engine.formats.untrusted_text import kept_text

CHECKPOINT_ANNOTATION = "scheduler-admin.io/last-checkpoint"
"""A time in the form of RFC 3339: ``2026-01-01T12:00:00Z``."""
_LONGEST_ODD = 64
_Time = Annotated[datetime, msgspec.Meta(tz=True)]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Checkpoint(NamedTuple):
    """When the last one was written; or, where that can't be read, how the annotation begins."""

    at: datetime | None = None
    odd: str = ""


def checkpoint(annotations: Mapping[str, str]) -> Checkpoint:
    """The last checkpoint that a pod's annotations tell of; neither time nor odd text where they tell of none."""
    told = annotations.get(CHECKPOINT_ANNOTATION)
    if not told:
        return Checkpoint()
    try:
        at = msgspec.convert(told, _Time).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError):  # the last: of no year that there is, once it is in UTC
        at = None
    if at is None or at < _EPOCH:
        return Checkpoint(odd=kept_text(told, _LONGEST_ODD))
    return Checkpoint(at)

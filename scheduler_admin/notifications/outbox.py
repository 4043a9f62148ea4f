"""The outbox: a message is written in the transaction of what it tells of, each thing once for each channel."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import override

from scheduler_admin.notifications.models import Channel, Notification

log = logging.getLogger(__name__)

SETTLING = timedelta(seconds=3)
"""So long a message waits for what belongs to it: pods of one application go one after the other."""
_REMEMBERED = timedelta(days=1)
"""So long it is known of which pods a channel was told."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a message says."""

    lines: Sequence[str]
    """Whole sentences, in the channel's language."""
    link: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The same for programs."""


def tell(
    *,
    channel: Channel,
    event: Notification.Event,
    about: str,
    part: str,
    say: Callable[[frozenset[str]], Told],
    pods: frozenset[str] = frozenset(),
    now: datetime,
) -> Notification | None:
    """Write a message, or none where all of it was told. Called within the transaction of what it tells of.

    ``about`` and ``part``: see Notification. ``pods`` (uids): all of the part, told before or not. Of each the channel
    is told once, whatever the part; ``say`` is asked in its language, with those that the message is to tell of. A
    message of which no attempt was made yet takes in what is new. What can't be said is logged, and nothing written.
    """
    recent = Q(part=part) | Q(created_at__gt=now - _REMEMBERED)
    rows = list(Notification.objects.filter(recent, channel=channel, event=event, about=about).order_by("pk"))
    same = [row for row in rows if row.part == part]
    pending = next((row for row in same if _untried(row) and pods >= set(row.pods)), None)
    new = pods - {uid for row in rows if row is not pending for uid in row.pods}
    if (same and not pods) or (pods and new <= set(pending.pods if pending else ())):
        return None
    with _apart():
        with override(channel.language):
            told = say(new)
        said = {"pods": sorted(new), "lines": list(told.lines), "link": told.link, "facts": dict(told.facts)}
        if pending is None:
            row = Notification(channel=channel, event=event, about=about, part=part, created_at=now, **said)
            row.due_at = now + (SETTLING if pods else timedelta())
            row.clean_fields(exclude=("channel",))  # which was just read: no query for each of many messages
            row.save()
            return row
        if Notification.objects.filter(pk=pending.pk, attempts=0, state=Notification.State.WAITING).update(**said):
            pending.refresh_from_db()
            return pending
        return tell(channel=channel, event=event, about=about, part=part, say=say, pods=pods, now=now)  # just taken up
    return None


def _untried(row: Notification) -> bool:
    return row.state == Notification.State.WAITING and not row.attempts


@contextmanager
def _apart() -> Iterator[None]:
    """What can't be told undoes nothing of what it would have told of, and keeps nothing else from being told."""
    try:
        with transaction.atomic():
            yield
    except Exception:
        log.exception("a notification could not be written")

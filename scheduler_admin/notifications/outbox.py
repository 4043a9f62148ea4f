"""The outbox: messages are written in the transaction of what they tell of, each thing once for each channel."""

import logging
from collections import defaultdict
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
_SAID = ("pods", "lines", "link", "facts")


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a message says."""

    lines: Sequence[str]
    """Whole sentences, in the channel's language."""
    link: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    "The same content for programs."


@dataclass(frozen=True, kw_only=True)
class Telling:
    """Something that a channel is to be told, unless it was."""

    channel: Channel
    event: Notification.Event
    about: str
    part: str
    """As ``about``: see Notification."""
    say: Callable[[frozenset[str]], Told]
    """Asked in the channel's language, with those of ``pods`` that the message is to tell of."""
    pods: frozenset[str] = frozenset()
    """Their uids: all of the part, told before or not. Of each the channel is told once, whatever the part."""

    @property
    def place(self) -> tuple[int, str, str]:
        """Where what was told of the same is found."""
        return self.channel.pk, self.event, self.about


def tell(tellings: Sequence[Telling], now: datetime) -> list[Notification]:
    """Write messages, none where all of one was told. Called within the transaction of what they tell of.

    A message of which no attempt was made yet takes in what is new. What can't be said is logged, and nothing of it
    written. However many there are, it takes a few queries.
    """
    if not tellings:
        return []
    known = _known(tellings, now)
    written: dict[int, tuple[Notification, Telling]] = {}
    for telling in tellings:
        row = _row(telling, known[telling.place], now)
        if row is not None:
            written[id(row)] = row, telling
    pending = {row.pk: telling for row, telling in written.values() if row.pk}
    made = [row for row, _telling in written.values()]
    with _apart():
        late = _written(made) if made else set()
        return [row for row in made if row.pk not in late] + tell([pending[pk] for pk in late], now)
    return []


def _known(tellings: Sequence[Telling], now: datetime) -> dict[tuple[int, str, str], list[Notification]]:
    """What was told of the same, the oldest first."""
    channels, events, abouts = zip(*{telling.place for telling in tellings}, strict=True)
    recent = Q(part__in={telling.part for telling in tellings}) | Q(created_at__gt=now - _REMEMBERED)
    rows = Notification.objects.filter(recent, channel__in=set(channels), event__in=set(events))
    found: dict[tuple[int, str, str], list[Notification]] = defaultdict(list)
    for row in rows.filter(about__in=set(abouts)).order_by("pk"):
        found[row.channel_id, row.event, row.about].append(row)
    return found


def _row(telling: Telling, rows: list[Notification], now: datetime) -> Notification | None:
    """The message that says it: a new one, which joins ``rows``, or one that is pending; None where there is none."""
    pods = telling.pods
    same = [row for row in rows if row.part == telling.part]
    pending = next((row for row in same if _untried(row) and pods >= set(row.pods)), None)
    new = pods - {uid for row in rows if row is not pending for uid in row.pods}
    if (same and not pods) or (pods and new <= set(pending.pods if pending else ())):
        return None
    try:
        with override(telling.channel.language):
            told = telling.say(new)
        row = pending or Notification(
            channel=telling.channel,
            event=telling.event,
            about=telling.about,
            part=telling.part,
            created_at=now,
            due_at=now + (SETTLING if pods else timedelta()),
        )
        row.pods, row.lines, row.link, row.facts = sorted(new), list(told.lines), told.link, dict(told.facts)
        row.clean_fields(exclude=("channel",))  # which was just read: no query for each of many messages
    except Exception:
        log.exception(_UNWRITTEN)
        return None
    if pending is None:
        rows.append(row)
    return row


def _written(rows: Sequence[Notification]) -> set[int]:
    """Write them; those (ids) that were pending and have just been taken up, which stay as they are."""
    known = {row.pk: row for row in rows if row.pk}
    untried = Notification.objects.filter(pk__in=known, state=Notification.State.WAITING, attempts=0)
    still = set(untried.select_for_update().values_list("pk", flat=True)) if known else set()
    Notification.objects.bulk_update([row for pk, row in known.items() if pk in still], _SAID)
    Notification.objects.bulk_create([row for row in rows if not row.pk])
    return set(known) - still


def _untried(row: Notification) -> bool:
    return row.state == Notification.State.WAITING and not row.attempts


_UNWRITTEN = "Creating a notification failed"


@contextmanager
def _apart() -> Iterator[None]:
    """What can't be told undoes nothing of what it would have told of."""
    try:
        with transaction.atomic():
            yield
    except Exception:
        log.exception(_UNWRITTEN)

"""Sends what waits in the outbox: at least once, in order, one message for each channel at a time.

A channel whose message did not arrive rests until that message's next try, so a receiver that is away costs one attempt
at a time.
"""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import islice
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from threading import BoundedSemaphore

from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.debug import sensitive_variables

from engine.cluster.errors import ClusterError
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.notifications.delivery import messages
from scheduler_admin.notifications.delivery.own_messages import add_test, summed_up
from scheduler_admin.notifications.delivery.webhook import UndeliveredError, post
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.selectors import destination, tried_since

log = logging.getLogger(__name__)

PER_MINUTE = 10
"""So many messages a channel gets in a minute; what goes beyond is summed up in one."""
GIVEN_UP = timedelta(days=1)
"""After so long a message that did not arrive is given up."""
_MINUTE = timedelta(minutes=1)
_FIRST_RETRY = timedelta(seconds=10)
_LONGEST_RETRY = timedelta(hours=1)
_CLAIMED = timedelta(minutes=2)
"""Who takes a message up has so long to tell what came of it; then it is tried again."""
_AT_ONCE = 8
"""Channels that are spoken to at the same time."""
_testing = BoundedSemaphore(2)
"""So many tests are sent at the same time: each holds a thread that could answer pages."""

_Ended = tuple[Notification, UndeliveredError | None]


def send_due(*, now: datetime) -> int:
    """Send the next message of some channels that have one due; how many were tried."""
    waiting = Notification.objects.filter(state=Notification.State.WAITING)
    waiting.filter(created_at__lte=now - GIVEN_UP).update(state=Notification.State.FAILED)
    found = (row for channel in _due(now) if (row := _next(channel, now)) is not None)
    claimed = list(islice((mine for row in found if (mine := _claim(row, now)) is not None), _AT_ONCE))
    for row, error in _deliver(claimed):
        _note(row, error, now)
    return len(claimed)


def send_test(*, channel: Channel) -> Notification:
    """Send a message that only shows that the channel works. What came of it is in the row that is returned.

    Raises UndeliveredError, with nothing sent, where the channel had its messages of this minute, or while others try.
    """
    return _send_by_hand(channel, lambda now: add_test(channel, now))


def send_again(*, row: Notification) -> Notification:
    """Try a message once more that was given up, just as it was. What came of it is in the row that is returned.

    Raises UndeliveredError as ``send_test``, and where somebody else has just sent it.
    """
    return _send_by_hand(row.channel, lambda _now: _revived(row))


def _revived(row: Notification) -> Notification:
    dead = Notification.objects.filter(pk=row.pk, state=Notification.State.FAILED, attempts=row.attempts)
    if not dead.update(state=Notification.State.WAITING):
        raise UndeliveredError(_("Someone else is already sending this message."))
    return row


def _send_by_hand(channel: Channel, find: Callable[[datetime], Notification]) -> Notification:
    """One attempt at once; what does not arrive is given up. ``find`` is called in a transaction."""
    if not _testing.acquire(blocking=False):
        raise UndeliveredError(_("Other channels are being tested. Try again in a moment."))
    try:
        now = timezone.now()
        row = _taken_up(channel, find, now)
        for sent, error in _deliver([row]):
            _note(sent, error and UndeliveredError(str(error), final=True), now)
        return row
    finally:
        _testing.release()


@transaction.atomic
def _taken_up(channel: Channel, find: Callable[[datetime], Notification], now: datetime) -> Notification:
    """A message that nobody else finds waiting. Raises UndeliveredError."""
    if _room(channel, now) <= 0:
        raise UndeliveredError(
            _("This channel already had %(n)s messages in the last minute. Try again in a minute.") % {"n": PER_MINUTE}
        )
    row = _claim(find(now), now)
    assert row is not None
    return row


def _room(channel: Channel, now: datetime) -> int:
    return PER_MINUTE - tried_since(channel, now - _MINUTE)


def _due(now: datetime) -> QuerySet[Channel]:
    """Those with a message that is due, the one that has waited longest first: slow receivers hold up nobody's."""
    waiting = Notification.objects.filter(channel=OuterRef("pk"), state=Notification.State.WAITING, due_at__lte=now)
    rows = Channel.objects.filter(enabled=True).annotate(
        due_at=Subquery(waiting.order_by("due_at").values("due_at")[:1])
    )
    return rows.filter(due_at__isnull=False).order_by("due_at", "pk").select_related("tenant")


def _next(channel: Channel, now: datetime) -> Notification | None:
    """The message whose turn it is, None while the channel rests or has had enough for a minute."""
    waiting = Notification.objects.filter(channel=channel, state=Notification.State.WAITING)
    room = _room(channel, now)
    if room <= 0 or waiting.filter(attempts__gt=0, due_at__gt=now).exists():
        return None
    due = list(waiting.filter(due_at__lte=now).order_by("pk"))
    return summed_up(channel, due, room, now)[0] if due else None


def _claim(row: Notification, now: datetime) -> Notification | None:
    """Take a message up, as it will always be from now on; None where somebody else just did, or it is gone."""
    mine = Notification.objects.filter(pk=row.pk, state=Notification.State.WAITING, attempts=row.attempts)
    if not mine.update(attempts=F("attempts") + 1, tried_at=now, due_at=now + _CLAIMED):
        return None
    return Notification.objects.select_related("channel__tenant").filter(pk=row.pk).first()


def _deliver(rows: list[Notification]) -> Iterable[_Ended]:
    """Send each, at the same time. The threads leave the database alone."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(zip(rows, pool.map(_sent, rows), strict=True))


def _sent(row: Notification) -> UndeliveredError | None:
    with override(row.channel.language):
        try:
            _send(row)
        except UndeliveredError as error:
            return error
        except ClusterError as error:  # it can't be opened
            return UndeliveredError(told(error))
        except SMTPResponseException as error:
            return UndeliveredError(_("The mail server responded with %(code)s.") % {"code": error.smtp_code})
        except SMTPRecipientsRefused:
            return UndeliveredError(_("The mail server does not accept mail for this address."))
        except (OSError, SMTPException):
            return UndeliveredError(_("The mail server could not be reached or did not respond in time."))
        except Exception as error:  # noqa: BLE001 - one message stops no other; what it quotes may be secret
            log.error("Sending notification %s failed: %s", row.guid, type(error).__name__)  # noqa: TRY400 - so no traceback
            return UndeliveredError(_("The message could not be sent: %(why)s.") % {"why": type(error).__name__})
    return None


@sensitive_variables()
def _send(row: Notification) -> None:
    leads = destination(row.channel)
    match row.channel.kind:
        case Channel.Kind.EMAIL:
            messages.mail(row).send()
        case Channel.Kind.SLACK:
            post(leads.address, messages.slack_body(row), messages.slack_headers(row))
        case _:
            body = messages.webhook_body(row)
            now_s = int(timezone.now().timestamp())
            post(leads.address, body, messages.webhook_headers(row, body, leads, now_s))


def _note(row: Notification, error: UndeliveredError | None, now: datetime) -> None:
    """Write down what came of an attempt, unless the message is gone, or another's by now."""
    row.error = str(error or "")[: Notification._meta.get_field("error").max_length]  # noqa: SLF001 - Django's documented name
    if error is None:
        row.state = Notification.State.SENT
    elif error.final:
        row.state = Notification.State.FAILED
    else:
        row.due_at = now + min(_FIRST_RETRY * 2 ** min(row.attempts - 1, 10), _LONGEST_RETRY)
    mine = Notification.objects.filter(pk=row.pk, attempts=row.attempts)
    mine.update(state=row.state, error=row.error, due_at=row.due_at)

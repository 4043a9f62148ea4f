"""Sends what waits in the outbox: at least once, in order, one message for each channel at a time.

A channel whose message did not arrive rests until that message's next try, so a receiver that is away costs one attempt
at a time.
"""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.debug import sensitive_variables

from engine.cluster.errors import ClusterError
from scheduler_admin.clusters.told import told
from scheduler_admin.notifications import messages
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.own import add_test, summed_up
from scheduler_admin.notifications.posting import UndeliveredError, post
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

_Ended = tuple[Notification, UndeliveredError | None]


def send_due(*, now: datetime) -> int:
    """Send the next message of every channel that has one due; how many were tried."""
    waiting = Notification.objects.filter(state=Notification.State.WAITING)
    waiting.filter(created_at__lte=now - GIVEN_UP).update(state=Notification.State.DEAD)
    channels = Channel.objects.filter(enabled=True, pk__in=waiting.values("channel")).select_related("tenant")
    found = [row for channel in channels if (row := _next(channel, now)) is not None]
    claimed = [row for row in found if _claim(row, now)]
    for row, error in _deliver(claimed):
        _note(row, error, now)
    return len(claimed)


def send_test(*, channel: Channel) -> Notification:
    """Send a message that only shows that the channel works. What came of it is in the row that is returned.

    Raises UndeliveredError, with nothing sent, where the channel had its messages of this minute.
    """
    now = timezone.now()
    if _room(channel, now) <= 0:
        raise UndeliveredError(_("It had %(n)s messages in this minute: try again in another.") % {"n": PER_MINUTE})
    row = add_test(channel, now)
    _claim(row, now)
    for sent, error in _deliver([row]):
        _note(sent, error and UndeliveredError(str(error), final=True), now)
    return row


def _room(channel: Channel, now: datetime) -> int:
    return PER_MINUTE - tried_since(channel, now - _MINUTE)


def _next(channel: Channel, now: datetime) -> Notification | None:
    """The message whose turn it is, None while the channel rests or has had enough for a minute."""
    rows = list(Notification.objects.filter(channel=channel, state=Notification.State.WAITING).order_by("pk"))
    if any(row.attempts and row.due_at > now for row in rows):
        return None
    due, room = [row for row in rows if row.due_at <= now], _room(channel, now)
    return summed_up(channel, due, room, now)[0] if due and room > 0 else None


def _claim(row: Notification, now: datetime) -> bool:
    """Take a message up, unless somebody else just did; then it says what it will always say."""
    mine = Notification.objects.filter(pk=row.pk, state=Notification.State.WAITING, attempts=row.attempts)
    if not mine.update(attempts=F("attempts") + 1, tried_at=now, due_at=now + _CLAIMED):
        return False
    row.refresh_from_db()
    row.channel = Channel.objects.select_related("tenant").get(pk=row.channel_id)
    return True


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
            return UndeliveredError(_("The mail server answered %(code)s.") % {"code": error.smtp_code})
        except SMTPRecipientsRefused:
            return UndeliveredError(_("The mail server does not take mail to this address."))
        except (OSError, SMTPException):
            return UndeliveredError(_("The mail server did not answer, or not in time."))
        except Exception as error:  # noqa: BLE001 - one message stops no other; what it quotes may be secret
            log.error("notification %s: %s", row.guid, type(error).__name__)  # noqa: TRY400 - so no traceback
            return UndeliveredError(_("It could not be sent: %(why)s.") % {"why": type(error).__name__})
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
            post(leads.address, body, messages.webhook_headers(row, body, leads.secret, now_s))


def _note(row: Notification, error: UndeliveredError | None, now: datetime) -> None:
    """Write down what came of an attempt."""
    row.error = str(error or "")[: Notification._meta.get_field("error").max_length]  # noqa: SLF001 - Django's documented name
    if error is None:
        row.state = Notification.State.SENT
    elif error.final:
        row.state = Notification.State.DEAD
    else:
        row.due_at = now + min(_FIRST_RETRY * 2 ** min(row.attempts - 1, 10), _LONGEST_RETRY)
    row.save(update_fields=["state", "error", "due_at"])

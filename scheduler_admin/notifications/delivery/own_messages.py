"""Messages that are about messages: a test, and a summary of those for which there is no room within a minute."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from scheduler_admin.notifications.models import Channel, Notification

_LINES = 20
"""A summary says so many of the headlines that it stands for."""


def add_test(channel: Channel, now: datetime) -> Notification:
    """A message that only shows that the channel works."""
    with override(channel.language):
        tenant = _("This is a test message. Notifications for tenant %(tenant)s arrive here.")
        site = _("This is a test message. Notifications about the site arrive here.")
        line = tenant % {"tenant": channel.tenant.name} if channel.tenant else site
    link = f"{settings.SITE_URL}/notifications/{channel.pk}/"
    return _added(Notification(channel=channel, event=Notification.Event.TEST, lines=[line], link=link), now)


@transaction.atomic
def summed_up(channel: Channel, waiting: Sequence[Notification], room: int, now: datetime) -> list[Notification]:
    """As many as there is room for: the last of them stands for all that there is none for.

    What was tried once is never summed up, as it may have arrived.
    """
    untried = [row.pk for row in waiting[max(room - 1, 0) :] if not row.attempts]
    if len(waiting) <= room or len(untried) < 2:  # noqa: PLR2004 - one stands for itself
        return list(waiting)
    still = Notification.objects.filter(pk__in=untried, state=Notification.State.WAITING, attempts=0)
    over = list(still.select_for_update().order_by("pk"))
    if not over:  # somebody else just took them
        return list(waiting)
    Notification.objects.filter(pk__in=[row.pk for row in over]).update(state=Notification.State.SUMMARIZED)
    heads = [line for row in over for line in _heads(row)]
    with override(channel.language):
        title = ngettext("%(count)s more notification:", "%(count)s more notifications:", len(heads))
        lines = [title % {"count": len(heads)}, *heads[:_LINES]]
        if len(heads) > _LINES:
            more = ngettext("And %(count)s more.", "And %(count)s more.", len(heads) - _LINES)
            lines.append(more % {"count": len(heads) - _LINES})
    facts = {"notifications": heads, "events": dict(Counter(each for row in over for each in _events(row)))}
    row = Notification(channel=channel, event=Notification.Event.SUMMARY, lines=lines, facts=facts)
    row.link = f"{settings.SITE_URL}/{'pods' if channel.tenant_id else 'clusters'}/"
    taken = set(over)
    return [row for row in waiting if row not in taken] + [_added(row, now)]


def _added(row: Notification, now: datetime) -> Notification:
    row.created_at = row.due_at = now
    row.about = str(row.guid)
    row.full_clean()
    row.save()
    return row


def _heads(row: Notification) -> list[str]:
    heads: list[str] = row.facts["notifications"] if row.event == Notification.Event.SUMMARY else row.lines[:1]
    return heads


def _events(row: Notification) -> list[str]:
    if row.event != Notification.Event.SUMMARY:
        return [row.event]
    return [name for name, times in row.facts["events"].items() for _time in range(times)]

"""The site's channels are told of stored credentials that expire soon, and once they have expired."""

from datetime import datetime
from functools import partial

from django.db import transaction

from engine.cluster.inspection.check import ENDS_SOON
from engine.explain import Message
from engine.model.message import Timestamp, gettext_noop
from scheduler_admin.clusters.models import Credentials
from scheduler_admin.core.links import connection_url
from scheduler_admin.core.translation import text
from scheduler_admin.notifications.models import Notification
from scheduler_admin.notifications.outbox import Telling, Told, tell
from scheduler_admin.notifications.selectors import of_site

SOON = gettext_noop("The credentials of cluster %(cluster)s (%(kind)s) expire at %(when)s. Replace them before.")
EXPIRED = gettext_noop("The credentials of cluster %(cluster)s (%(kind)s) expired at %(when)s. Replace them.")


@transaction.atomic
def tell_expiring(*, now: datetime) -> None:
    """Tell of each credentials twice: when they expire within ENDS_SOON, and when they have expired."""
    event = Notification.Event.CREDENTIALS_EXPIRING
    channels = of_site(event)
    rows = Credentials.objects.filter(expires_at__lte=now + ENDS_SOON).select_related("cluster") if channels else ()
    tellings = [
        Telling(
            channel=channel,
            event=event,
            about=row.cluster.name,
            part=f"{ends.isoformat(timespec='seconds')} {'ended' if ends <= now else 'soon'}",
            say=partial(_say, row, ends, now),
        )
        for row in rows
        for channel in channels
        if (ends := row.expires_at) is not None
    ]
    tell(tellings, now)


def _say(row: Credentials, ends: datetime, now: datetime, _pods: object) -> Told:
    name, expired = row.cluster.name, ends <= now
    when = Timestamp(ends.timestamp() * 1000)
    said = Message(EXPIRED if expired else SOON, {"cluster": name, "kind": str(row.get_kind_display()), "when": when})
    facts = {"cluster": name, "kind": row.kind, "expires_at": ends.isoformat(), "expired": expired}
    return Told(lines=[text(said)], link=connection_url(name), facts=facts)

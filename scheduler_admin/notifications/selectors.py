"""Reads on channels and on what they were to tell."""

import base64
import json
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Least
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.scopes import Action, Who, scope_of
from scheduler_admin.clusters.connections.sealing import unseal
from scheduler_admin.core.entity_tags import keyed
from scheduler_admin.notifications.models import TENANT_EVENTS, Channel, Notification

SHOWN = 20
"""The latest notifications of a channel that its page shows."""


SECRET_PREFIX = "whsec_"  # noqa: S105 - it is what all secrets begin with
"""Begins a signing secret: what follows is the key in base64."""


class Destination(NamedTuple):
    """Where a channel leads. Never shown."""

    address: str
    secret: str = ""
    former: str = ""
    """The secret before, which still signs until the moment below."""
    former_until_s: int = 0
    """Seconds since 1970."""

    def keys(self, now_s: int) -> list[bytes]:
        """Return the keys that sign now, the newest first."""
        return [_key(self.secret), *([_key(self.former)] if self.former and now_s < self.former_until_s else [])]


def _key(secret: str) -> bytes:
    """The key of a secret. One from before Standard Webhooks has no prefix, and is itself the key."""
    if secret.startswith(SECRET_PREFIX):
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return secret.encode()


@sensitive_variables()
def destination(channel: Channel) -> Destination:
    """The whole address, and the secret that signs. Raises SettingsError if no key opens it."""
    return Destination(**json.loads(unseal(channel.sealed))) if channel.sealed else Destination(channel.address)


def channels(user: Who) -> QuerySet[Channel]:
    """Those that the user may see, by tenant, with how the latest attempts of each ended."""
    own = Notification.objects.filter(channel=OuterRef("pk")).order_by()
    waiting = own.filter(state=Notification.State.WAITING)
    counted = waiting.values("channel").annotate(count=Count("pk")).values("count")
    return (
        Channel.objects.restrict(user)
        .select_related("tenant")
        .annotate(
            waiting=Coalesce(Subquery(counted), 0),
            failing=Exists(waiting.exclude(error="")),
            last_at=Subquery(own.filter(tried_at__isnull=False).order_by("-tried_at").values("tried_at")[:1]),
        )
    )


def channel(user: Who, pk: int, action: Action = "view") -> Channel:
    """One of them. Raises Http404."""
    found = Channel.objects.restrict(user, action).select_related("tenant").filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def latest(channel: Channel, state: str = "") -> QuerySet[Notification]:
    """What a channel was to tell last, newest first; of one state alone if that is given."""
    rows = Notification.objects.filter(channel=channel)
    return (rows.filter(state=state) if state else rows).order_by("-pk")[:SHOWN]


def given_up(channel: Channel, guid: UUID) -> Notification:
    """One of a channel's messages that was given up. Raises ValidationError where there is none such."""
    found = Notification.objects.filter(channel=channel, guid=guid, state=Notification.State.FAILED).first()
    if found is None:
        raise ValidationError({"id": _("This channel has no failed message with this ID.")})
    return found


def tenants_of(user: Who, action: Action) -> QuerySet[Tenant]:
    """The tenants whose channels the user may see (view) or change (notify), by name."""
    scope = scope_of(user, action)
    rows = Tenant.objects.order_by("name")
    return rows if scope.everything else rows.filter(pk__in=scope.tenants)


def has_site(user: Who, action: Action) -> bool:
    """Whether the user may see (view) or change (notify) the channels of the site."""
    return scope_of(user, action).everything


def has_any(user: Who, action: Action) -> bool:
    """Whether the user may see or change anybody's channels, or the site's."""
    return has_site(user, action) or tenants_of(user, action).exists()


def has_channels_of(user: Who, action: Action, tenant: Tenant | None) -> bool:
    """Whether the user may see or change the channels of a tenant; None: those of the site."""
    if tenant is None:
        return has_site(user, action)
    return tenants_of(user, action).filter(pk=tenant.pk).exists()


def own_tenant(user: Who, name: str | None) -> Tenant | None:
    """The tenant of that name whose channels the user may change; None for the site.

    Raises ValidationError where there is none, and for the site's where the user may not change those.
    """
    if name is None:
        if has_site(user, "notify"):
            return None
        raise ValidationError({"tenant": _("Only admins add channels of the site.")})
    found = tenants_of(user, "notify").filter(name=name).first()
    if found is None:
        raise ValidationError({"tenant": _("This tenant does not exist.")})
    return found


def enabled_for(event: str) -> QuerySet[Channel]:
    """The channels of tenants, with these, that tell of such an event now."""
    column = {
        Notification.Event.GOING: Q(going=True),
        Notification.Event.PREEMPTED: Q(preempted=True),
        Notification.Event.REFUSED: Q(refused=True),
        Notification.Event.REPEATED: Q(repeated=True),
        Notification.Event.LOOP: Q(loop=True),
        Notification.Event.DIGEST: Q(digest=True),
        Notification.Event.BELOW: Q(below_min__isnull=False),
    }[Notification.Event(event)]
    rows = Channel.objects.filter(column, enabled=True, tenant__isnull=False)
    return rows.select_related("tenant").order_by("pk")


def of_site(event: str) -> list[Channel]:
    """The channels of the site that tell of such an event now. One query."""
    rows = Channel.objects.filter(enabled=True, tenant__isnull=True).order_by("pk")
    return [row for row in rows if event in row.site_events]  # SQLite does not look into JSON lists


def tag(channel: Channel) -> str:
    """What tells one state of a channel's settings from another."""
    names = ("name", "sealed", "address", "language", *TENANT_EVENTS, "site_events", "payload_format", "enabled")
    text = json.dumps([getattr(channel, name) for name in names])
    return keyed(text)


def tried_since(channel: Channel, since: datetime) -> int:
    """How many attempts were made at this channel's messages since, some seconds ago, at most.

    Of one that was tried again and again three can have been in a minute: see the waits in ``sending``.
    """
    rows = Notification.objects.filter(channel=channel, tried_at__gt=since)
    return rows.aggregate(tried=Sum(Least("attempts", 3)))["tried"] or 0

"""What a notification is on its way: the request to a webhook or to Slack, or the mail. Of the same always the same."""

import base64
import hashlib
import hmac
import json
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.core import cloud_events
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.selectors import Destination

ID, TIMESTAMP, SIGNATURE = (f"webhook-{name}" for name in ("id", "timestamp", "signature"))
"""The headers of Standard Webhooks, which are under the signature with the body."""
MEDIA_TYPES = {
    Channel.PayloadFormat.STANDARD: "application/json",
    Channel.PayloadFormat.CLOUDEVENTS: cloud_events.MEDIA_TYPE,
}
_SLACK_LONGEST = 3_000
"""Of a block's text."""
_SUBJECT_LONGEST = 200


def webhook_body(notification: Notification) -> bytes:
    """JSON for programs, with the sentences for people: in the form of Standard Webhooks, or a CloudEvent."""
    channel = notification.channel
    data = {
        "tenant": channel.tenant and channel.tenant.name,
        "text": " ".join(notification.lines),
        "url": notification.link,
        **notification.facts,
    }
    body = _envelope(notification, data)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _envelope(notification: Notification, data: dict[str, Any]) -> dict[str, Any]:
    """What is around the data of a message."""
    at = notification.created_at.isoformat()
    if notification.channel.payload_format == Channel.PayloadFormat.STANDARD:
        return {"type": notification.event, "timestamp": at, "data": data}
    return cloud_events.cloud_event(
        number=str(notification.guid), source=settings.SITE_URL, kind=notification.event, at=at, data=data
    )


@sensitive_variables()
def webhook_headers(notification: Notification, body: bytes, leads: Destination, now_s: int) -> dict[str, str]:
    """Who it is from, so that the receiver can tell: HMAC-SHA256 over the ID, the time and the body.

    See https://www.standardwebhooks.com. ``now_s``: when it is sent, in seconds since 1970.
    """
    signed = f"{notification.guid}.{now_s}.".encode() + body
    digests = (hmac.digest(key, signed, hashlib.sha256) for key in leads.keys(now_s))
    return {
        "Content-Type": MEDIA_TYPES[Channel.PayloadFormat(notification.channel.payload_format)],
        "User-Agent": "scheduler-admin",
        ID: str(notification.guid),
        TIMESTAMP: str(now_s),
        SIGNATURE: " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests),
    }


def slack_body(notification: Notification) -> bytes:
    """Slack's own form: a text for the lock screen, blocks for the channel."""
    headline, *more = [_slack(line) for line in notification.lines]
    with override(notification.channel.language):
        more_to_read = _("Read more")
    texts = [f"*{headline}*", *more, f"<{notification.link}|{_slack(more_to_read)}>"]
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": text[:_SLACK_LONGEST]}} for text in texts
    ]
    return json.dumps({"text": headline, "blocks": blocks}, ensure_ascii=False).encode()


def slack_headers(notification: Notification) -> dict[str, str]:
    """Slack asks for no signature: its address is the secret."""
    return {"Content-Type": "application/json", "User-Agent": "scheduler-admin", ID: str(notification.guid)}


def mail(notification: Notification) -> EmailMessage:
    """A mail whose Message-ID is the notification's, so that a second copy can be told."""
    host = urlsplit(settings.SITE_URL).hostname or "localhost"
    subject = " ".join(notification.lines[0].split())
    return EmailMessage(
        subject=subject[:_SUBJECT_LONGEST],
        body="\n\n".join([*notification.lines, notification.link]),
        to=[notification.channel.address],
        headers={"Message-ID": f"<{notification.guid}@{host}>", ID: str(notification.guid)},
    )


def _slack(text: str) -> str:
    """Slack's three characters that mean something."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

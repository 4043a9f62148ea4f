"""What a notification is on its way: the request to a webhook or to Slack, or the mail. Of the same always the same."""

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

from scheduler_admin.notifications.models import Notification

SIGNATURE, TIMESTAMP, ID, EVENT = (f"X-Scheduler-Admin-{name}" for name in ("Signature", "Timestamp", "Id", "Event"))
_SLACK_LONGEST = 3_000
"""Of a block's text."""
_SUBJECT_LONGEST = 200


def webhook_body(notification: Notification) -> bytes:
    """JSON for programs, with the sentences for people."""
    body = {
        "id": str(notification.guid),
        "event": notification.event,
        "tenant": notification.channel.tenant.name,
        "created_at": notification.created_at.isoformat(),
        "text": " ".join(notification.lines),
        "url": notification.link,
        **notification.facts,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


@sensitive_variables()
def webhook_headers(notification: Notification, body: bytes, secret: str, now_s: int) -> dict[str, str]:
    """Who it is from, so that the receiver can tell: HMAC-SHA256 over the time, a point and the body."""
    signature = hmac.new(secret.encode(), f"{now_s}.".encode() + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "scheduler-admin",
        ID: str(notification.guid),
        EVENT: notification.event,
        TIMESTAMP: str(now_s),
        SIGNATURE: f"v1={signature}",
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

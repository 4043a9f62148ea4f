"""What Celery runs: the housekeeping worker sends."""

import time

from celery import shared_task
from django.utils import timezone

from scheduler_admin.notifications.delivery.send import send_due
from scheduler_admin.notifications.events.credentials import tell_expiring

SENDING_S = 4.0
"""So long is gone on with sending what is due; the worker's other tasks wait for one message more at most."""


@shared_task(name="scheduler_admin.notifications.tasks.send_notifications")
def send_notifications() -> None:
    """Send what is due; what is left is sent by the next."""
    until = time.monotonic() + SENDING_S
    while send_due(now=timezone.now()) and time.monotonic() < until:
        pass


@shared_task(name="scheduler_admin.notifications.tasks.check_credentials")
def check_credentials() -> None:
    """Tell the site's channels of stored credentials that expire soon, or have expired."""
    tell_expiring(now=timezone.now())

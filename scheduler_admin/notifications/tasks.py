"""What Celery runs: the housekeeping worker sends."""

import time

from celery import shared_task
from django.utils import timezone

from scheduler_admin.notifications.delivery.send import send_due

SENDING_S = 4.0
"""So long is gone on with sending what is due; the worker's other tasks wait for one message more at most."""


@shared_task(name="scheduler_admin.notifications.tasks.send_notifications")
def send_notifications() -> None:
    """Send what is due; what is left is sent by the next."""
    until = time.monotonic() + SENDING_S
    while send_due(now=timezone.now()) and time.monotonic() < until:
        pass

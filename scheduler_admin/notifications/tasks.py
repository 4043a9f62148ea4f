"""What Celery runs: the housekeeping worker sends."""

from celery import shared_task
from django.utils import timezone

from scheduler_admin.notifications.sending import send_due


@shared_task
def send_notifications() -> None:
    """Send what is due, a message for each channel; what is left is sent by the next."""
    send_due(now=timezone.now())

"""Encrypt stored credentials and webhook addresses with the first key: ``manage.py reseal_credentials``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engine.cluster.errors import SettingsError
from scheduler_admin.clusters.connections.credentials import reseal_all
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.notifications.services import reseal_channels


class Command(BaseCommand):
    help = (
        "Encrypt all stored credentials and webhook addresses with the first key of CREDENTIALS_KEY. "
        "Afterwards you can remove the other keys."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            count = reseal_all() + reseal_channels()
        except SettingsError as error:
            raise CommandError(told(error)) from error
        self.stdout.write(f"Encrypted {count} secrets with the first key of CREDENTIALS_KEY.")

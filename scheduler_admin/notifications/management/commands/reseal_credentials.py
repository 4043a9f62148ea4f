"""Encrypt what is sealed, credentials and webhooks, with the first key of CREDENTIALS_KEY: ``reseal_credentials``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engine.cluster.errors import SettingsError
from scheduler_admin.clusters.connections.credentials import reseal_all
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.notifications.services import reseal_channels


class Command(BaseCommand):
    help = "Encrypt all stored credentials, and where webhooks lead, with the first key; the others may go then."

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            count = reseal_all() + reseal_channels()
        except SettingsError as error:
            raise CommandError(told(error)) from error
        self.stdout.write(f"{count} encrypted with the first key of CREDENTIALS_KEY.")

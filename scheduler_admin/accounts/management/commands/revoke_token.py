"""Revoke an API token, so that further requests with it fail: `manage.py revoke_token sa_Ab12... --reason leaked`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import ApiToken
from scheduler_admin.accounts.services.tokens import PREFIX, revoke_token


class Command(BaseCommand):
    """Revoke an API token."""

    help = "Revoke an API token."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the token and the reason."""
        parser.add_argument("token", help="The token, or its first characters as list_tokens prints them.")
        parser.add_argument("--reason", default="", help="Reason, kept in the audit log.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete the token with this prefix."""
        del args
        prefix = options["token"][:PREFIX]
        token = ApiToken.objects.filter(prefix=prefix).select_related("user").first()
        if token is None:
            raise CommandError(_("No token starts with %(prefix)s.") % {"prefix": prefix})
        revoke_token(token=token, reason=options["reason"])
        self.stdout.write(_("Token %(token)s was revoked.") % {"token": token})

"""`manage.py revoke_token sa_Ab12... --reason leaked`: the next request with the token is refused."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import ApiToken
from scheduler_admin.accounts.services.tokens import PREFIX, revoke_token


class Command(BaseCommand):
    """Revokes a token."""

    help = "Revoke a token for the REST API."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which token, and why."""
        parser.add_argument("token", help="the token, or how it begins, as list_tokens shows it")
        parser.add_argument("--reason", default="", help="why, for the audit log")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete the token that begins so."""
        del args
        prefix = options["token"][:PREFIX]
        token = ApiToken.objects.filter(prefix=prefix).select_related("user").first()
        if token is None:
            raise CommandError(_("No token begins with %(prefix)s.") % {"prefix": prefix})
        revoke_token(token=token, reason=options["reason"])
        self.stdout.write(_("%(token)s is revoked.") % {"token": token})

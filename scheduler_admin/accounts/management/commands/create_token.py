"""`manage.py create_token USER --name ci --days 30`: a token for the REST API, printed once."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services import create_token


class Command(BaseCommand):
    """Makes a token for a user."""

    help = "Make a token for the REST API and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose token, its name, and how long it is good for."""
        parser.add_argument("user", help="the user's name")
        parser.add_argument("--name", required=True, help="what the token is for, e.g. ci")
        parser.add_argument("--days", type=int, help="days until it expires (default: never)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the token on a line of its own, so that a script can read it."""
        del args
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(_("There is no user %(name)s.") % {"name": options["user"]})
        days = options["days"]
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        try:
            _token, plaintext = create_token(user=user, name=options["name"], expires_at=expires_at)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(plaintext)

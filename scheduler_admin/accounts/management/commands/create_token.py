"""`manage.py create_token USER --name ci --scope tree:plan --days 30`: a token for the REST API, printed once."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.services import DEFAULT_LIFETIME, create_token


class Command(BaseCommand):
    """Makes a token for a user."""

    help = "Make a token for the REST API and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose token, its name, what it is good for, and how long."""
        scopes, days = ApiToken.Scope.values, DEFAULT_LIFETIME.days
        parser.add_argument("user", help="the user's name; the token may do at most what the user may")
        parser.add_argument("--name", required=True, help="what the token is for, e.g. ci")
        parser.add_argument("--scope", action="append", choices=scopes, help="may be given again (default: read)")
        parser.add_argument("--subtree", default="", help="path of a queue: good for it and below (default: for all)")
        lifetime = parser.add_mutually_exclusive_group()
        lifetime.add_argument("--days", type=int, default=days, help=f"days until it expires (default: {days})")
        lifetime.add_argument("--never-expires", action="store_true", help="good until it is revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the token on a line of its own, so that a script can read it."""
        del args
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(_("There is no user %(name)s.") % {"name": options["user"]})
        try:
            _token, plaintext = create_token(
                user=user,
                name=options["name"],
                scopes=options["scope"] or [ApiToken.Scope.READ],
                subtree=options["subtree"],
                lifetime=None if options["never_expires"] else timedelta(days=options["days"]),
            )
        except OverflowError as error:
            raise CommandError(_("This is too long.")) from error
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(plaintext)

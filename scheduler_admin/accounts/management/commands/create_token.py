"""A token for the REST API, printed once, for a person or for a machine that has an account of its own:

`manage.py create_token USER --name ci --scope tree:plan --days 30`
`manage.py create_token --service ci --role admin --scope tree:write --subtree root.red`
"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.services.tokens import DEFAULT_LIFETIME, create_token
from scheduler_admin.accounts.services.users import service_account


class Command(BaseCommand):
    """Makes a token for a user."""

    help = "Make a token for the REST API and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose token, its name, what it is good for, and how long."""
        scopes, days = ApiToken.Scope.values, DEFAULT_LIFETIME.days
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("user", nargs="?", help="the user's name; the token may do at most what the user may")
        whose.add_argument("--service", metavar="NAME", help="for a machine: its account is made if there is none")
        roles = [role.value for role in User.Role if role != User.Role.TENANT]
        parser.add_argument("--role", default="", choices=roles, help="of a new service account")
        parser.add_argument("--name", help="what the token is for, e.g. ci (default: the service account's name)")
        parser.add_argument("--scope", action="append", choices=scopes, help="may be given again (default: read)")
        parser.add_argument("--subtree", default="", help="path of a queue: good for it and below (default: for all)")
        lifetime = parser.add_mutually_exclusive_group()
        lifetime.add_argument("--days", type=int, default=days, help=f"days until it expires (default: {days})")
        lifetime.add_argument("--never-expires", action="store_true", help="good until it is revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the token on a line of its own, so that a script can read it."""
        del args
        try:
            plaintext = _made(options)
        except OverflowError as error:
            raise CommandError(_("This is too long.")) from error
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(plaintext)


@transaction.atomic
def _made(options: dict[str, Any]) -> str:
    _token, plaintext = create_token(
        user=_whose(options),
        name=options["name"] or options["service"] or "",
        scopes=options["scope"] or [ApiToken.Scope.READ],
        subtree=options["subtree"],
        lifetime=None if options["never_expires"] else timedelta(days=options["days"]),
    )
    return plaintext


def _whose(options: dict[str, Any]) -> User:
    """Raises CommandError, ValidationError."""
    if options["service"]:
        return service_account(name=options["service"], role=options["role"])
    if options["role"]:
        raise CommandError(_("A person has a role already: --role goes with --service."))
    found = User.objects.filter(username=options["user"]).first()
    if found is None:
        raise CommandError(_("There is no user %(name)s.") % {"name": options["user"]})
    return found

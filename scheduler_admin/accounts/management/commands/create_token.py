"""Create an API token for a user or a service account, and print it once:

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
    """Create an API token."""

    help = "Create an API token and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the owner, the name, the scopes and the lifetime."""
        scopes, days = ApiToken.Scope.values, DEFAULT_LIFETIME.days
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument(
            "user", nargs="?", help="Owner of the token. The token has at most the permissions of this user."
        )
        whose.add_argument(
            "--service",
            metavar="NAME",
            help="Create the token for a service account. The account is created if it does not exist.",
        )
        roles = [role.value for role in User.Role if role != User.Role.TENANT]
        parser.add_argument("--role", default="", choices=roles, help="Role of a new service account.")
        parser.add_argument(
            "--name", help="Purpose of the token, such as ci. Default: the name of the service account."
        )
        parser.add_argument(
            "--scope", action="append", choices=scopes, help="Scope of the token. Can be repeated. Default: read."
        )
        parser.add_argument(
            "--subtree",
            default="",
            help="Limit the token to the queue with this path and the queues below it. Default: all queues.",
        )
        lifetime = parser.add_mutually_exclusive_group()
        lifetime.add_argument("--days", type=int, default=days, help=f"Days until the token expires. Default: {days}.")
        lifetime.add_argument("--never-expires", action="store_true", help="Keep the token valid until it is revoked.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the token and print it on its own line, so that a script can read it."""
        del args
        try:
            plaintext = _made(options)
        except OverflowError as error:
            raise CommandError(_("The lifetime is too long.")) from error
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
        raise CommandError(_("Users already have a role. Use --role only with --service."))
    found = User.objects.filter(username=options["user"]).first()
    if found is None:
        raise CommandError(_("User %(name)s does not exist.") % {"name": options["user"]})
    return found

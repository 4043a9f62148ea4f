"""Create a local user with a role and tenants. The command prompts for the password or reads it from standard input:

`manage.py create_user alice --tenant red`
`manage.py create_user erin --edits red --password-stdin < password.txt`
"""

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services.users import create_user


class Command(BaseCommand):
    """Create a user."""

    help = "Create a local user with a role and tenants."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the name, the role, the tenants and the source of the password."""
        parser.add_argument("name", help="Username for signing in.")
        parser.add_argument(
            "--role",
            default=User.Role.TENANT,
            choices=User.Role.values,
            help="Role on the whole site. Default: %(default)s.",
        )
        parser.add_argument(
            "--tenant", action="append", default=[], help="Tenant that the user belongs to. Can be repeated."
        )
        parser.add_argument(
            "--edits", action="append", default=[], help="Tenant whose subtrees the user can edit. Can be repeated."
        )
        parser.add_argument("--email", default="", help="Email address of the user.")
        parser.add_argument("--reason", default="", help="Reason, kept in the audit log.")
        password = parser.add_mutually_exclusive_group()
        password.add_argument("--password-stdin", action="store_true", help="Read the password from standard input.")
        password.add_argument(
            "--no-password",
            action="store_true",
            help="Create the user without a password, for access by API token only.",
        )

    @sensitive_variables()
    def handle(self, *args: Any, **options: Any) -> None:
        """Create the user. Raises CommandError."""
        del args
        tenants, edits = (_tenants(options[name]) for name in ("tenant", "edits"))
        try:
            made = create_user(
                username=options["name"],
                password=_password(options),
                role=options["role"],
                tenants=tenants,
                edits=edits,
                email=options["email"],
                reason=options["reason"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(_("User %(name)s was created.") % {"name": made})


@sensitive_variables()
def _password(options: dict[str, Any]) -> str | None:
    """Return the password, None for no password. Raises CommandError if the two entries differ."""
    if options["no_password"]:
        return None
    if options["password_stdin"]:
        return sys.stdin.readline().rstrip("\r\n")
    first, again = getpass(_("Password: ")), getpass(_("Password (again): "))
    if first != again:
        raise CommandError(_("The passwords do not match."))
    return first


def _tenants(names: list[str]) -> list[Tenant]:
    """Return the tenants with these names. Raises CommandError."""
    found = {tenant.name: tenant for tenant in Tenant.objects.filter(name__in=names)}
    if missing := [name for name in names if name not in found]:
        raise CommandError(_("Tenant %(name)s does not exist.") % {"name": ", ".join(missing)})
    return list(found.values())

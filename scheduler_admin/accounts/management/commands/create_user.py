"""A local user with a role and tenants; the password is asked for, or read from the standard input:

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
    """Creates a user."""

    help = "Create a local user with a role and tenants."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the name, what the user may do, and where the password comes from."""
        parser.add_argument("name", help="what the user signs in by")
        parser.add_argument("--role", default=User.Role.TENANT, choices=User.Role.values, help="of the whole site")
        parser.add_argument(
            "--tenant", action="append", default=[], help="a tenant that the user belongs to; may be given again"
        )
        parser.add_argument(
            "--edits", action="append", default=[], help="a tenant whose subtrees the user changes; may be given again"
        )
        parser.add_argument("--email", default="", help="the user's e-mail address")
        parser.add_argument("--reason", default="", help="why, for the audit log")
        password = parser.add_mutually_exclusive_group()
        password.add_argument("--password-stdin", action="store_true", help="read the password from the standard input")
        password.add_argument("--no-password", action="store_true", help="let the user sign in by token only")

    @sensitive_variables()
    def handle(self, *args: Any, **options: Any) -> None:
        """Create the user, or say what is wrong."""
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
        self.stdout.write(_("User %(name)s is created.") % {"name": made})


@sensitive_variables()
def _password(options: dict[str, Any]) -> str | None:
    """Return the password; None: the user has none. Raises CommandError for two that differ."""
    if options["no_password"]:
        return None
    if options["password_stdin"]:
        return sys.stdin.readline().rstrip("\r\n")
    first, again = getpass(_("Password: ")), getpass(_("Password (again): "))
    if first != again:
        raise CommandError(_("The two passwords differ."))
    return first


def _tenants(names: list[str]) -> list[Tenant]:
    """Return the tenants of these names. Raises CommandError."""
    found = {tenant.name: tenant for tenant in Tenant.objects.filter(name__in=names)}
    if missing := [name for name in names if name not in found]:
        raise CommandError(_("There is no tenant %(name)s.") % {"name": ", ".join(missing)})
    return list(found.values())

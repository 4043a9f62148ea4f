"""Create a tenant with its namespaces and queue subtrees:

`manage.py create_tenant red --namespace red --namespace red-dev --subtree root.red`
"""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from scheduler_admin.accounts.services.tenants import create_tenant


class Command(BaseCommand):
    """Create a tenant."""

    help = "Create a tenant with its namespaces and queue subtrees."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the name, the namespaces and the subtrees."""
        parser.add_argument("name", help="Name of the tenant. It cannot contain a slash.")
        parser.add_argument(
            "--namespace", action="append", default=[], help="Namespace of the tenant. Can be repeated."
        )
        parser.add_argument(
            "--subtree",
            action="append",
            default=[],
            help="Path of a queue that belongs to the tenant, with the queues below it. Can be repeated.",
        )
        parser.add_argument("--reason", default="", help="Reason, kept in the audit log.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the tenant. Raises CommandError."""
        del args
        try:
            made = create_tenant(
                name=options["name"],
                namespaces=options["namespace"],
                subtrees=options["subtree"],
                reason=options["reason"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(_("Tenant %(name)s was created.") % {"name": made})

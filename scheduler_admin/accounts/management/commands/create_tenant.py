"""A tenant with its namespaces and subtrees of queues:

`manage.py create_tenant red --namespace red --namespace red-dev --subtree root.red`
"""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from scheduler_admin.accounts.services.tenants import create_tenant


class Command(BaseCommand):
    """Creates a tenant."""

    help = "Create a tenant: namespaces and subtrees of queues that belong together."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take its name, and what is the tenant's."""
        parser.add_argument("name", help="the tenant's name, without a slash")
        parser.add_argument("--namespace", action="append", default=[], help="may be given again")
        parser.add_argument(
            "--subtree", action="append", default=[], help="path of a queue, with all below it; may be given again"
        )
        parser.add_argument("--reason", default="", help="why, for the audit log")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create it, or say what is wrong."""
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
        self.stdout.write(_("Tenant %(name)s is created.") % {"name": made})

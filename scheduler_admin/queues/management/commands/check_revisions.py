"""Check that revisions were not changed after they were published: ``manage.py check_revisions [HIERARCHY]``."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.chain import first_break


class Command(BaseCommand):
    help = "Check that no revision was changed after it was published. Exits with 1 if one was."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("hierarchy", nargs="?", help="Name of the hierarchy. Default: all hierarchies.")

    def handle(self, *_args: Any, **options: Any) -> None:
        hierarchies = Hierarchy.objects.select_related("current").order_by("name")
        if options["hierarchy"]:
            hierarchies = hierarchies.filter(name=options["hierarchy"])
            if not hierarchies:
                raise CommandError(f"Hierarchy {options['hierarchy']} does not exist.")
        intact = [self._is_intact(hierarchy) for hierarchy in hierarchies]
        if not all(intact):
            sys.exit(1)

    def _is_intact(self, hierarchy: Hierarchy) -> bool:
        broken, current = first_break(hierarchy), hierarchy.current
        if broken is not None:
            self.stdout.write(f"{hierarchy}: revision {broken.number} is NOT valid: {broken.reason}.")
        elif current is None:
            self.stdout.write(f"{hierarchy}: no revisions.")
        else:
            self.stdout.write(
                f"{hierarchy}: revision {current.number} and all earlier revisions are valid. Digest: {current.digest}"
            )
        return broken is None

"""Whether revisions are as they were published: ``manage.py check_revisions [HIERARCHY]``."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.chain import first_break


class Command(BaseCommand):
    help = "Check the chain of every hierarchy's revisions. Ends with 1 if one does not hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("hierarchy", nargs="?", help="its name; default: all")

    def handle(self, *_args: Any, **options: Any) -> None:
        hierarchies = Hierarchy.objects.select_related("current").order_by("name")
        if options["hierarchy"]:
            hierarchies = hierarchies.filter(name=options["hierarchy"])
            if not hierarchies:
                raise CommandError(f"There is no hierarchy {options['hierarchy']}.")
        held = [self._holds(hierarchy) for hierarchy in hierarchies]
        if not all(held):
            sys.exit(1)

    def _holds(self, hierarchy: Hierarchy) -> bool:
        broken, current = first_break(hierarchy), hierarchy.current
        if broken is not None:
            self.stdout.write(f"{hierarchy}: revision {broken.number} does NOT hold: {broken.reason}.")
        elif current is None:
            self.stdout.write(f"{hierarchy}: there is no revision.")
        else:
            self.stdout.write(f"{hierarchy}: revision {current.number} and all before it hold, {current.digest}.")
        return broken is None

"""Stop evictions at once: ``manage.py pause CLUSTER --reason WHY``, or ``--all``."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from scheduler_admin.clusters.management.commands import resume
from scheduler_admin.clusters.safeguards.pauses import pause


class Command(BaseCommand):
    help = "Evict nothing from now on: in a cluster, in all, or for and from one queue with all below it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        resume.add_place(parser)
        parser.add_argument("--reason", required=True)
        parser.add_argument("--minutes", type=int, help="it ends by itself after so many; else when resumed")

    def handle(self, *_args: Any, **options: Any) -> None:
        cluster, minutes = resume.place(options), options["minutes"]
        until = None if minutes is None else timezone.now() + timedelta(minutes=minutes)
        try:
            pause(cluster=cluster, queue=options["queue"], actor=None, reason=options["reason"], until=until)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"Paused: {resume.told(options)}")

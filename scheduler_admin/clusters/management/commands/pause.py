"""Pause evictions immediately: ``manage.py pause CLUSTER --reason WHY``, or ``--all``."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from scheduler_admin.clusters.management.commands import resume
from scheduler_admin.clusters.safeguards.pauses import pause


class Command(BaseCommand):
    help = "Pause evictions in a cluster, in all clusters, or for and from one queue and the queues below it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        resume.add_place(parser)
        parser.add_argument("--reason", required=True, help="Reason, shown with the pause and kept in the audit log.")
        parser.add_argument("--minutes", type=int, help="Minutes until the pause ends. Default: until it is resumed.")

    def handle(self, *_args: Any, **options: Any) -> None:
        cluster, minutes = resume.place(options), options["minutes"]
        until = None if minutes is None else timezone.now() + timedelta(minutes=minutes)
        try:
            pause(cluster=cluster, queue=options["queue"], actor=None, reason=options["reason"], until=until)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"Paused: {resume.describe_place(options)}")

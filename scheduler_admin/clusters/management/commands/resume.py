"""End the pause that ``pause`` started at the same place: ``manage.py resume CLUSTER``, or ``--all``."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.models import Cluster, Pause
from scheduler_admin.clusters.safeguards.pauses import resume


def add_place(parser: ArgumentParser) -> None:
    """Add the place of a pause: a cluster, all clusters, or a queue of a cluster."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("cluster", nargs="?", help="Name of the cluster.")
    where.add_argument("--all", action="store_true", help="All clusters. Pauses of single clusters are separate.")
    parser.add_argument(
        "--queue", default="", metavar="PATH", help="Only this queue of the cluster and the queues below it."
    )


def place(options: Mapping[str, Any]) -> Cluster | None:
    """Return the cluster, None for all clusters. Raises CommandError."""
    if options["all"]:
        if options["queue"]:
            raise CommandError("Use --queue with the name of a cluster, not with --all.")
        return None
    try:
        return Cluster.objects.get(name=options["cluster"])
    except Cluster.DoesNotExist as error:
        raise CommandError(f"Cluster {options['cluster']} does not exist.") from error


def describe_place(options: Mapping[str, Any]) -> str:
    """Return the place of a pause as text."""
    return f"{options['cluster'] or 'all clusters'} {options['queue']}".strip()


class Command(BaseCommand):
    help = "End a pause and list the pauses that remain."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_place(parser)
        parser.add_argument("--reason", default="", help="Reason, kept in the audit log.")

    def handle(self, *_args: Any, **options: Any) -> None:
        cluster, queue = place(options), options["queue"]
        if not Pause.objects.of(cluster, queue).exists():
            raise CommandError(f"Not paused: {describe_place(options)}.")
        resume(cluster=cluster, queue=queue, actor=None, reason=options["reason"])
        self.stdout.write(f"Resumed: {describe_place(options)}")
        for left in Pause.objects.select_related("cluster"):
            self.stdout.write(f"Still paused: {left} since {left.at:%Y-%m-%d %H:%M} UTC by {left.by}: {left.reason}")

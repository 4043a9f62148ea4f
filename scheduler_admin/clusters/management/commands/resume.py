"""Let evictions go on: ``manage.py resume CLUSTER``, or ``--all``; it ends the very pause that ``pause`` made there."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.models import Cluster, Pause
from scheduler_admin.clusters.safeguards.pauses import resume


def add_place(parser: ArgumentParser) -> None:
    """Where: a cluster, or all; of a cluster, a queue."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("cluster", nargs="?")
    where.add_argument("--all", action="store_true", help="all clusters; their own pauses are apart from it")
    parser.add_argument(
        "--queue", default="", metavar="PATH", help="only this queue of the cluster and what lies below"
    )


def place(options: Mapping[str, Any]) -> Cluster | None:
    """The cluster, None for all. Raises CommandError."""
    if options["all"]:
        if options["queue"]:
            raise CommandError("A queue is one of a cluster: name it instead of --all.")
        return None
    try:
        return Cluster.objects.get(name=options["cluster"])
    except Cluster.DoesNotExist as error:
        raise CommandError(f"There is no cluster {options['cluster']}.") from error


def told(options: Mapping[str, Any]) -> str:
    """The place in words."""
    return f"{options['cluster'] or 'all clusters'} {options['queue']}".strip()


class Command(BaseCommand):
    help = "End a pause. Others may still hold: this says which."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_place(parser)
        parser.add_argument("--reason", default="")

    def handle(self, *_args: Any, **options: Any) -> None:
        cluster, queue = place(options), options["queue"]
        if not Pause.objects.of(cluster, queue).exists():
            raise CommandError(f"Not paused: {told(options)}.")
        resume(cluster=cluster, queue=queue, actor=None, reason=options["reason"])
        self.stdout.write(f"Resumed: {told(options)}")
        for left in Pause.objects.select_related("cluster"):
            self.stdout.write(f"Still paused: {left} since {left.at:%Y-%m-%d %H:%M} UTC by {left.by}: {left.reason}")

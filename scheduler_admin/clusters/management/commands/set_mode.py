"""Set the mode of a cluster: ``manage.py set_mode CLUSTER enforce --reason WHY``."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import set_mode


class Command(BaseCommand):
    help = "Set the mode of a cluster: observe, advise or enforce."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument("mode", choices=Cluster.Mode.values)
        parser.add_argument("--reason", required=True, help="Reason, kept in the audit log.")
        parser.add_argument(
            "--override",
            default="",
            metavar="CLUSTER",
            help="Name of the cluster, to confirm mode enforce although another scheduler preempts there.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            cluster = Cluster.objects.get(name=options["cluster"])
            set_mode(
                cluster=cluster,
                mode=options["mode"],
                actor=None,
                reason=options["reason"],
                override=options["override"],
            )
        except Cluster.DoesNotExist as error:
            raise CommandError(f"Cluster {options['cluster']} does not exist.") from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        self.stdout.write(f"Cluster {cluster} is now in mode {cluster.mode}.")

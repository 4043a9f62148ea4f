"""Add a cluster in mode observe: ``manage.py add_cluster NAME --hierarchy TREE --kubeconfig FILE``."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.services import add_cluster
from scheduler_admin.queues.models import Hierarchy


class Command(BaseCommand):
    help = "Add a cluster in mode observe. To change the mode, use set_mode."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="Name of the cluster in Scheduler Admin.")
        parser.add_argument(
            "--hierarchy", required=True, help="Hierarchy of queues for the cluster. Create it with import_queues."
        )
        parser.add_argument(
            "--kubeconfig", default="", help="Path of a kubeconfig. Default: the service account of the pod."
        )
        parser.add_argument("--context", default="", help="Context of the kubeconfig. Default: the current context.")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            hierarchy = Hierarchy.objects.get(name=options["hierarchy"])
            cluster = add_cluster(
                name=options["name"],
                hierarchy=hierarchy,
                kubeconfig=options["kubeconfig"],
                context=options["context"],
            )
        except Hierarchy.DoesNotExist as error:
            raise CommandError(
                f"Hierarchy {options['hierarchy']} does not exist. Create it with import_queues."
            ) from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        self.stdout.write(f"Cluster {cluster} was added in mode {cluster.mode}.")

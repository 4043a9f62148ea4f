"""Add a cluster in mode observe: ``manage.py add_cluster NAME --hierarchy TREE --kubeconfig FILE``."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.services import add_cluster
from scheduler_admin.queues.models import Hierarchy


class Command(BaseCommand):
    help = "Add a cluster. It is only observed until `set_mode` says otherwise."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--hierarchy", required=True, help="the tree that holds there; see import_queues")
        parser.add_argument("--kubeconfig", default="", help="a file; without it the pod's own service account")
        parser.add_argument("--context", default="")

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
                f"There is no hierarchy {options['hierarchy']}; publish one with import_queues."
            ) from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        self.stdout.write(f"{cluster}: {cluster.mode}")

"""Forget a cluster: ``manage.py remove_cluster NAME --reason WHY``."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.worker.cluster_removal import remove_cluster


class Command(BaseCommand):
    help = "Forget a cluster and its credentials; nothing is done in the cluster itself, and its tree stays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument("--reason", required=True)
        parser.add_argument("--with-history", action="store_true", help="and its decisions, usage and journal")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            cluster = Cluster.objects.get(name=options["cluster"])
            remove_cluster(cluster=cluster, actor=None, reason=options["reason"], with_history=options["with_history"])
        except Cluster.DoesNotExist as error:
            raise CommandError(f"There is no cluster {options['cluster']}.") from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        self.stdout.write(f"{cluster} is forgotten.")

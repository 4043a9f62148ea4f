"""Remove a cluster: ``manage.py remove_cluster NAME --reason WHY``."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.worker.cluster_removal import remove_cluster


class Command(BaseCommand):
    help = (
        "Remove a cluster and its credentials from Scheduler Admin. The cluster itself is not changed, "
        "and its hierarchy is kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument("--reason", required=True, help="Reason, kept in the audit log.")
        parser.add_argument("--with-history", action="store_true", help="Also delete its decisions, usage and journal.")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            cluster = Cluster.objects.get(name=options["cluster"])
            remove_cluster(cluster=cluster, actor=None, reason=options["reason"], with_history=options["with_history"])
        except Cluster.DoesNotExist as error:
            raise CommandError(f"Cluster {options['cluster']} does not exist.") from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        self.stdout.write(f"Cluster {cluster} was removed.")

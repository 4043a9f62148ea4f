"""Check permissions and other requirements in a cluster: ``manage.py check_cluster NAME --mode enforce``."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engine.cluster.inspection.check import CheckLevel
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.worker.cluster_check import check_cluster

_MARKS = {CheckLevel.OK: "ok      ", CheckLevel.WARNING: "warning ", CheckLevel.ERROR: "ERROR   "}


class Command(BaseCommand):
    help = "Check whether a cluster can be used in its current mode or in another one. Exits with 1 if it cannot."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument(
            "--mode",
            default="",
            choices=Cluster.Mode.values,
            help="Mode to check. Default: the current mode of the cluster.",
        )
        parser.add_argument("--json", action="store_true", help="Print the report as JSON.")

    def handle(self, *_args: Any, **options: Any) -> None:
        found = Cluster.objects.select_related("hierarchy__current", "credentials").filter(name=options["cluster"])
        cluster = found.first()
        if cluster is None:
            raise CommandError(f"Cluster {options['cluster']} does not exist.")
        report = check_cluster(cluster=cluster, mode=options["mode"])
        if options["json"]:
            lines = [{"subject": one.subject, "level": one.level, "text": str(one)} for one in report.lines]
            self.stdout.write(json.dumps({"mode": report.mode, "well": report.well, "lines": lines}))
        else:
            width = max(len(one.label) for one in report.lines)
            for one in report.lines:
                self.stdout.write(f"{_MARKS[one.level]}{one.subject:<{width}}  {one}")
            self.stdout.write(f"{cluster} {'can' if report.well else 'CANNOT'} be used in {report.mode} mode.")
        if not report.well:
            sys.exit(1)

"""Store new credentials for a cluster: ``manage.py set_credentials NAME --reason WHY < kubeconfig``."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.views.decorators.debug import sensitive_variables

from engine.cluster.connecting.kubeconfig import LONGEST
from engine.cluster.errors import ClusterError
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.credentials import remove_credentials, set_credentials
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.models import Cluster


class Command(BaseCommand):
    help = (
        "Store credentials for a cluster: a kubeconfig from standard input, or a token with --address. "
        "They are tested first and stored encrypted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument("--reason", required=True, help="Reason, kept in the audit log.")
        parser.add_argument("--context", default="", help="Context of the kubeconfig. Default: the current context.")
        parser.add_argument(
            "--address",
            default="",
            help="Address of the API server, such as https://host:port. Standard input must then contain a token.",
        )
        parser.add_argument(
            "--ca",
            default="",
            metavar="FILE",
            help="With --address: PEM file with the CA certificate of the API server.",
        )
        parser.add_argument("--remove", action="store_true", help="Delete the stored credentials instead.")

    @sensitive_variables()
    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            cluster = Cluster.objects.get(name=options["cluster"])
            if options["remove"]:
                removed = remove_credentials(cluster=cluster, actor=None, reason=options["reason"])
                done = "The stored credentials were deleted." if removed else "There are no stored credentials."
                self.stdout.write(f"{cluster}: {done}")
                return
            row = set_credentials(cluster=cluster, way=_way(options), actor=None, reason=options["reason"])
        except Cluster.DoesNotExist as error:
            raise CommandError(f"Cluster {options['cluster']} does not exist.") from error
        except ClusterError as error:
            raise CommandError(told(error)) from error
        except (ValidationError, OSError, UnicodeDecodeError) as error:
            raise CommandError("; ".join(getattr(error, "messages", [str(error)]))) from error
        expiry = f", expires {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else ""
        self.stdout.write(f"{cluster}: credentials stored for {row.address} ({row.kind}{expiry})")


@sensitive_variables()
def _way(options: dict[str, Any]) -> Way:
    given = sys.stdin.read(LONGEST)
    if not options["address"]:
        return Way.by_text(given, options["context"])
    ca = Path(options["ca"]).read_text(encoding="utf-8") if options["ca"] else ""
    return Way.by_token(options["address"], given, ca)

"""Write the published tree to the cluster's configuration: ``manage.py apply_tree NAME --reason WHY``."""

from argparse import ArgumentParser
from time import sleep
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ClusterError
from engine.cluster.inspection.rights import CONFIG
from engine.cluster.sync.copies import CopyEffect
from engine.formats.registry import SYSTEMS, Format
from engine.formats.tree_json.diff import QueueChange, describe_change
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.sync.services import OvertakenError, ask_to_write, copy_of
from scheduler_admin.sync.state import Standing, differences, standing
from scheduler_admin.sync.visits import CLAIM, SETTLING, visit

_STANDINGS = {
    Standing.NONE: "nothing to compare with revision {}",
    Standing.UNREADABLE: "not readable as a queue tree, so not comparable with revision {}",
    Standing.IN_SYNC: "same as revision {}",
    Standing.NOT_APPLIED: "same as revision {}, but rejected by its scheduler",
    Standing.OUTDATED: "older than revision {}",
    Standing.CHANGED: "changed by others since revision {}",
    Standing.DIVERGED: "changed by others and different from revision {}",
}


def _place(copy: Copy) -> str:
    """Return the name of the objects that hold the cluster's queue configuration."""
    if copy.form == Format.YUNIKORN:
        return f"ConfigMap {copy.namespace}/{CONFIG}"
    return "Kueue objects" if copy.form == Format.KUEUE else "Consumers"


def _managed_by_others(writing: Writing) -> str:
    fields = "".join(f"\n  {one['object']} {one['field']}: {one['message']}" for one in writing.clashes)
    return (
        f"Nothing was written, because other managers own these fields:{fields}\n"
        f"To take them over, use --take-over {writing.pk}"
    )


class Command(BaseCommand):
    help = (
        "Write the published tree to the configuration of the cluster's own scheduler: YuniKorn's ConfigMap, "
        "Kueue objects or Consumers. Without --reason, only print what would change."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument(
            "--reason", default="", help="Reason, kept in the audit log. Without it, nothing is written."
        )
        parser.add_argument(
            "--namespace", default="", help="Namespace of the ConfigMap. Needed only if it was never read before."
        )
        parser.add_argument(
            "--overwrite",
            default="",
            metavar="VERSION",
            help="Overwrite the changes that others made, if the configuration still has this version.",
        )
        parser.add_argument(
            "--take-over",
            type=int,
            default=0,
            metavar="REQUEST",
            help="Take over the fields that other managers own, as reported for the request with this number.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        cluster = Cluster.objects.select_related("hierarchy__current", "credentials").filter(name=options["cluster"])
        found = cluster.first()
        if found is None:
            raise CommandError(f"Cluster {options['cluster']} does not exist.")
        try:
            self._run(found, options)
        except ClusterError as error:
            raise CommandError(told(error)) from error
        except OvertakenError as error:
            raise CommandError(
                "The configuration in the cluster or the published tree has changed. Run the command again."
            ) from error
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error

    def _run(self, cluster: Cluster, options: dict[str, Any]) -> None:
        connection = Connection(Way.to(cluster).settings())
        copy = self._visited(cluster, connection, options["namespace"])
        current = cluster.hierarchy.current if cluster.hierarchy else None
        if current is None or not copy.there:
            missing = "No tree is published." if current is None else "The cluster has no queue configuration."
            raise CommandError(missing)
        if self._print_comparison(copy, current) is Standing.IN_SYNC or not options["reason"]:
            return
        writing = ask_to_write(
            cluster=cluster,
            revision=current.pk,
            version=copy.version,
            overwrite=options["overwrite"] == copy.version,
            actor=None,
            reason=options["reason"],
            over=options["take_over"],
        )
        copy = self._visited(cluster, connection, options["namespace"])
        writing.refresh_from_db()
        if writing.state == Writing.State.NEEDS_CONFIRMATION:
            raise CommandError(_managed_by_others(writing))
        if writing.state != Writing.State.WRITTEN:
            raise CommandError(f"{writing.get_state_display()}: {writing.note}")
        self.stdout.write(f"Revision {current.number} was written to {_place(copy)}.")
        self._report_effect(self._settled(copy, cluster, connection))

    def _settled(self, copy: Copy, cluster: Cluster, connection: Connection) -> Copy:
        """Wait until the scheduler uses the configuration, or its time is over, and return the configuration."""
        while copy.effect == CopyEffect.PENDING:
            self.stdout.write(f"Waiting until {SYSTEMS[copy.form]} uses it …")
            sleep(SETTLING.total_seconds())
            copy = self._visited(cluster, connection, copy.namespace)
        return copy

    def _report_effect(self, copy: Copy) -> None:
        scheduler = SYSTEMS[copy.form]
        if copy.effect == CopyEffect.REJECTED:
            raise CommandError(
                f"{scheduler} does not use it: {copy.effect_note or 'it keeps its previous configuration'}"
            )
        if copy.effect == CopyEffect.APPLIED:
            self.stdout.write(f"{scheduler} uses it.")
        else:
            self.stdout.write(f"Whether {scheduler} uses it is unknown. {copy.effect_note}".rstrip())

    def _visited(self, cluster: Cluster, connection: Connection, namespace: str) -> Copy:
        """Read the configuration from the cluster now, after carrying out a pending write."""
        copy, now = copy_of(cluster), timezone.now()
        Copy.objects.filter(pk=copy.pk).update(due_at=now + CLAIM)
        visit(copy=copy, connection=connection, namespaces=(namespace,) if namespace else (), now=now)
        copy = Copy.objects.select_related("agreed_with").get(pk=copy.pk)
        if copy.error:
            raise CommandError(copy.error)
        return copy

    def _print_comparison(self, copy: Copy, current: Revision) -> Standing:
        """Print how the configuration compares with the published tree, and what writing would change."""
        found, between = standing(copy, current), differences(copy, current)
        by = f", last written by {copy.writer} at {copy.written_at:%Y-%m-%d %H:%M} UTC" if copy.written_at else ""
        self.stdout.write(f"{_place(copy)}: {_STANDINGS[found].format(current.number)}{by}")
        if between is not None:
            self._list("Changes by others:", between.there)
            self._list(f"Changes from writing revision {current.number}:", between.writing)
        if found.drifted:
            self.stdout.write(f"Writing undoes the changes by others. To confirm, use --overwrite {copy.version}")
        return found

    def _list(self, heading: str, changes: tuple[QueueChange, ...]) -> None:
        if changes:
            self.stdout.write(heading)
        for change in changes:
            for message in describe_change(change):
                self.stdout.write(f"  {message!s}")

"""Write the revision in force over the cluster's own copy of the tree: ``manage.py apply_tree NAME --reason WHY``."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from engine.changes import Change, sentences
from engine.cluster.connection import Connection
from engine.cluster.errors import ClusterError
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.told import told
from scheduler_admin.clusters.ways import Way
from scheduler_admin.copies.models import Copy, Writing
from scheduler_admin.copies.services import OvertakenError, ask_to_write, copy_of
from scheduler_admin.copies.standing import Standing, differences, standing
from scheduler_admin.copies.tending import CLAIM, visit
from scheduler_admin.queues.models import Revision


class Command(BaseCommand):
    help = (
        "Write the revision in force over the tree that the cluster's own scheduler goes by (YuniKorn's ConfigMap). "
        "Without --reason only what that would change is printed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument("--reason", default="", help="why; without one nothing is written")
        parser.add_argument("--namespace", default="", help="of the ConfigMap, where it was not looked at yet")
        parser.add_argument("--overwrite", default="", metavar="VERSION", help="take back what others wrote in it")

    def handle(self, *_args: Any, **options: Any) -> None:
        cluster = Cluster.objects.select_related("hierarchy__current", "credentials").filter(name=options["cluster"])
        found = cluster.first()
        if found is None:
            raise CommandError(f"There is no cluster {options['cluster']}.")
        try:
            self._run(found, options)
        except ClusterError as error:
            raise CommandError(told(error)) from error
        except OvertakenError as error:
            raise CommandError("The copy, or the revision in force, changed meanwhile: look again.") from error
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error

    def _run(self, cluster: Cluster, options: dict[str, Any]) -> None:
        connection = Connection(Way.to(cluster).settings())
        copy = self._visited(cluster, connection, options["namespace"])
        current = cluster.hierarchy.current if cluster.hierarchy else None
        if current is None or not copy.there:
            raise CommandError("There is no revision in force." if current is None else "The cluster keeps no tree.")
        if self._told(copy, current) is Standing.IN_STEP or not options["reason"]:
            return
        writing = ask_to_write(
            cluster=cluster,
            revision=current.pk,
            version=copy.version,
            overwrite=options["overwrite"] == copy.version,
            actor=None,
            reason=options["reason"],
        )
        self._visited(cluster, connection, options["namespace"])
        writing.refresh_from_db()
        if writing.state != Writing.State.DONE:
            raise CommandError(f"{writing.get_state_display()}: {writing.note}")
        self.stdout.write(f"Revision {current.number} is written to {copy.namespace}.")

    def _visited(self, cluster: Cluster, connection: Connection, namespace: str) -> Copy:
        """The copy as it is now; what was asked for is done by then."""
        copy, now = copy_of(cluster), timezone.now()
        Copy.objects.filter(pk=copy.pk).update(due_at=now + CLAIM)
        visit(copy=copy, connection=connection, namespaces=(namespace,) if namespace else (), now=now)
        copy = Copy.objects.select_related("agreed_with").get(pk=copy.pk)
        if copy.error:
            raise CommandError(copy.error)
        return copy

    def _told(self, copy: Copy, current: Revision) -> Standing:
        """Print how the two stand, and what writing changes."""
        found, between = standing(copy, current), differences(copy, current)
        by = f", written by {copy.writer} at {copy.written_at:%Y-%m-%d %H:%M} UTC" if copy.written_at else ""
        self.stdout.write(f"{copy.namespace}: {found.value} with revision {current.number}{by}")
        if between is not None:
            self._list("Changed there by others:", between.there)
            self._list(f"What writing revision {current.number} changes there:", between.writing)
        if found.drifted:
            self.stdout.write(f"It takes back what others wrote: confirm with --overwrite {copy.version}")
        return found

    def _list(self, heading: str, changes: tuple[Change, ...]) -> None:
        if changes:
            self.stdout.write(heading)
        for change in changes:
            for message in sentences(change):
                self.stdout.write(f"  {message.id % message.params}")

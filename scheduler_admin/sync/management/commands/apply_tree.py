"""Write the revision in force over the cluster's own copy of the tree: ``manage.py apply_tree NAME --reason WHY``."""

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
    Standing.NONE: "there is nothing to compare with",
    Standing.UNREAD: "can't be read as a tree, to be compared with",
    Standing.IN_STEP: "the same as",
    Standing.REFUSED: "the same as, but not used by its scheduler,",
    Standing.AHEAD: "older than",
    Standing.CHANGED: "changed by others since",
    Standing.BOTH: "changed by others, and other than",
}


def _place(copy: Copy) -> str:
    """Where the cluster keeps its tree."""
    if copy.form == Format.YUNIKORN:
        return f"ConfigMap {copy.namespace}/{CONFIG}"
    return "Kueue's objects" if copy.form == Format.KUEUE else "the Consumers"


def _managed_by_others(writing: Writing) -> str:
    fields = "".join(f"\n  {one['object']} {one['field']}: {one['message']}" for one in writing.clashes)
    return f"Nothing was written, as others manage these fields:{fields}\nTake them over with --take-over {writing.pk}"


class Command(BaseCommand):
    help = (
        "Write the revision in force over the tree that the cluster's own scheduler uses: YuniKorn's ConfigMap, "
        "Kueue's objects or Consumers. Without --reason, only print what that would change."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster")
        parser.add_argument("--reason", default="", help="why; without one nothing is written")
        parser.add_argument("--namespace", default="", help="of the ConfigMap, where it was not looked at yet")
        parser.add_argument("--overwrite", default="", metavar="VERSION", help="take back what others wrote in it")
        parser.add_argument(
            "--take-over",
            type=int,
            default=0,
            metavar="REQUEST",
            help="take over the fields that an earlier request (its number) reported to be managed by others",
        )

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
            over=options["take_over"],
        )
        copy = self._visited(cluster, connection, options["namespace"])
        writing.refresh_from_db()
        if writing.state == Writing.State.CLASH:
            raise CommandError(_managed_by_others(writing))
        if writing.state != Writing.State.DONE:
            raise CommandError(f"{writing.get_state_display()}: {writing.note}")
        self.stdout.write(f"Revision {current.number} is written to {_place(copy)}.")
        self._report_effect(self._settled(copy, cluster, connection))

    def _settled(self, copy: Copy, cluster: Cluster, connection: Connection) -> Copy:
        """The copy once its scheduler has taken it over, or has had the time to."""
        while copy.effect == CopyEffect.PENDING:
            self.stdout.write(f"Waiting for {SYSTEMS[copy.form]} to use it …")
            sleep(SETTLING.total_seconds())
            copy = self._visited(cluster, connection, copy.namespace)
        return copy

    def _report_effect(self, copy: Copy) -> None:
        scheduler = SYSTEMS[copy.form]
        if copy.effect == CopyEffect.REFUSED:
            raise CommandError(f"{scheduler} does not use it: {copy.effect_note or 'it keeps what it had'}")
        if copy.effect == CopyEffect.IN_FORCE:
            self.stdout.write(f"{scheduler} uses it.")
        else:
            self.stdout.write(f"It is not known whether {scheduler} uses it. {copy.effect_note}".rstrip())

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
        self.stdout.write(f"{_place(copy)}: {_STANDINGS[found]} revision {current.number}{by}")
        if between is not None:
            self._list("Changed there by others:", between.there)
            self._list(f"What writing revision {current.number} changes there:", between.writing)
        if found.drifted:
            self.stdout.write(f"Writing takes back what others wrote: confirm with --overwrite {copy.version}")
        return found

    def _list(self, heading: str, changes: tuple[QueueChange, ...]) -> None:
        if changes:
            self.stdout.write(heading)
        for change in changes:
            for message in describe_change(change):
                self.stdout.write(f"  {message!s}")

"""Connect a cluster read-only: ``manage.py connect --context NAME``."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from engine.cluster.connecting.kubeconfig import LONGEST, default_path
from engine.cluster.errors import ClusterError
from engine.formats.registry import SYSTEMS
from engine.model.quantities import PODS, format_amounts
from engine.observation.discovery import ClusterFacts, FoundScheduler
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.connect import Look, connect, look
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.models import Cluster

_SHOWN = 20


class Command(BaseCommand):
    help = "Read a cluster and add it in mode observe. Nothing is written to the cluster. A second run changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--context", default="", help="Context of the kubeconfig. Default: the current context.")
        parser.add_argument(
            "--kubeconfig", default="", help="Path of a kubeconfig. Default: $KUBECONFIG, or ~/.kube/config."
        )
        parser.add_argument(
            "--stdin", action="store_true", help="Read a kubeconfig from standard input and store it encrypted."
        )
        parser.add_argument(
            "--in-cluster", action="store_true", help="Use the service account of the pod that runs this command."
        )
        parser.add_argument(
            "--name", default="", help="Name of the cluster in Scheduler Admin. Default: derived from the context."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            seen = look(way=_way(options), name=options["name"])
            cluster = connect(seen=seen, actor=None)
        except ClusterError as error:
            raise CommandError(told(error)) from error
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error
        for line in (*_found(seen.found), *_tree(seen), *_next(seen, cluster)):
            self.stdout.write(line)


def _way(options: dict[str, Any]) -> Way:
    if options["in_cluster"]:
        return Way()
    if options["stdin"]:
        return Way.by_text(sys.stdin.read(LONGEST), options["context"])
    return Way.by_file(options["kubeconfig"] or default_path(), options["context"])


def _found(found: ClusterFacts) -> Iterator[str]:
    """Yield a summary of the objects in the cluster."""
    capacity = ", ".join(f"{name} {amount}" for name, amount in format_amounts(found.capacity).items() if name != PODS)
    yield f"Kubernetes {found.version or '(unknown version)'}"
    yield f"  nodes               {found.nodes}: {capacity}"
    yield f"  pods                {found.running} running, {found.pending} pending"
    classes = ", ".join(
        f"{one.name} {one.value}{' (never preempts)' if one.never_preempts else ''}" for one in found.classes
    )
    yield f"  priority classes    {len(found.classes)}: {classes}"
    yield f"  disruption budgets  {found.budgets}"
    yield f"  resource quotas     {found.quotas}"
    for number, one in enumerate(found.schedulers):
        yield f"  {'' if number else 'schedulers':<19} {one.name}: {_known_by(one)}"
    for what in found.unread:
        yield f"  not allowed to {what}; continued without it"
    for sentence in found.odd:
        yield f"  skipped: {sentence}"


def _known_by(one: FoundScheduler) -> str:
    signs = [f"{one.named_by} pods use it"] if one.named_by else []
    signs += [f"runs as {', '.join(one.own_pods)}"] if one.own_pods else []
    signs += [f"serves the API groups {', '.join(one.groups)}"] if one.groups else []
    return "; ".join(signs)


def _tree(seen: Look) -> Iterator[str]:
    """Yield the queues, those with the most pods first."""
    leaves = sorted(seen.found.leaves, key=lambda leaf: (-leaf.pods, leaf.path))
    yield f"  queues              {len(leaves)} leaves"
    for leaf in leaves[:_SHOWN]:
        named = f" (namespace {', '.join(leaf.namespaces)})" if leaf.namespaces else ""
        yield f"    {leaf.path}: {leaf.pods} pods{named}"
    if len(leaves) > _SHOWN:
        yield f"    and {len(leaves) - _SHOWN} more"
    if seen.found.unplaced:
        yield f"  {seen.found.unplaced} pods run without a queue of the tree"
    for note in (*seen.proposal.notes, *seen.proposal.refused):
        yield f"  {SYSTEMS[seen.proposal.scheduler]}'s tree: {note.severity}: {note}"


def _next(seen: Look, cluster: Cluster) -> Iterator[str]:
    """Yield what the command did and what to do next."""
    page = f"{settings.SITE_URL}/clusters/{cluster.name}/queues/"
    if seen.known:
        yield f"{cluster} was already connected and is unchanged. Its mode is {cluster.mode}. {page}"
        return
    tree = f"the queue tree {seen.revision}" if seen.revision else "a new queue tree, revision 1"
    yield f"{cluster} is connected in mode {cluster.mode} with {tree}. Nothing is written to the cluster."
    yield f"  View the queues    {page} (filled within seconds by the engine worker)"
    yield f"  Edit the tree      {settings.SITE_URL}/clusters/{cluster.name}/editor/"
    yield f"                     or manage.py import_queues {cluster.hierarchy} queues.yaml --reason WHY"
    yield f"  Get advice         manage.py set_mode {cluster} advise --reason WHY (evicts no pods)"

"""A cluster of one's own: looked at, then added in mode observe with a tree that fits it as it stands."""

import re
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from engine.cluster.connecting.identity import LIMIT_S
from engine.cluster.errors import ClusterError
from engine.cluster.inspection.scan import scan_cluster
from engine.model.notes import ImportFailure
from engine.observation.discovery import ClusterFacts, TreeProposal, facts, propose
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.credentials import check_uid, keep
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.connections.programs import note_program
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import add_cluster
from scheduler_admin.core import limits
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.services.hierarchies import Native, OrphansError, default_terms, publish_as, tree_of


@dataclass(frozen=True)
class Look:
    """What a look at a cluster brought, and what would come of connecting it."""

    name: str
    way: Way
    uid: str
    known: Cluster | None
    """The cluster, where it has been connected before."""
    revision: Revision | None
    """The tree that holds there already, or would; None: ``proposal`` would be published."""
    proposal: TreeProposal
    found: ClusterFacts
    """As it lies in the tree that holds, or in the proposed one."""


@sensitive_variables()
def look(*, way: Way, name: str = "", actor: User | None = None, limit_s: float = LIMIT_S) -> Look:
    """Read a cluster, and write nothing: neither there nor here, but who had a program run to sign in.

    An empty ``name`` is made of the context's. Raises ValidationError with a sentence for people, at the field that it
    concerns.
    """
    try:
        way = way.chosen()
        known = _known(name.strip() or _name_of(way.context), way, asked=bool(name.strip()))
        note_program(way=way, actor=actor, target=name.strip() or slug(way.context))
        read = scan_cluster(way.settings(), limit_s=limit_s)
    except ClusterError as error:
        raise ValidationError(told(error)) from None
    check_uid(read.uid, known)
    named = known.name if known else name.strip() or slug(way.context)
    revision, proposal = _tree_there(known, named), propose(read)
    found = facts(read, tree_of(revision) if revision else proposal.tree)
    return Look(named, way, read.uid, known, revision, proposal, found)


@transaction.atomic
def connect(*, seen: Look, actor: User | None) -> Cluster:
    """Add a cluster that was looked at, in mode observe, with its tree; all of it, or nothing.

    What is there already stays as it is: a known cluster, and a tree of its name. Raises ValidationError.
    """
    if seen.known is not None and seen.revision is not None:
        return seen.known
    revision = seen.revision or _publish(seen, actor)
    if seen.known is not None:
        seen.known.hierarchy = revision.hierarchy
        seen.known.full_clean()
        seen.known.save(update_fields=["hierarchy"])
        return seen.known
    way = seen.way
    cluster = add_cluster(
        name=seen.name,
        hierarchy=revision.hierarchy,
        kubeconfig=way.path,
        context="" if way.text else way.context,
        uid=seen.uid,
        actor=actor,
    )
    if way.text:
        keep(cluster=cluster, way=way, actor=actor)
    return cluster


def slug(context: str) -> str:
    """A cluster's name out of a context's: ``gke_acme_eu_prod`` -> ``gke-acme-eu-prod``."""
    return re.sub(r"[^a-z0-9]+", "-", context.lower()).strip("-")[: limits.CLUSTER_NAME].strip("-")


def _name_of(context: str) -> str:
    name = slug(context)
    if not context:
        raise ValidationError({"name": _("Enter a name for the cluster.")})
    if not name:
        raise ValidationError(
            {"name": _("No cluster name can be derived from the context %(name)s. Enter a name.") % {"name": context}}
        )
    return name


def _publish(seen: Look, actor: User | None) -> Revision:
    origins = {
        "yunikorn": _("Imported from YuniKorn when the cluster was connected."),
        "kueue": _("Imported from Kueue when the cluster was connected."),
        "volcano": _("Imported from Volcano when the cluster was connected."),
        "consumers": _("Imported from the cluster’s Consumers when the cluster was connected."),
        "labels": _("Created from the queue labels of the pods when the cluster was connected."),
        "namespaces": _("One queue per namespace, created when the cluster was connected."),
    }
    origin = seen.proposal.origin
    native = Native(origin, seen.proposal.text) if seen.proposal.text else Native()
    reason = origins[origin]
    try:
        terms = default_terms(native.format)._replace(**seen.proposal.terms)
        tree = seen.proposal.tree
        return publish_as(name=seen.name, tree=tree, author=actor, reason=reason, native=native, terms=terms)
    except ImportFailure as failure:
        raise ValidationError([str(note) for note in failure.notes]) from failure
    except OrphansError as error:  # of another cluster with a tree of that name
        raise ValidationError(str(error)) from error


def _known(name: str, way: Way, *, asked: bool) -> Cluster | None:
    """The cluster of that name, or reached this way. Raises ValidationError where the name is another's."""
    same = Q(pk__in=[]) if way.text else Q(kubeconfig=way.path, context=way.context, credentials=None)
    found = Cluster.objects.filter(Q(name=name) & same).first()
    if found is None and not asked:
        found = Cluster.objects.filter(same).first()
    if found is None and Cluster.objects.filter(name=name).exists():
        message = _("A cluster named %(name)s already exists and uses a different connection. Choose another name.")
        raise ValidationError({"name": message % {"name": name}})
    if found is None:
        Cluster(name=name, kubeconfig=way.path, context=way.context).full_clean()
    return found


def _tree_there(known: Cluster | None, name: str) -> Revision | None:
    hierarchy = known.hierarchy if known else None
    hierarchy = hierarchy or Hierarchy.objects.select_related("current").filter(name=name).first()
    return hierarchy.current if hierarchy else None

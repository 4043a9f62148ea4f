"""Clusters: those that there are, and one more, which is looked at and then connected in mode observe."""

from typing import Any

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.cluster.errors import ClusterError
from engine.formats.tree_json.document import write_form
from engine.observation.discovery import Leaf, TreeProposal
from scheduler_admin.clusters.api.connections import GivenSerializer, WrongCredentials, way_of
from scheduler_admin.clusters.api.serializers import ClusterSerializer, ClustersSerializer
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.connect import Look, connect, look
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.queues.api.tree_serializers import TreeSerializer
from scheduler_admin.queues.notes import said
from scheduler_admin.rest.base import tagged
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.fields import AmountsField
from scheduler_admin.rest.viewsets import Listed, Retrieved


class ConnectParameters(serializers.Serializer[Any]):
    """How far to go."""

    dry_run = serializers.BooleanField(default=False, help_text="Look at it, say what would come, and add nothing.")


class NewClusterSerializer(GivenSerializer):
    """A cluster and the way to it: a kubeconfig, a file with one, or an address with a token."""

    name = serializers.CharField(
        required=False, max_length=limits.CLUSTER_NAME, help_text="What it is called here; default: after its context."
    )
    file = serializers.CharField(
        required=False,
        max_length=limits.ADDRESS,
        help_text="A kubeconfig of those that this installation offers; it is read whenever it is needed.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of the ways, whole."""
        if "file" not in attrs:
            return super().validate(attrs)
        if {"kubeconfig", "address", "token", "ca"} & attrs.keys():
            raise serializers.ValidationError(_("Give a kubeconfig, a file, or an address and a token: one of them."))
        return attrs


class ClassSerializer(serializers.Serializer[Any]):
    """A priority class."""

    name = serializers.CharField()
    value = serializers.IntegerField()


class SchedulerSerializer(serializers.Serializer[Any]):
    """A scheduler that runs there."""

    name = serializers.CharField()
    named_by = serializers.IntegerField(help_text="Pods that name it.")


class LeafSerializer(serializers.Serializer[Leaf]):
    """A leaf of the tree and what runs in it now."""

    path = serializers.CharField()
    pods = serializers.IntegerField()
    namespaces = serializers.ListField(child=serializers.CharField())


class SurveySerializer(serializers.Serializer[Any]):
    """What is there."""

    version = serializers.CharField()
    nodes = serializers.IntegerField()
    capacity = AmountsField()
    running = serializers.IntegerField()
    pending = serializers.IntegerField()
    classes = ClassSerializer(many=True, help_text="The highest first.")
    budgets = serializers.IntegerField()
    quotas = serializers.IntegerField()
    schedulers = SchedulerSerializer(many=True)
    leaves = LeafSerializer(many=True)
    unplaced = serializers.IntegerField(help_text="Pods that run in no queue of the tree.")
    unread = serializers.ListField(child=serializers.CharField(), help_text="What may not be read: verb and resource.")
    odd = serializers.ListField(child=serializers.CharField(), help_text="Objects that could not be read.")


class ProposedSerializer(serializers.Serializer[Any]):
    """The tree that fits the cluster as it stands."""

    origin = serializers.ChoiceField(
        ["yunikorn", "kueue", "volcano", "consumers", "labels", "namespaces"], help_text="What its queues come from."
    )
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="What reading the scheduler's tree has to say."
    )
    tree = TreeSerializer()


class ConnectedSerializer(serializers.Serializer[Any]):
    """A cluster that was looked at, and connected unless that was a dry run."""

    name = serializers.CharField()
    known = serializers.BooleanField(help_text="It was connected before and stays as it is.")
    revision = serializers.IntegerField(allow_null=True, help_text="Of the tree of its name that is there already.")
    proposal = ProposedSerializer(allow_null=True, help_text="The tree that it gets, where there is none of its name.")
    found = SurveySerializer()


class ClusterViewSet(Listed, Retrieved):
    """All clusters that you may see, with what the last pass read of them."""

    actions = {"GET": "view", "POST": "connect"}
    queries = {"POST": ConnectParameters}
    tag = "clusters"
    resource = "cluster", "clusters"
    operations = {"create": "connect_cluster"}
    queryset = Cluster.objects.select_related("status", "hierarchy__current")
    serializer_class = ClusterSerializer
    list_class = ClustersSerializer
    body_class = NewClusterSerializer
    lookup_field = "name"
    lookup_value_converter = "slug"

    def get_serializer_context(self) -> dict[str, Any]:
        """Add what the reader may see."""
        return {**super().get_serializer_context(), "scope": self.scope}

    def get_object(self) -> Cluster:
        """Return the cluster that the address names. Raises Http404."""
        return self.cluster(self.kwargs["name"])

    def list(self, request: Request, **place: Any) -> Response:
        """Return all clusters that the reader may see, with an ETag that their age does not change."""
        return tagged(dict(super().list(request, **place).data), but="age_seconds")

    def retrieve(self, request: Request, **place: Any) -> Response:
        """Mode, pause, last pass, capacity, age of what is known, and why it can't be read if it can't."""
        return tagged(dict(super().retrieve(request, **place).data), but="age_seconds")

    @extend_schema(
        responses={
            200: OpenApiResponse(ConnectedSerializer, description="A dry run, or it was connected before."),
            201: ConnectedSerializer,
        }
    )
    @sensitive_variables()
    def create(self, request: Request) -> Response:
        """Look at a cluster, then add it in mode observe with a tree that fits it. Nothing is written to it.

        It takes some seconds, twenty at most. For admins.
        """
        sent = read_body(self.body_class(data=request.data), request.data)
        seen = look(way=_way(sent), name=sent.get("name", ""), actor=self.user)
        if not self.asked["dry_run"]:
            connect(seen=seen, actor=self.user)
        added = seen.known is None and not self.asked["dry_run"]
        return Response(ConnectedSerializer(_connected(seen)).data, status=201 if added else 200)


@sensitive_variables()
def _way(sent: dict[str, Any]) -> Way:
    """The way that was sent, and what is wrong with it at its place, before the cluster is asked."""
    place = next((name for name in ("file", "kubeconfig") if name in sent), "address")
    try:
        way = Way.by_choice(sent["file"], sent.get("context", "")) if place == "file" else way_of(sent)
        way.chosen()
    except ClusterError as error:
        raise WrongCredentials([{"detail": told(error), "pointer": f"/{place}"}]) from None
    return way


def _connected(seen: Look) -> dict[str, Any]:
    return {
        "name": seen.name,
        "known": seen.known is not None,
        "revision": seen.revision.number if seen.revision else None,
        "proposal": None if seen.revision else _proposed(seen.proposal),
        "found": seen.found,
    }


def _proposed(proposal: TreeProposal) -> dict[str, Any]:
    notes = [said(note) for note in (*proposal.notes, *proposal.refused)]
    return {"origin": proposal.origin, "notes": notes, "tree": write_form(proposal.tree)}

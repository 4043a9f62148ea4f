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
from scheduler_admin.clusters.api.serializers import ClustersSerializer
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.connect import Look, connect, look
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.queues.api.tree_serializers import TreeSerializer
from scheduler_admin.queues.notes import said
from scheduler_admin.rest.base import ApiView, tagged
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.fields import AmountsField
from scheduler_admin.rest.openapi.parts import PROBLEM


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


class ClustersView(ApiView):
    """Clusters."""

    actions = {"GET": "view", "POST": "connect"}

    queries = {"POST": ConnectParameters}

    @extend_schema(operation_id="list_clusters", tags=["clusters"], responses={200: ClustersSerializer, **PROBLEM})
    def get(self, request: Request) -> Response:
        """All clusters that you may see, with what the last pass read of them."""
        clusters = Cluster.objects.restrict(request.user, "view").select_related("status", "hierarchy__current")
        context = {"scope": self.scope}
        body = ClustersSerializer({"results": clusters}, context=context).data
        return tagged(dict(body), but="age_seconds")

    @extend_schema(
        operation_id="connect_cluster",
        tags=["clusters"],
        parameters=[ConnectParameters],
        request=NewClusterSerializer,
        responses={
            200: OpenApiResponse(ConnectedSerializer, description="A dry run, or it was connected before."),
            201: ConnectedSerializer,
            **PROBLEM,
            **REFUSED,
        },
    )
    @sensitive_variables()
    def post(self, request: Request) -> Response:
        """Look at a cluster, then add it in mode observe with a tree that fits it. Nothing is written to it.

        It takes some seconds, twenty at most. For admins.
        """
        actor = self.actor("connect")
        sent = read_body(NewClusterSerializer(data=request.data), request.data)
        seen = look(way=_way(sent), name=sent.get("name", ""), actor=actor)
        if not self.asked["dry_run"]:
            connect(seen=seen, actor=actor)
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

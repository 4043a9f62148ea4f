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
from scheduler_admin.clusters.api.connections import ClusterCredentialsRequestSerializer, WrongCredentials, way_of
from scheduler_admin.clusters.api.serializers import ClusterSerializer, ClustersSerializer
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.connect import Look, connect, look
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.queues.api.tree_serializers import TreeSerializer
from scheduler_admin.queues.notes import said
from scheduler_admin.rest.base import tagged, weak_tag
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import AmountsField
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import Destroyed, Listed, Retrieved
from scheduler_admin.worker.cluster_removal import remove_cluster


class ConnectParameters(serializers.Serializer[Any]):
    """How far to go."""

    dry_run = serializers.BooleanField(
        default=False, help_text="True to read the cluster and show the result without adding it."
    )


class RemoveParameters(ReasonParameters):
    """Why a cluster is removed, and whether its history goes, too."""

    with_history = serializers.BooleanField(
        default=False, help_text="True to delete the recorded decisions, usage and ledger of the cluster, too."
    )


class NewClusterSerializer(ClusterCredentialsRequestSerializer):
    """A cluster to connect: a kubeconfig, a kubeconfig file, or an address with a token."""

    name = serializers.CharField(
        required=False,
        max_length=limits.CLUSTER_NAME,
        help_text="Name of the new cluster; default is the name of the context.",
    )
    kubeconfig_file = serializers.CharField(
        required=False,
        max_length=limits.ADDRESS,
        help_text="Kubeconfig file that this installation offers; it is read on every connection.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of the ways, whole."""
        if "kubeconfig_file" not in attrs:
            return super().validate(attrs)
        if {"kubeconfig", "address", "token", "ca"} & attrs.keys():
            raise serializers.ValidationError(
                _("Provide exactly one of these: a kubeconfig, a file, or an address with a token.")
            )
        return attrs


class PriorityClassSummarySerializer(serializers.Serializer[Any]):
    """A priority class."""

    name = serializers.CharField(help_text="Name of the priority class.")
    value = serializers.IntegerField(help_text="Priority value of the class.")


class SchedulerSerializer(serializers.Serializer[Any]):
    """A scheduler that runs in the cluster."""

    name = serializers.CharField(help_text="Name of the scheduler.")
    pods = serializers.IntegerField(help_text="Number of pods whose `schedulerName` selects it.", source="named_by")


class LeafQueueSerializer(serializers.Serializer[Leaf]):
    """A leaf queue of the tree with its pods."""

    path = serializers.CharField(help_text="Path of the leaf queue.")
    pods = serializers.IntegerField(help_text="Number of pods that belong to the queue.")
    namespaces = serializers.ListField(
        child=serializers.CharField(), help_text="Namespaces whose pods run in this queue if they name no queue."
    )


class ClusterSurveySerializer(serializers.Serializer[Any]):
    """What a cluster contains."""

    version = serializers.CharField(help_text="Kubernetes version.")
    nodes = serializers.IntegerField(help_text="Number of nodes.")
    capacity = AmountsField(help_text="Allocatable resources of all nodes together.")
    running_pods = serializers.IntegerField(source="running", help_text="Number of running pods.")
    pending_pods = serializers.IntegerField(source="pending", help_text="Number of pending pods.")
    priority_classes = PriorityClassSummarySerializer(
        many=True, help_text="Priority classes, highest value first.", source="classes"
    )
    disruption_budgets = serializers.IntegerField(source="budgets", help_text="Number of PodDisruptionBudgets.")
    resource_quotas = serializers.IntegerField(source="quotas", help_text="Number of ResourceQuotas.")
    schedulers = SchedulerSerializer(many=True, help_text="Schedulers that run in the cluster.")
    leaf_queues = LeafQueueSerializer(many=True, source="leaves", help_text="Leaf queues of the tree with their pods.")
    pods_without_queue = serializers.IntegerField(
        help_text="Number of pods that belong to no queue.", source="unplaced"
    )
    missing_permissions = serializers.ListField(
        child=serializers.CharField(), help_text="Missing permissions, as verb and resource.", source="unread"
    )
    unreadable_objects = serializers.ListField(
        child=serializers.CharField(), help_text="Objects that cannot be read, one sentence each.", source="odd"
    )


class ProposedTreeSerializer(serializers.Serializer[Any]):
    """A queue tree that fits the present state of the cluster."""

    origin = serializers.ChoiceField(
        ["yunikorn", "kueue", "volcano", "consumers", "labels", "namespaces"],
        help_text="Source of the queues of the proposed tree.",
    )
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="Notes from importing the tree of the scheduler."
    )
    tree = TreeSerializer(help_text="The proposed queue tree.")


class ConnectedClusterSerializer(serializers.Serializer[Any]):
    """What was read of a cluster; it is connected unless the request was a dry run."""

    name = serializers.CharField(help_text="Name of the cluster.")
    already_connected = serializers.BooleanField(
        help_text="True if the cluster was connected before and is left unchanged."
    )
    revision = serializers.IntegerField(
        allow_null=True, help_text="Number of the existing revision that the cluster uses or would use; null if none."
    )
    proposal = ProposedTreeSerializer(
        allow_null=True, help_text="Queue tree proposed for the cluster; null if a tree of its name exists."
    )
    survey = ClusterSurveySerializer(help_text="What was read from the cluster.")


class ClusterViewSet(Listed, Retrieved, Destroyed, Tagged):
    """All clusters that you can see, with what the last pass read of them."""

    actions = {"GET": "view", "POST": "connect", "DELETE": "connect"}
    queries = {"POST": ConnectParameters, "DELETE": RemoveParameters}
    deletes_unread = True
    etag_description = "Changes with everything but `age_seconds`."
    tag = "clusters"
    resource = "cluster", "clusters"
    operations = {"create": "connect_cluster", "destroy": "remove_cluster"}
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
        """The mode, active safeguards, last pass, capacity and errors of a cluster."""
        return super().retrieve(request, **place)

    def tag_of(self, found: Cluster) -> str:
        """Return the ETag of a cluster, which its age does not change."""
        return weak_tag(dict(self.get_serializer(found).data), but="age_seconds")

    @extend_schema(
        responses={
            200: OpenApiResponse(ConnectedClusterSerializer, description="A dry run, or it was connected before."),
            201: ConnectedClusterSerializer,
        }
    )
    @sensitive_variables()
    def create(self, request: Request) -> Response:
        """Read a cluster and add it in mode observe with a tree that fits it. Nothing is written to it. For admins.

        This takes some seconds, twenty at most.
        """
        sent = read_body(self.body_class(data=request.data), request.data)
        seen = look(way=_way(sent), name=sent.get("name", ""), actor=self.user)
        if not self.asked["dry_run"]:
            connect(seen=seen, actor=self.user)
        added = seen.known is None and not self.asked["dry_run"]
        body = ConnectedClusterSerializer(_connected(seen)).data
        if not added:
            return Response(body)
        made = self.cluster(seen.name)
        return Response(body, status=201, headers=self.answer_headers(made, 201))

    def remove(self, row: Cluster) -> None:
        """Remove a cluster from the site. Nothing is changed in the cluster, and its queue tree stays. For admins.

        Not in mode enforce, and not before the engine has removed what it wrote to the cluster.
        """
        reason, with_history = self.asked["reason"], self.asked["with_history"]
        remove_cluster(cluster=row, actor=self.user, reason=reason, with_history=with_history)


@sensitive_variables()
def _way(sent: dict[str, Any]) -> Way:
    """The way that was sent, and what is wrong with it at its place, before the cluster is asked."""
    place = next((name for name in ("kubeconfig_file", "kubeconfig") if name in sent), "address")
    try:
        way = (
            Way.by_choice(sent["kubeconfig_file"], sent.get("context", ""))
            if place == "kubeconfig_file"
            else way_of(sent)
        )
        way.chosen()
    except ClusterError as error:
        raise WrongCredentials([{"detail": told(error), "pointer": f"/{place}"}]) from None
    return way


def _connected(seen: Look) -> dict[str, Any]:
    return {
        "name": seen.name,
        "already_connected": seen.known is not None,
        "revision": seen.revision.number if seen.revision else None,
        "proposal": None if seen.revision else _proposed(seen.proposal),
        "survey": seen.found,
    }


def _proposed(proposal: TreeProposal) -> dict[str, Any]:
    notes = [said(note) for note in (*proposal.notes, *proposal.refused)]
    return {"origin": proposal.origin, "notes": notes, "tree": write_form(proposal.tree)}

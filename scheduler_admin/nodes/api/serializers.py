"""Nodes and pods as they are sent."""

from datetime import UTC, datetime
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.model.snapshot.node_listing import ListedNode, PodPhase
from scheduler_admin.core import limits
from scheduler_admin.nodes.selectors import STATES, ToldPod
from scheduler_admin.rest.fields import AmountsField, UtcField
from scheduler_admin.rest.pagination import LimitParameters, TextsField
from scheduler_admin.rest.parameters import NAMESPACE, QUEUE


@extend_schema_field(OpenApiTypes.DATETIME)
class MomentField(serializers.Field[int, Any, str, int]):
    """Milliseconds since 1970 as a time in UTC."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"read_only": True, **kwargs})

    def to_representation(self, value: int) -> str:
        """RFC 3339."""
        return UtcField().to_representation(datetime.fromtimestamp(value / 1000, UTC))


class NodesParameters(LimitParameters):
    """Which nodes."""

    q = serializers.CharField(
        required=False, max_length=limits.OBJECT_NAME, help_text="Text in the name of the node or in a taint."
    )
    state = serializers.ChoiceField(
        tuple(STATES), required=False, help_text="`gone` for nodes whose object is missing and that only pods refer to."
    )
    cursor = TextsField(required=False, help_text="Taken from `next` of the page before.")


class NodeSerializer(serializers.Serializer[ListedNode]):
    """A node with its resources and the number of its pods."""

    name = serializers.CharField(help_text="Name of the node.")
    present = serializers.BooleanField(
        help_text="False if the node object is missing and only pods refer to it.", source="there"
    )
    ready = serializers.BooleanField(help_text="True if the node is ready.")
    cordoned = serializers.BooleanField(source="unschedulable", help_text="True if the node accepts no new pods.")
    unreadable = serializers.BooleanField(
        help_text="True if the node cannot be read; the last known state is shown.", source="unread"
    )
    taints = serializers.ListField(
        child=serializers.CharField(), help_text="Taints of the node, as `key=value:Effect`."
    )
    allocatable = AmountsField(help_text="Allocatable resources of the node.")
    used = AmountsField(help_text="Requests of all pods on the node, terminating pods included.")
    pods = serializers.IntegerField(help_text="Number of pods on the node.")
    terminating_pods = serializers.IntegerField(
        help_text="Number of these pods that are terminating.", source="leaving"
    )
    unreadable_pods = serializers.IntegerField(
        source="unknown", help_text="Number of pods that cannot be read and are not counted in `used`."
    )


class NodesSerializer(serializers.Serializer[Any]):
    """A page of nodes, by name."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    read_at = UtcField(allow_null=True, help_text="Time when data was last received from the cluster; null if never.")
    next = serializers.CharField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = NodeSerializer(many=True, help_text="Nodes, by name.")


class PodStatusSerializer(serializers.Serializer[ToldPod]):
    """A pod that has not finished."""

    namespace = serializers.CharField(source="pod.namespace", help_text="Namespace of the pod.")
    name = serializers.CharField(source="pod.name", help_text="Name of the pod.")
    uid = serializers.CharField(source="pod.uid", help_text="UID of the pod.")
    application = serializers.CharField(source="pod.application", help_text="Application that the pod belongs to.")
    queue = serializers.CharField(
        source="pod.queue",
        allow_null=True,
        help_text="Path of the pod's leaf queue; null if the pod belongs to no queue.",
    )
    node = serializers.CharField(source="pod.node", allow_null=True, help_text="Node of the pod; null if it has none.")
    phase = serializers.ChoiceField(
        [one.value for one in PodPhase],
        source="pod.phase",
        help_text="Pending, gated (not yet ready for scheduling), starting on its node, or running.",
    )
    since = MomentField(
        source="pod.since_ms", help_text="Time since which the pod has been running or, if not running, pending."
    )
    priority = serializers.IntegerField(source="pod.priority", help_text="Priority of the pod.")
    priority_class = serializers.CharField(
        source="pod.priority_class", allow_blank=True, help_text="Priority class of the pod; empty if none."
    )
    requests = AmountsField(source="pod.requests", help_text="Resource requests of the pod.")
    terminating = serializers.BooleanField(source="pod.leaving", help_text="True if the pod is terminating.")
    deletion_requested_at = MomentField(
        source="pod.leaving_ms",
        allow_null=True,
        help_text="Time when deletion was requested; null if the pod is not terminating.",
    )
    disruption_reason = serializers.CharField(
        source="pod.disruption",
        allow_blank=True,
        help_text="Reason in the pod's DisruptionTarget condition; empty if none.",
    )
    evicting_decision_id = serializers.IntegerField(
        source="taken_by",
        allow_null=True,
        help_text="Number of the open decision that chose the pod as victim; null if none.",
    )
    unreadable = serializers.BooleanField(
        source="pod.unread", help_text="True if the current state of the pod cannot be read."
    )


class NodeDetailSerializer(serializers.Serializer[Any]):
    """A node with its pods."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    read_at = UtcField(allow_null=True, help_text="Time when data was last received from the cluster; null if never.")
    node = NodeSerializer(help_text="The node.")
    pods = PodStatusSerializer(many=True, help_text="Pods on the node, by namespace and name.")


class ApplicationPodsParameters(LimitParameters):
    """Whose pods."""

    namespace = serializers.RegexField(
        NAMESPACE, max_length=limits.NAMESPACE, help_text="Namespace of the application."
    )
    application = serializers.CharField(
        max_length=limits.APPLICATION,
        help_text="Name of the application as in other responses, or its owner, such as `Job/train`.",
    )
    queue = serializers.RegexField(
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="Only pods in this leaf queue."
    )
    cursor = TextsField(required=False, help_text="Taken from `next` of the page before.")


class ApplicationPodsSerializer(serializers.Serializer[Any]):
    """A page of pods of an application, by name."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    read_at = UtcField(allow_null=True, help_text="Time when data was last received from the cluster; null if never.")
    next = serializers.CharField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = PodStatusSerializer(many=True, help_text="Pods of the application, by name.")

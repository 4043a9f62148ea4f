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
        required=False, max_length=limits.OBJECT_NAME, help_text="Its name, or a taint, holds this."
    )
    state = serializers.ChoiceField(
        tuple(STATES), required=False, help_text="`gone`: only pods say that they are on it."
    )
    cursor = TextsField(required=False, help_text="Taken from `next` of the page before.")


class NodeSerializer(serializers.Serializer[ListedNode]):
    """A node with its sums."""

    name = serializers.CharField()
    there = serializers.BooleanField(help_text="False: only pods say that they are on it.")
    ready = serializers.BooleanField()
    cordoned = serializers.BooleanField(source="unschedulable")
    unread = serializers.BooleanField(help_text="It can't be read: this is how it was, if it ever could be.")
    taints = serializers.ListField(child=serializers.CharField(), help_text="As `key=value:Effect`.")
    allocatable = AmountsField()
    used = AmountsField(help_text="What its pods request, those on their way out included.")
    pods = serializers.IntegerField()
    leaving = serializers.IntegerField(help_text="Those of its pods that are on their way out.")
    unknown_pods = serializers.IntegerField(
        source="unknown", help_text="Those of its pods that can't be read: what they hold is not in `used`."
    )


class NodePageSerializer(serializers.Serializer[Any]):
    """Nodes by name."""

    cluster = serializers.CharField()
    read_at = UtcField(allow_null=True, help_text="When the cluster was last heard of; null: not yet.")
    next = serializers.CharField(allow_null=True, help_text="The next page; null on the last.")
    results = NodeSerializer(many=True)


class ListedPodSerializer(serializers.Serializer[ToldPod]):
    """A pod that is not finished."""

    namespace = serializers.CharField(source="pod.namespace")
    name = serializers.CharField(source="pod.name")
    uid = serializers.CharField(source="pod.uid")
    application = serializers.CharField(source="pod.application")
    queue = serializers.CharField(source="pod.queue", allow_null=True, help_text="Its leaf; null: it is in none.")
    node = serializers.CharField(source="pod.node", allow_null=True, help_text="Null: it is on none.")
    phase = serializers.ChoiceField(
        [one.value for one in PodPhase],
        source="pod.phase",
        help_text="`waiting`: for a node. `gated`: nobody may look for one yet. `starting`: its node has not begun it.",
    )
    since = MomentField(source="pod.since_ms", help_text="Since when it runs; else since when it waits.")
    priority = serializers.IntegerField(source="pod.priority")
    priority_class = serializers.CharField(source="pod.priority_class", allow_blank=True)
    requests = AmountsField(source="pod.requests")
    leaving = serializers.BooleanField(source="pod.leaving", help_text="It is on its way out.")
    leaving_since = MomentField(source="pod.leaving_ms", allow_null=True)
    disruption = serializers.CharField(
        source="pod.disruption", allow_blank=True, help_text="Why it goes, as its condition says."
    )
    evicted_by = serializers.IntegerField(
        source="taken_by", allow_null=True, help_text="The open decision that has chosen it as a victim."
    )
    unread = serializers.BooleanField(source="pod.unread", help_text="It can't be read as it is now.")


class NodeWithPodsSerializer(serializers.Serializer[Any]):
    """A node with its pods."""

    cluster = serializers.CharField()
    read_at = UtcField(allow_null=True, help_text="When the cluster was last heard of; null: not yet.")
    node = NodeSerializer()
    pods = ListedPodSerializer(many=True, help_text="Its pods, by namespace and name.")


class ListedPodsParameters(LimitParameters):
    """Whose pods."""

    namespace = serializers.RegexField(NAMESPACE, max_length=limits.NAMESPACE)
    application = serializers.CharField(
        max_length=limits.APPLICATION, help_text="As asks and queues name it; `Job/train` too."
    )
    queue = serializers.RegexField(
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="Only those in this leaf."
    )
    cursor = TextsField(required=False, help_text="Taken from `next` of the page before.")


class ListedPodsSerializer(serializers.Serializer[Any]):
    """Pods by name."""

    cluster = serializers.CharField()
    read_at = UtcField(allow_null=True, help_text="When the cluster was last heard of; null: not yet.")
    next = serializers.CharField(allow_null=True, help_text="The next page; null on the last.")
    results = ListedPodSerializer(many=True)

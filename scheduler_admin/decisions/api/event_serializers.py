"""The events of a cluster as they are sent: the ``data`` of each, a JSON object."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from scheduler_admin.decisions.api.serializers import DecisionSerializer
from scheduler_admin.decisions.models import Happening
from scheduler_admin.rest.fields import AmountsField, UtcField

MISSED = "missed"
"""The event that stands for events that are no longer stored."""


class EventSerializer(serializers.Serializer[Any]):
    """What all events have in common."""

    id = serializers.IntegerField(help_text="Number of the event within its cluster.")
    event = serializers.CharField(help_text="Kind of the event.")
    occurred_at = UtcField(help_text="Time of the event.")
    sentence = serializers.CharField(help_text="The event in one sentence, in the language of the request.")
    url = serializers.URLField(help_text="URL of the page with details.")


class DecisionEventSerializer(EventSerializer):
    """A decision was made, or has ended."""

    sentence = serializers.CharField(
        allow_null=True, help_text="The decision in one sentence; null if it is no longer stored or visible to you."
    )
    url = serializers.URLField(
        allow_null=True, help_text="URL of the page of the decision; null if it is no longer stored or visible to you."
    )
    decision = DecisionSerializer(
        allow_null=True, help_text="The decision as it is now; null if it is no longer stored or visible to you."
    )


class _PodEventSerializer(EventSerializer):
    """An event about a pod."""

    decision_id = serializers.IntegerField(help_text="Number of the decision.")
    namespace = serializers.CharField(help_text="Namespace of the pod.")
    queue = serializers.CharField(help_text="Path of the pod's queue.")


class EvictionRefusedEventSerializer(_PodEventSerializer):
    """The API server or a webhook rejected an eviction."""

    pod = serializers.CharField(help_text="Name of the pod that was not evicted.")
    message = serializers.CharField(allow_null=True, help_text="Message of the API server; null for tenants.")


class PreemptedRepeatedlyEventSerializer(_PodEventSerializer):
    """An application was preempted several times within a day."""

    application = serializers.CharField(help_text="Application that was preempted.")
    preemptions_24h = serializers.IntegerField(help_text="Preemptions of the application in 24 hours.")


class EventLoopMemberSerializer(serializers.Serializer[Any]):
    """A member of a preemption loop; what you cannot see is null."""

    queue = serializers.CharField(allow_null=True, help_text="Path of the member's queue.")
    namespace = serializers.CharField(allow_null=True, help_text="Namespace of the member.")
    application = serializers.CharField(allow_null=True, help_text="Application of the member.")
    preemptions = serializers.IntegerField(
        allow_null=True, help_text="Preemptions of the member for the next one, in 24 hours."
    )
    last_decision_id = serializers.IntegerField(allow_null=True, help_text="Number of the last of these decisions.")


class PreemptionLoopEventSerializer(EventSerializer):
    """Applications preempt each other in a loop."""

    cycle = serializers.CharField(help_text="Queues of the loop, in order; `…` for those that you cannot see.")
    members = EventLoopMemberSerializer(many=True, help_text="Members of the loop, each before its preemptor.")


class BelowGuaranteeEventSerializer(EventSerializer):
    """A queue with pending pods is below its guarantee."""

    minutes = serializers.IntegerField(help_text="Minutes for which the queue has been below its guarantee.")
    queue = serializers.CharField(help_text="Path of the queue.")
    since = UtcField(help_text="Time since which the queue has been below its guarantee.")
    pending_pods = serializers.IntegerField(help_text="Number of pending pods of the queue.")
    used = AmountsField(help_text="Usage of the queue, of the resources that it lacks.")
    guaranteed = AmountsField(help_text="Guarantee of the queue, of the resources that it lacks.")


class MissedEventSerializer(serializers.Serializer[Any]):
    """Events that you have not received are no longer stored."""

    id = serializers.IntegerField(help_text="Number of the last event that is no longer stored.")
    event = serializers.CharField(help_text="Kind of the event.")
    sentence = serializers.CharField(help_text="The event in one sentence, in the language of the request.")
    url = serializers.URLField(help_text="URL of the page with the decisions of the cluster.")
    until = serializers.IntegerField(help_text="The same number as `id`.")


_KINDS = Happening.Kind
EVENT = PolymorphicProxySerializer(
    component_name="Event",
    serializers={
        _KINDS.DECISION.value: DecisionEventSerializer,
        _KINDS.ENDED.value: DecisionEventSerializer,
        _KINDS.REFUSED.value: EvictionRefusedEventSerializer,
        _KINDS.REPEATED.value: PreemptedRepeatedlyEventSerializer,
        _KINDS.LOOP.value: PreemptionLoopEventSerializer,
        _KINDS.BELOW.value: BelowGuaranteeEventSerializer,
        MISSED: MissedEventSerializer,
    },
    resource_type_field_name="event",
    many=False,
)


@extend_schema_field(EVENT)
class _EventField(serializers.JSONField):
    """An event of any kind."""


class CloudEventSerializer(serializers.Serializer[Any]):
    """An event of a cluster as a CloudEvent."""

    specversion = serializers.CharField(help_text="Version of CloudEvents: `1.0`.")
    id = serializers.CharField(help_text="Number of the event within its cluster.")
    source = serializers.URLField(help_text="URL of the cluster.")  # type: ignore[assignment]  # DRF takes declared fields off
    type = serializers.CharField(help_text="`io.scheduler-admin.` and the kind of the event.")
    time = UtcField(required=False, help_text="Time of the event; missing for `missed`.")
    datacontenttype = serializers.CharField(help_text="Media type of the data: `application/json`.")
    data = _EventField(help_text="The event, as in the stream.")  # type: ignore[assignment]  # likewise

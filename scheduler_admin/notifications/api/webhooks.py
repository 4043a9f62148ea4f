"""What a webhook receives, in the OpenAPI document: a message of a notification channel."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, PolymorphicProxySerializer, extend_schema
from rest_framework import serializers

from scheduler_admin.decisions.api.event_serializers import EventLoopMemberSerializer
from scheduler_admin.notifications.delivery.messages import EVENT, ID, SIGNATURE, TIMESTAMP
from scheduler_admin.notifications.models import Notification
from scheduler_admin.rest.fields import AmountsField


class MessageSerializer(serializers.Serializer[Any]):
    """What all messages to a webhook have in common; a test message has nothing else."""

    id = serializers.UUIDField(help_text="UUID of the message, the same at every attempt.")
    event = serializers.CharField(help_text="Kind of the message.")
    tenant = serializers.CharField(help_text="Name of the tenant that the channel belongs to.")
    created_at = serializers.DateTimeField(help_text="Time when the message was created.")
    text = serializers.CharField(help_text="The message in sentences, in the language of the channel.")
    url = serializers.URLField(help_text="URL of the page with details.")


class _PodMessageSerializer(MessageSerializer):
    """A message about pods of an application."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    namespace = serializers.CharField(help_text="Namespace of the pods.")
    queue = serializers.CharField(help_text="Path of the pods' queue.")
    decision_id = serializers.IntegerField(help_text="Number of the decision.")


class PreemptorReferenceSerializer(serializers.Serializer[Any]):
    """The pending pod that the victims make room for; what the site does not show the tenant is left out."""

    queue = serializers.CharField(required=False, help_text="Path of the pod's queue.")
    uid = serializers.CharField(required=False, help_text="UID of the pod.")
    namespace = serializers.CharField(required=False, help_text="Namespace of the pod.")
    name = serializers.CharField(required=False, help_text="Name of the pod.")


class PreemptionMessageSerializer(_PodMessageSerializer):
    """Pods of an application are about to be preempted, or were preempted."""

    application = serializers.CharField(allow_blank=True, help_text="Application of the pods; empty if none.")
    pods = serializers.ListField(child=serializers.CharField(), help_text="Names of the first pods.")
    pod_count = serializers.IntegerField(help_text="Number of pods.")
    exit_deadline = serializers.DateTimeField(
        allow_null=True, help_text="Time by which the pods exit; null if unknown or if they have exited."
    )
    source = serializers.CharField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="Scheduler or component that made the decision."
    )
    preemptor = PreemptorReferenceSerializer(help_text="The pending pod that the victims make room for.")


class EvictionRefusedMessageSerializer(_PodMessageSerializer):
    """The cluster rejected an eviction."""

    pod = serializers.CharField(help_text="Name of the pod that stays, or that gets no room.")


class PreemptedRepeatedlyMessageSerializer(_PodMessageSerializer):
    """An application is preempted repeatedly."""

    application = serializers.CharField(help_text="Name of the application.")
    preemptions_24h = serializers.IntegerField(help_text="Preemptions of the application in 24 hours.")


class MessageLoopSerializer(serializers.Serializer[Any]):
    """A preemption loop."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    cycle = serializers.CharField(help_text="Queues of the loop, in order; `…` for those that the tenant cannot see.")
    members = EventLoopMemberSerializer(many=True, help_text="Members of the loop, each before its preemptor.")


class PreemptionLoopMessageSerializer(MessageLoopSerializer, MessageSerializer):
    """Applications preempt each other in a loop."""


class BelowGuaranteeMessageSerializer(MessageSerializer):
    """A queue with pending pods is below its guarantee."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    queue = serializers.CharField(help_text="Path of the queue.")
    since = serializers.DateTimeField(help_text="Time since which the queue has been below its guarantee.")
    pending_pods = serializers.IntegerField(help_text="Number of pending pods of the queue.")
    used = AmountsField(help_text="Usage of the queue, of the resources that it lacks.")
    guaranteed = AmountsField(help_text="Guarantee of the queue, of the resources that it lacks.")


class PreemptedApplicationSerializer(serializers.Serializer[Any]):
    """An application that was preempted during the day."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    namespace = serializers.CharField(help_text="Namespace of the application.")
    application = serializers.CharField(help_text="Name of the application, or of the pod if it has none.")
    pods = serializers.IntegerField(help_text="Number of preempted pods.")


class DigestWaitSerializer(serializers.Serializer[Any]):
    """How long pods of a queue were pending during the day."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    queue = serializers.CharField(help_text="Path of the queue.")
    placed_pods = serializers.IntegerField(help_text="Number of pods that got a node.")
    median_seconds = serializers.FloatField(help_text="Median time until a pod got a node.")
    p90_seconds = serializers.FloatField(help_text="Time within which 90 % of the pods got a node.")


class DailyDigestMessageSerializer(MessageSerializer):
    """What happened on the previous day."""

    day = serializers.DateField(help_text="The day, in UTC.")
    preempted = PreemptedApplicationSerializer(many=True, help_text="Applications with the most preempted pods.")
    preempted_pods = serializers.IntegerField(help_text="Number of all preempted pods.")
    loops = MessageLoopSerializer(many=True, help_text="Preemption loops.")
    waits = DigestWaitSerializer(many=True, help_text="Pending times by queue.")
    pending_pods = serializers.IntegerField(help_text="Number of pods that are still pending.")


class SummaryMessageSerializer(MessageSerializer):
    """Messages that exceed the limit of ten in a minute, combined."""

    notifications = serializers.ListField(
        child=serializers.CharField(), help_text="First sentences of the combined messages."
    )
    events = serializers.DictField(
        child=serializers.IntegerField(), help_text="Kind of message to number of combined messages."
    )


_KINDS = Notification.Event
MESSAGE = PolymorphicProxySerializer(
    component_name="WebhookMessage",
    serializers={
        _KINDS.GOING.value: PreemptionMessageSerializer,
        _KINDS.PREEMPTED.value: PreemptionMessageSerializer,
        _KINDS.REFUSED.value: EvictionRefusedMessageSerializer,
        _KINDS.REPEATED.value: PreemptedRepeatedlyMessageSerializer,
        _KINDS.LOOP.value: PreemptionLoopMessageSerializer,
        _KINDS.BELOW.value: BelowGuaranteeMessageSerializer,
        _KINDS.DIGEST.value: DailyDigestMessageSerializer,
        _KINDS.SUMMARY.value: SummaryMessageSerializer,
        _KINDS.TEST.value: MessageSerializer,
    },
    resource_type_field_name="event",
    many=False,
)


NOTIFICATION = OpenApiWebhook(
    "notification",
    extend_schema(
        operation_id="receive_notification",
        summary="Receive a notification",
        description="A message of a notification channel of the kind `webhook`. The receiver must respond with 2xx "
        "within 8 seconds. Redirects are not followed.",
        tags=["webhooks"],
        request=MESSAGE,
        responses={"2XX": OpenApiResponse(description="The message was received.")},
    ),
)
"""A message that is sent to a webhook."""
_HEADERS = {
    ID: "UUID of the message, the same at every attempt.",
    EVENT: "Kind of the message.",
    TIMESTAMP: "Time when the message was sent, in seconds since 1970.",
    SIGNATURE: "`v1=` and, in hexadecimal, the HMAC-SHA256 of the timestamp, a period and the body, with the signing "
    "secret of the channel as the key.",
}


def describe_webhook(result: dict[str, Any], **_generator: Any) -> dict[str, Any]:
    """Return the document with what drf-spectacular leaves out of a webhook: its headers, and that nobody signs in."""
    operation = result["webhooks"][NOTIFICATION.name]["post"]
    operation["security"] = []
    operation["requestBody"]["required"] = True
    operation["parameters"] = [
        {"in": "header", "name": name, "required": True, "schema": {"type": "string"}, "description": text}
        for name, text in _HEADERS.items()
    ]
    return result
